"""Possible fixes of a network's last operation and its loss: a superfluous activation, shapes that broadcast."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn

from gnomon.core.losses import AbstractLoss
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding
from gnomon.core.results.record import Record
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.positions import PositionLoss, class_axis
from gnomon.examination.fixes.rewrite import RELU, SIGMOID, SOFTMAX, TANH, without_last_call
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["FIXES"]

PROBE_EXAMPLES = 4
"""Examples in the pass that finds the last function."""
SMALLEST_PROBABILITY = 1e-12
"""Probabilities are raised to this value before a logarithm."""


class _Then(nn.Module):
    """A module that runs another module and then applies a function to its outputs."""

    def __init__(self, module: nn.Module, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.module, self.function, self.training = module, function, module.training

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        return self.function(self.module(*args, **kwargs))


def _log_of_probabilities(p: Tensor) -> Tensor:
    return p.clamp(min=SMALLEST_PROBABILITY).log()


def _log_softmax(f: Tensor) -> Tensor:
    return f.log_softmax(1)


def _remover(functions: frozenset[Any], name: str) -> Callable[[TrialRun, Finding, Subject], tuple[TrialChange, ...]]:
    def remove(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
        if "given" in finding.values:  # Findings about NLLLoss need a logarithm at the end instead of this fix.
            return ()
        found = without_last_call(trial.module, subject.probe.some(PROBE_EXAMPLES).x, functions)
        # A softmax written by hand cannot be removed. Its logarithm replaces it, which is the logits up to a constant.
        if found is None and functions is SOFTMAX:
            found = _Then(trial.module, _log_of_probabilities)
        if found is None:
            return ()
        words = f"the last {name} removed"
        return (
            TrialChange(replace(trial, module=found), words, diff(f"x = torch.{name}(x)  # at the end of forward", "")),
        )

    return remove


def end_in_log_softmax(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: makes the network return log-probabilities, which NLLLoss needs."""
    if "given" not in finding.values:
        return ()
    probabilities = finding.values["given"] == "probabilities"
    changed = _Then(trial.module, _log_of_probabilities if probabilities else _log_softmax)
    old, new = ("torch.softmax", "torch.log_softmax") if probabilities else ("x", "torch.log_softmax")
    line = diff(f"return {old}(x, dim=1)" if probabilities else "return x", f"return {new}(x, dim=1)")
    return (TrialChange(replace(trial, module=changed), "log-probabilities for NLLLoss", line),)


@dataclass(frozen=True, slots=True, eq=False)
class _SameShape(Record):
    """Wraps a loss so that outputs are reshaped to the shape of the targets before the loss is called."""

    loss: Any

    def __call__(self, outputs: Tensor, y: Tensor) -> Tensor:
        same = outputs.reshape(y.shape) if outputs.numel() == y.numel() else outputs
        value: Tensor = self.loss(same, y)
        return value


def same_shape(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: reshapes the outputs like the targets, so that the loss compares each output only with its own
    target.
    """
    if not callable(trial.loss):
        return ()
    line = str(finding.values.get("line", "outputs.squeeze(1)"))
    return (
        TrialChange(replace(trial, loss=_SameShape(trial.loss)), "outputs and targets of one shape", diff("", line)),
    )


def usual_loss(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: trains with the usual loss of the task instead of the user's own: cross-entropy for classes, squared error
    for numbers.
    """
    own = subject.recipe.own_loss
    if own is None or isinstance(own, AbstractLoss):
        return ()
    if subject.task.classes:
        changed = replace(trial, loss=nn.CrossEntropyLoss())
        lines = diff("loss = ...", "loss = nn.CrossEntropyLoss()")
        return (TrialChange(changed, "cross-entropy", lines),) * (subject.task.outputs > 1)
    if subject.probe.y.is_floating_point():
        return (
            TrialChange(replace(trial, loss=nn.MSELoss()), "squared error", diff("loss = ...", "loss = nn.MSELoss()")),
        )
    y = subject.probe.y.reshape(len(subject.probe), *subject.task.shape)
    with preserve(trial.module, grad=False):
        returned = output_tensor(run_module(trial.module, subject.probe.some(PROBE_EXAMPLES).x))
    largest = int(y.max())
    axis = class_axis(returned.shape, (len(returned), *subject.task.shape), largest=largest)
    if axis is None:
        return ()
    line = "F.cross_entropy(scores, y)" if axis == 1 else f"F.cross_entropy(scores.movedim({axis}, 1), y)"
    changed = replace(trial, loss=PositionLoss(returned.shape[axis]))
    return (
        TrialChange(changed, f"cross-entropy with the classes on axis {axis} of the scores", diff("loss = ...", line)),
    )


FIXES = (
    Fix("remove-softmax", _remover(SOFTMAX, "softmax")),
    Fix("remove-sigmoid", _remover(SIGMOID, "sigmoid")),
    Fix("remove-tanh", _remover(TANH, "tanh")),
    Fix("remove-relu", _remover(RELU, "relu")),
    Fix("end-in-log-softmax", end_in_log_softmax),
    Fix("same-shape", same_shape),
    Fix("usual-loss", usual_loss),
)
