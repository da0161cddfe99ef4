"""Finds parameters that training never changes: unused, detached, frozen at random values, or not in the optimizer.

A parameter whose gradient does not exist after a forward and backward pass in training mode is not reached by the
loss. If changing it changes the outputs all the same, something between it and the output cuts the graph
(``detach``, ``.data``, numpy, ``no_grad``); if not, ``forward`` does not use it. A frozen layer is a fault only
while its weights still have their initial values, uniform on [-b, b] with b = fan_in^(-1/2) as torch draws them:

    max |w| / b in [1 - 20 / n, 1],    Kolmogorov's distance to the uniform law < 1.95 / sqrt(n)                (1)

for n weights. Trained weights leave the interval. (1) holds for fresh weights in 99.9 % of cases. A layer right before
a batch norm that has seen no batch and has the weights it was made with is fresh as well, however it was drawn.

Hypotheses: the default initialization of Linear, Conv and recurrent layers, or of Embedding, which is normal; or the
uniform ones of Xavier and Kaiming, where b^2 is 6 / (fan_in + fan_out) and 6 / fan_in.
Reference: [massey1951kolmogorov].

>>> import torch
>>> net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 2))
>>> _ = net[0].requires_grad_(False)
>>> found = untrained_parameter_findings(net, {"2.weight", "2.bias"})
>>> found[0].kind, found[0].where
('frozen-at-random', '0')
"""

import warnings
from collections.abc import Callable, Collection, Mapping
from inspect import isfunction
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import LINEAR_OR_CONVOLUTION
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.preserve import preserve, random_state
from gnomon.core.modules.run import call_with_inputs, run_module
from gnomon.core.results import Finding, Value
from gnomon.findings import most_serious_first
from gnomon.findings import network as kinds
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.torch_optimizers import TorchOptimizer

__all__ = [
    "loss_gradients",
    "parts_without_gradient",
    "parameters_in_optimizer",
    "parts_that_change_outputs",
    "untrained_parameter_findings",
]

MIN_WEIGHTS_FOR_DISTRIBUTION = 100
"""Minimum number of weights for recognizing their distribution."""
KINDS = (*LINEAR_OR_CONVOLUTION, nn.Embedding, nn.RNNBase)
"""Layers whose initial distribution of weights is known."""
MIN_UNUSED_SHARE = 0.01
"""Share of the trainable parameters below which unused ones are a warning: a detail that costs nothing."""
MAX_PARTS = 8
"""Parts without a gradient whose effect on the outputs is measured one by one; all others are changed at once."""


