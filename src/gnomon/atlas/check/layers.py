"""Checks the layers of a user's network: signal sizes, weight symmetries, and the Lipschitz bound.

>>> callable(check_permutation_symmetry)
True
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from gnomon.atlas.check.trial import TrainingTrial
from gnomon.checks import signal_propagation
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.modules.preserve import set_mode
from gnomon.core.results import Value
from gnomon.lab import Judgment, Verdict
from gnomon.robustness import operator_norm
from gnomon.training.evaluate import Objective

__all__ = ["check_lipschitz_bound", "check_permutation_symmetry", "check_scale_invariance", "check_signal_propagation"]

MAX_LAYER_FACTOR = 2.0
"""Change of the mean square per layer above which ten layers change it by a factor of a thousand."""
NORMALIZED = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm2d)
ACTIVATIONS_BETWEEN_LAYERS = (
    nn.ReLU,
    nn.LeakyReLU,
    nn.ELU,
    nn.GELU,
    nn.SiLU,
    nn.Tanh,
    nn.Sigmoid,
    nn.Softplus,
    nn.Identity,
    nn.Dropout,
)
"""Modules that treat every unit in the same way."""
CONTRACTING = (nn.ReLU, nn.LeakyReLU, nn.Tanh, nn.Sigmoid, nn.Identity, nn.Flatten, nn.MaxPool2d, nn.AvgPool2d,
               nn.AdaptiveAvgPool2d, nn.Dropout, nn.ELU, nn.Softplus)  # fmt: skip
"""Modules that bring no two inputs further apart (in eval mode; pooling without overlap, slopes of at most 1)."""


def check_signal_propagation(trial: TrainingTrial) -> Judgment:
    """Checks that mean squares of activations and gradients change by less than a factor 2 per layer.

    Reference: [he2015delving].
    Cost: one forward and one backward pass.

    >>> from gnomon.atlas.check.trial import train_trial
    >>> net = nn.Sequential(*(nn.Linear(2, 2, bias=False) for _ in range(4)))
    >>> _ = [nn.init.eye_(weight) for weight in net.parameters()]
    >>> check_signal_propagation(train_trial(net, (torch.eye(2), torch.ones(2, 2)), steps=1)).verdict.name
    'HOLDS'
    """
    few = trial.few
    found = signal_propagation(trial.before, (few.x, trial.task.loss_targets(few.y)), loss=trial.task.loss)
    # The output layer is left out, because the task fixes its width.
    weighted = [layer for layer in found.layers if layer.weighted][:-1]
    rates = [_factor([getattr(layer, kind) for layer in weighted]) for kind in ("activation", "gradient")]
    reason = (
        f"From one layer to the next, activations change by the factor {rates[0]:.3g} and gradients by {rates[1]:.3g}."
    )
    values = (Value("activations per layer", rates[0]), Value("gradients per layer", rates[1]))
    if len(weighted) < 2:
        return Judgment(
            Verdict.INCONCLUSIVE,
            f"{reason} This is too little for a verdict: fewer than three layers have weights.",
            values,
        )
    keeps = all(1 / MAX_LAYER_FACTOR < rate < MAX_LAYER_FACTOR for rate in rates)
    return Judgment(Verdict.HOLDS if keeps else Verdict.REFUTED, reason, values)


def check_scale_invariance(trial: TrainingTrial) -> Judgment:
    """Checks that rescaling the weights before a normalization layer does not change the loss.

    Reference: [santurkar2018how].
    Cost: a forward and a backward pass.

    >>> from gnomon.atlas.check.trial import train_trial
    >>> net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    >>> x = 10 * torch.randn(20, 2, generator=torch.Generator().manual_seed(0))
    >>> check_scale_invariance(train_trial(net, (x, x[:, 0]), steps=1)).verdict.name
    'HOLDS'
    """
    model = copy_module(trial.before)
    names = [name for name, layer, after in _neighbors(model) if isinstance(after, NORMALIZED)]
    if not names:
        return Judgment(Verdict.INCONCLUSIVE, "No layer with weights is followed directly by a normalization.")
    few = trial.few
    with set_mode(model, "train"):
        objective = Objective.of((few.x, trial.task.loss_targets(few.y)), model, trial.task.loss)
        loss = objective.value(model, *next(iter(objective.batches())))  # at most 64 examples: a single batch
        modules = dict(model.named_modules())
        weights = [modules[name].weight for name in names]
        gradients = torch.autograd.grad(loss, weights, allow_unused=True)
    cosines = [
        abs(float((w.detach() * g).sum() / (w.detach().norm() * g.norm()).clamp_min(1e-30)))
        for w, g in zip(weights, gradients, strict=True) if g is not None
    ]  # fmt: skip
    worst = max(cosines)
    # The tolerance covers float32 rounding of sums over parameters, and the epsilon inside the normalization layer.
    allowed = 1e-3
    reason = f"In {len(cosines)} layers the cosine between the weights and their gradient is at most {worst:.2g}."
    return Judgment(Verdict.HOLDS if worst < allowed else Verdict.REFUTED, reason, (Value("largest cosine", worst),))


def check_permutation_symmetry(trial: TrainingTrial) -> Judgment:
    """Checks that exchanging two hidden units, with their weights on both sides, leaves the outputs unchanged.

    Reference: [hecht1990algebraic].
    Cost: two forward passes for each pair of neighboring layers.

    >>> from gnomon.atlas.check.trial import train_trial
    >>> net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    >>> check_permutation_symmetry(train_trial(net, (torch.eye(2), torch.ones(2)), steps=1)).verdict.name
    'HOLDS'
    """
    x = trial.few.x
    base, worst, pairs = outputs_in_eval_mode(trial.before, x).double(), 0.0, 0
    for first, second in _stacked_layers(trial.before):
        model = copy_module(trial.before)
        modules = dict(model.named_modules())
        one, two = modules[first], modules[second]
        order = torch.arange(one.weight.shape[0]).flip(0).to(one.weight.device)
        with torch.no_grad():
            one.weight.copy_(one.weight[order])
            if one.bias is not None:
                one.bias.copy_(one.bias[order])
            two.weight.copy_(two.weight[:, order])
        change = (outputs_in_eval_mode(model, x).double() - base).norm() / base.norm().clamp_min(1e-300)
        worst, pairs = max(worst, float(change)), pairs + 1
    if not pairs:
        words = (
            "This check needs a Sequential with two consecutive layers with weights and only activations between them."
        )
        return Judgment(Verdict.INCONCLUSIVE, words)
    reason = (
        f"Reversing the order of the hidden units in {pairs} layers changes the outputs by {worst:.2g} of their size."
    )
    rounding = 1e-4  # relative tolerance for float32 sums in another order, accumulated over layers
    verdict = Verdict.HOLDS if worst < rounding else Verdict.REFUTED
    return Judgment(verdict, reason, (Value("largest change", worst), Value("pairs of layers", pairs)))


def check_lipschitz_bound(trial: TrainingTrial) -> Judgment:
    """Checks that outputs of two examples differ by at most the product of the layers' spectral norms times the inputs'
    distance.

    Reference: [szegedy2014intriguing].
    Cost: the same as `gnomon.robustness.operator_norm` for each layer.

    >>> from gnomon.atlas.check.trial import train_trial
    >>> net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    >>> check_lipschitz_bound(train_trial(net, (torch.eye(2), torch.ones(2)), steps=1)).verdict.name
    'HOLDS'
    """
    model, x = trial.after, trial.few.x
    if not isinstance(x, Tensor) or not _is_chain(model):
        words = (
            "This bound applies only to a Sequential of linear layers, convolutions, pooling and 1-Lipschitz "
            "activations."
        )
        return Judgment(Verdict.INCONCLUSIVE, words)
    if len(x) < 2:
        return Judgment(
            Verdict.INCONCLUSIVE, "Distances between examples need at least two examples. Pass more examples."
        )
    bound, state = 1.0, x
    with torch.no_grad(), set_mode(model, "eval"):
        for layer in model.children():
            if isinstance(layer, nn.Linear | nn.Conv1d | nn.Conv2d):
                bound *= operator_norm(layer, state.shape[1:])
            state = layer(state)
    f, flat = outputs_in_eval_mode(model, x).double(), x.flatten(1).double()
    gaps, distances = torch.pdist(f), torch.pdist(flat)
    ratio = float((gaps / distances.clamp_min(1e-12)).max())
    reason = (
        f"Outputs of two examples differ by at most {ratio:.4g} times the distance of their inputs; the product "
        f"of spectral norms allows {bound:.4g}."
    )
    values = (Value("largest ratio", ratio), Value("product of norms", bound, obtained="upper bound"))
    rounding = 1e-3  # relative tolerance for float32 rounding of the outputs of two nearly equal inputs
    return Judgment(Verdict.HOLDS if ratio <= bound * (1 + rounding) else Verdict.REFUTED, reason, values)


def _factor(sizes: list[float | None]) -> float:
    """Returns the mean factor from one number in a list to the next; infinite if the first or last number is zero."""
    known = [size for size in sizes if size is not None]
    if len(known) < 2:
        return 1.0
    return (known[-1] / known[0]) ** (1 / (len(known) - 1)) if known[0] > 0 < known[-1] else float("inf")


def _neighbors(model: nn.Module) -> Iterator[tuple[str, nn.Module, nn.Module]]:
    """Yields each layer with weights in a Sequential together with the module after it."""
    for prefix, parent in model.named_modules():
        if isinstance(parent, nn.Sequential):
            for (name, layer), after in zip(parent.named_children(), list(parent.children())[1:], strict=False):
                if isinstance(layer, nn.Linear | nn.Conv1d | nn.Conv2d):
                    yield f"{prefix}.{name}".lstrip("."), layer, after


def _stacked_layers(model: nn.Module) -> Iterator[tuple[str, str]]:
    """Yields pairs of consecutive layers of one kind that have only elementwise functions between them."""
    kinds = nn.Linear | nn.Conv1d | nn.Conv2d
    for prefix, parent in model.named_modules():
        if isinstance(parent, nn.Sequential):
            last: tuple[str, nn.Module] | None = None
            for name, layer in parent.named_children():
                full = f"{prefix}.{name}".lstrip(".")
                if isinstance(layer, kinds):
                    if last is not None and type(layer) is type(last[1]) and getattr(layer, "groups", 1) == 1:
                        yield last[0], full
                    last = (full, layer) if getattr(layer, "groups", 1) == 1 else None
                elif not isinstance(layer, (*ACTIVATIONS_BETWEEN_LAYERS, nn.MaxPool2d, nn.AvgPool2d)):
                    last = None


def _is_chain(model: nn.Module) -> bool:
    parts = (*CONTRACTING, nn.Linear, nn.Conv1d, nn.Conv2d)
    return isinstance(model, nn.Sequential) and all(isinstance(m, parts) and not _steep(m) for m in model)


def _steep(layer: nn.Module) -> bool:
    """Checks whether a pooling layer or activation has a Lipschitz constant above 1: steep slope or overlapping
    windows.
    """
    if isinstance(layer, nn.MaxPool2d | nn.AvgPool2d):
        return layer.stride != layer.kernel_size
    slope = layer.alpha if isinstance(layer, nn.ELU) else getattr(layer, "negative_slope", 0.0)
    return abs(slope) > 1
