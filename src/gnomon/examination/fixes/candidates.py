"""Lists the changes that may repair a network with poor results, the most specific first.

A change that needs a condition is listed only if the network meets it: an augmentation is left out only if there is
one, layers are unfrozen only if some are frozen.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.checks.network.reach import loss_gradients
from gnomon.core.errors import GnomonError
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.results import Finding
from gnomon.core.results.record import Record
from gnomon.examination.fixes.fix import TrialChange
from gnomon.examination.fixes.rewrite import RELU, SIGMOID, TANH, count_calls
from gnomon.examination.fixes.table import FIXES
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject
from gnomon.training.torch_optimizers import TorchOptimizer

__all__ = ["RepairCandidate", "candidates"]

PROBE_EXAMPLES = 8
"""Examples in the passes that decide which changes apply."""
ORDER = (
    "test-inputs", "match-test-scale", "usual-loss", "all-parameters", "unfreeze", "connect", "remove-hooks",
    "no-augmentation", "constant-rate", "float32-weights", "leave-out", "sharpness-of-softmax", "remove-normalization",
    "add-activations", "add-residuals", "use-relu", "widen", "add-biases", "smaller-dropout", "usual-decay",
    "usual-epsilon", "usual-sgd-momentum", "standardize-targets", "use-adam", "higher-rate", "lower-rate",
    "standardize-inputs", "initialize", "smaller-batch", "larger-batch", "drop-suspects", "drop-conflicts",
    "longer-training",
)  # fmt: skip
"""Ids of fixes in the order in which they are tried, and named if they help equally."""
ERRORS = (GnomonError, RuntimeError, TypeError, ValueError, IndexError, AttributeError, KeyError, NotImplementedError)
"""Errors of a fix that does not suit the module; the fix is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class RepairCandidate(Record):
    """A change with the id of its fix and its place in the list.

    >>> RepairCandidate(0, "lower-rate", TrialChange(None, "lr=0.1", "")).fix
    'lower-rate'
    """

    rank: int
    fix: str
    change: TrialChange


def candidates(subject: Subject, finding: Finding, trial: TrialRun) -> Iterator[RepairCandidate]:
    """Yields the changes that apply to a training run, in the order of `ORDER`.

    Cost: a few forward passes.

    >>> from gnomon.examination.subject import build_subject
    >>> x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    >>> network = build_subject(torch.nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), None, seed=0)
    >>> from gnomon.training import Adam
    >>> from gnomon.training.plan import BatchPlan
    >>> trial = TrialRun(network.module, network.train, network.train, network.loss, Adam(0.1), BatchPlan(20), 50)
    >>> "initialize" in [one.fix for one in candidates(network, None, trial)]
    True
    """
    for rank, id in enumerate(ORDER):
        try:
            if not CONDITIONS.get(id, _always)(subject, trial):
                continue
            for change in FIXES[id].apply(trial, finding, subject):
                yield RepairCandidate(rank, id, change)
        except ERRORS:
            continue


Condition = Callable[[Subject, TrialRun], bool]


def _always(subject: Subject, trial: TrialRun) -> bool:
    return True


def _is_frozen(subject: Subject, trial: TrialRun) -> bool:
    return any(not p.requires_grad for p in trial.module.parameters())


def _lacks_parameters(subject: Subject, trial: TrialRun) -> bool:
    inner = getattr(trial.optimizer, "optimizer", trial.optimizer)
    if not isinstance(inner, TorchOptimizer):
        return False
    made = inner.build(list(trial.module.parameters()))
    held = {id(p) for group in made.param_groups for p in group["params"]}
    return any(id(p) not in held for p in trial.module.parameters() if p.requires_grad)


def _cuts_gradients(subject: Subject, trial: TrialRun) -> bool:
    some = subject.probe.some(PROBE_EXAMPLES)
    found = loss_gradients(trial.module, some.x, some.y, subject.loss_of)
    return any(g is None or not bool(g.any()) for g in found.values())


def _has_hooks(subject: Subject, trial: TrialRun) -> bool:
    return any(p._backward_hooks for p in trial.module.parameters())


def _is_nearly_linear(subject: Subject, trial: TrialRun) -> bool:
    layers = sum(isinstance(part, AFFINE_LAYERS) for part in trial.module.modules())
    x = subject.probe.some(PROBE_EXAMPLES).x
    calls = sum(count_calls(trial.module, x, functions) for functions in (RELU, SIGMOID, TANH))
    others = sum(isinstance(part, nn.GELU | nn.SiLU | nn.LeakyReLU | nn.ELU) for part in trial.module.modules())
    return layers > 1 and calls + others < layers - 1


def _lacks_biases(subject: Subject, trial: TrialRun) -> bool:
    layers = [part for part in trial.module.modules() if isinstance(part, AFFINE_LAYERS)]
    return bool(layers) and all(part.bias is None for part in layers)


def _has_unusual_inputs(subject: Subject, trial: TrialRun) -> bool:
    x = subject.probe.x
    if not isinstance(x, Tensor) or not x.is_floating_point():
        return not isinstance(x, Tensor)
    return abs(float(x.mean())) > 0.1 or abs(float(torch.log(x.std().clamp(min=1e-30)))) > 0.2


CONDITIONS: dict[str, Condition] = {
    "unfreeze": _is_frozen,
    "all-parameters": _lacks_parameters,
    "connect": _cuts_gradients,
    "remove-hooks": _has_hooks,
    "add-activations": _is_nearly_linear,
    "add-biases": _lacks_biases,
    "standardize-inputs": _has_unusual_inputs,
}
"""When a fix is listed, by its id; other fixes decide themselves."""