def untrained_parameter_findings(
    module: nn.Module,
    reached: Collection[str],
    *,
    affecting_outputs: Collection[str] = (),
    affecting_loss: Collection[str] | None = None,
    in_optimizer: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """Reports parameters that training does not change, most serious first.

    Args:
        module: the network.
        reached: names of parameters that have a gradient of the loss, in training mode.
        affecting_outputs: names of parts without gradients whose parameters affect the outputs.
        affecting_loss: names of the parts among these that also affect the loss; None stands for all of them.
        in_optimizer: names of parameters that the optimizer has; None if it is not known.

    Hypotheses: as above. False alarms: 1e-3 for a frozen layer whose weights were trained, none otherwise.
    Reference: [massey1951kolmogorov].
    Cost: a sort of the frozen weights.

    >>> net = nn.ModuleDict({"used": nn.Linear(2, 2), "forgotten": nn.Linear(2, 2)})
    >>> untrained_parameter_findings(net, {"used.weight", "used.bias"})[0].message
    "These layers have no effect on the outputs: 'forgotten'. Their 6 parameters are not trained."
    """
    own = {name: p for name, p in module.named_parameters() if p.requires_grad}
    parts = parts_without_gradient(module, reached)
    matter = affecting_outputs if affecting_loss is None else affecting_loss
    cut = [name for name in parts if name in affecting_outputs and name in matter]
    aside = [name for name in parts if name in affecting_outputs and name not in matter]
    unused = [name for name in parts if name not in affecting_outputs]
    found = [*_find_detached(cut, parts, own), *_find_unused(module, unused, parts, own), *_find_frozen(module)]
    found += _find_without_loss(aside, parts, own)
    if in_optimizer is not None:
        found += _not_held([name for name in own if name not in in_optimizer and name in reached], own)
    return most_serious_first(found)


def parts_without_gradient(module: nn.Module, reached: Collection[str]) -> dict[str, list[str]]:
    """Returns the submodules in which no trainable parameter gets a gradient, with the names of these parameters.

    A part is a layer of torch, or a single parameter that a module of the user's own holds.

    >>> parts_without_gradient(nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)), {"0.weight"})
    {'1': ['1.weight', '1.bias']}
    """
    parts: dict[str, list[str]] = {}
    for name, p in module.named_parameters():
        if p.requires_grad:
            owner = name.rpartition(".")[0]
            whole = type(module.get_submodule(owner)).__module__.startswith("torch.nn.")
            parts.setdefault(owner if whole else name, []).append(name)
    return {part: names for part, names in parts.items() if not any(name in reached for name in names)}


def _sizes(names: Collection[str], own: Mapping[str, Tensor]) -> int:
    return sum(own[name].numel() for name in names)


def _find_detached(cut: list[str], parts: Mapping[str, list[str]], own: Mapping[str, Tensor]) -> list[Finding]:
    if not cut:
        return []
    size, all_of = _sizes([n for name in cut for n in parts[name]], own), _sizes(own, own)
    name = sorted(cut)[-1]
    listed = ", ".join(f"'{n}'" for n in sorted(cut)[:4])
    values = {"names": listed, "size": size, "total": all_of, "last": name}
    evidence = (Value("parameters without a gradient", size),)
    return [Finding(kinds.DETACHED, sorted(cut)[0], values, evidence, 0.0)]


def _find_without_loss(aside: list[str], parts: Mapping[str, list[str]], own: Mapping[str, Tensor]) -> list[Finding]:
    if not aside:
        return []
    size = _sizes([n for name in aside for n in parts[name]], own)
    listed = ", ".join(f"'{n}'" for n in sorted(aside)[:4])
    return [Finding(kinds.OUTPUTS_WITHOUT_LOSS, sorted(aside)[0], {"names": listed, "size": size}, (), 0.0)]


def _find_unused(
    module: nn.Module, unused: list[str], parts: Mapping[str, list[str]], own: Mapping[str, Tensor]
) -> list[Finding]:
    if not unused:
        return []
    size = _sizes([n for name in unused for n in parts[name]], own)
    listed = ", ".join(f"'{n}'" for n in sorted(unused)[:4])
    # A small parameter may be used only in some batches, such as the embedding of a missing condition in a diffusion
    # model.
    few = size < MIN_UNUSED_SHARE * _sizes(own, own)
    sometimes = few or all(_is_read(module, name) for name in unused)
    row = kinds.SOMETIMES_UNUSED if sometimes else kinds.UNUSED_PARAMETERS
    return [Finding(row, sorted(unused)[0], {"names": listed, "size": size}, (), 0.0)]


def _is_read(module: nn.Module, name: str) -> bool:
    """Checks whether any method except ``__init__`` uses a parameter of the module."""
    owner, _, attribute = name.rpartition(".")
    if name not in dict(module.named_parameters()):
        return False
    kinds = type(module.get_submodule(owner)).__mro__
    methods = [f for kind in kinds for key, f in vars(kind).items() if isfunction(f) and key != "__init__"]
    return any(attribute in f.__code__.co_names for f in methods)


def _not_held(names: list[str], own: Mapping[str, Tensor]) -> list[Finding]:
    if not names:
        return []
    listed = ", ".join(f"'{n}'" for n in names[:3])
    return [Finding(kinds.NOT_IN_OPTIMIZER, "optimizer", {"names": listed, "size": _sizes(names, own)}, (), 0.0)]


def _find_frozen(module: nn.Module) -> list[Finding]:
    after = _following(module)
    names = [name for name, part in module.named_modules() if _is_frozen_fresh(part, after.get(id(part)))]
    if not names or not any(p.requires_grad for p in module.parameters()):
        return []
    size = sum(p.numel() for name in names for p in module.get_submodule(name).parameters(recurse=False))
    listed = ", ".join(f"'{n}'" for n in names[:4])
    evidence = (Value("frozen parameters", size),)
    return [Finding(kinds.FROZEN_AT_RANDOM, names[0], {"names": listed, "size": size}, evidence, 1e-3)]


def _following(module: nn.Module) -> dict[int, nn.Module]:
    """Returns a dict from the id of each submodule to the next submodule in the same container."""
    rows = [list(part.children()) for part in module.modules()]
    return {id(one): other for row in rows for one, other in zip(row, row[1:], strict=False)}


def _is_frozen_fresh(part: nn.Module, following: nn.Module | None = None) -> bool:
    weights = [p for name, p in part.named_parameters(recurse=False) if name.startswith("weight")]
    if not isinstance(part, KINDS) or not weights or any(w.requires_grad for w in weights):
        return False
    if isinstance(following, nn.modules.batchnorm._BatchNorm) and following.num_features == len(weights[0]):
        return _is_unused(following)
    if isinstance(part, nn.RNNBase):
        return all(_is_uniform(w, part.hidden_size**-0.5) for w in weights if w.numel() >= MIN_WEIGHTS_FOR_DISTRIBUTION)
    w, n = weights[0].detach().double().flatten().cpu(), weights[0].numel()
    if isinstance(part, nn.Embedding):
        return n >= MIN_WEIGHTS_FOR_DISTRIBUTION and _distance(0.5 * torch.erfc(-w / sqrt(2))) < 1.95 / sqrt(n)
    fan_in, fan_out = weights[0][0].numel(), len(weights[0]) * weights[0][0, 0].numel()
    bounds = (fan_in**-0.5, sqrt(6 / (fan_in + fan_out)), sqrt(6 / fan_in))
    return n >= MIN_WEIGHTS_FOR_DISTRIBUTION and any(_is_uniform(weights[0], bound) for bound in bounds)


def _is_unused(norm: nn.modules.batchnorm._BatchNorm) -> bool:
    """Checks whether a batch norm layer has never seen a batch and still has its initial weights."""
    seen = norm.num_batches_tracked is None or int(norm.num_batches_tracked) > 0
    moved = norm.affine and (bool((norm.weight != 1).any()) or bool((norm.bias != 0).any()))
    return not seen and not moved


def _is_uniform(weight: Tensor, bound: float) -> bool:
    """Checks whether weights look like a uniform random initialization, which means that they were never trained."""
    w, n = weight.detach().double().flatten().cpu(), weight.numel()
    inside = 1 - 20 / n <= float(w.abs().max()) / bound <= 1 + 1e-6
    return inside and _distance((w / bound + 1) / 2) < 1.95 / sqrt(n)


def _distance(u: Tensor) -> float:
    """Returns the largest difference between the distribution of some numbers and the uniform distribution on [0,
    1].
    """
    u, n = u.sort().values, len(u)
    steps = torch.arange(n + 1, dtype=u.dtype) / n
    return float(torch.maximum((steps[1:] - u).abs().max(), (u - steps[:-1]).abs().max()))


def loss_gradients(
    module: nn.Module, x: Inputs, y: Tensor, loss: Callable[[Any, Tensor], Tensor]
) -> dict[str, Tensor | None]:
    """Computes gradients of the mean loss in training mode, by parameter name; None for parameters without a gradient.

    >>> net = nn.Linear(2, 1)
    >>> sorted(loss_gradients(net, torch.ones(3, 2), torch.zeros(3), lambda f, y: f.mean()))
    ['bias', 'weight']
    """
    module = copy_module(module).train()  # A copy is used, because batch norm in training mode changes its buffers.
    own = {name: p for name, p in module.named_parameters() if p.requires_grad}
    with warnings.catch_warnings(), random_state(0), torch.inference_mode(False), torch.enable_grad():
        # Hides torch's warning about different shapes, which another finding reports.
        warnings.filterwarnings("ignore", message="Using a target size")
        value = loss(run_module(module, x), y)
        if not value.requires_grad:
            return dict.fromkeys(own)
        grads = torch.autograd.grad(value, list(own.values()), allow_unused=True)
    return dict(zip(own, grads, strict=True))


def parts_that_change_outputs(
    module: nn.Module,
    x: Inputs,
    candidates: Mapping[str, list[str]],
    measure: Callable[[Any], Tensor] | None = None,
) -> list[str]:
    """Returns the submodules among ``candidates`` whose parameters affect the network's outputs.

    ``measure`` computes what must change from all that the network returns, such as the loss; by default, its outputs.

    >>> parts_that_change_outputs(nn.Linear(1, 1), torch.ones(2, 1), {"": ["weight", "bias"]})
    ['']
    >>> parts_that_change_outputs(nn.Linear(1, 1), torch.ones(2, 1), {"": ["weight"]}, lambda returned: torch.zeros(1))
    []
    """
    n = count_examples(x)
    value = (lambda returned: output_rows(returned, n)) if measure is None else measure
    first, others = list(candidates)[:MAX_PARTS], list(candidates)[MAX_PARTS:]
    matter = [name for name in first if _changes(module, x, candidates[name], value)]
    if others and _changes(module, x, [name for part in others for name in candidates[part]], value):
        matter += others
    return matter


def parameters_in_optimizer(module: nn.Module, optimizer: AbstractOptimizer | None) -> list[str] | None:
    """Returns the names of the trainable parameters in a torch optimizer; None for other optimizers.

    >>> parameters_in_optimizer(nn.Linear(1, 1), None) is None
    True
    """
    if not isinstance(optimizer, TorchOptimizer):
        return None
    own = {name: p for name, p in module.named_parameters() if p.requires_grad}
    made = optimizer.build(list(own.values()))
    ids = {id(p) for group in made.param_groups for p in group["params"]}
    return [name for name, p in own.items() if id(p) in ids]


def _changes(module: nn.Module, x: Inputs, names: list[str], measure: Callable[[Any], Tensor]) -> bool:
    own = dict(module.named_parameters())
    with preserve(module, seed=0, grad=False):
        changed = {
            name: own[name] + torch.randn_like(own[name]) * (own[name].std(correction=0) + 0.1) for name in names
        }
        first = measure(run_module(module, x)).clone()
        other = measure(call_with_inputs(lambda *a, **k: functional_call(module, changed, a, k), x))
    return bool((first - other).abs().max() > 1e-5 * first.abs().max())
