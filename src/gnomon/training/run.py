"""Defines the results of a training run: losses and accuracies at recorded steps, watched values, the trained model.

>>> import torch
>>> from gnomon.training import SGD, Squared, train
>>> run = train(nn.Linear(1, 1), (torch.ones(2, 1), torch.zeros(2)), loss=Squared(), optimizer=SGD(0.25), steps=3)
>>> run.steps.tolist(), run.times.tolist()
([0, 1, 2, 3], [0.0, 0.25, 0.5, 0.75])
>>> bool((run.loss[1:] / run.loss[:-1] - 0.25).abs().max() < 1e-5)          # (1 - lr (x^2 + 1))^2
True
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

from jaxtyping import Int
from torch import Tensor, nn

from gnomon.core.results import Axis, Curves, Finding, Plot, ResultWithCurves, Scatter, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import training as kinds
from gnomon.training.optimizers import AbstractOptimizer

REASONS = {
    "finished": "",
    "time": " The time budget stopped training.",
    "interrupted": " Training was interrupted; the results are complete up to the last recorded step.",
}
"""Sentence of the verdict for each reason to stop, except divergence."""
FEW_STEPS = 100
"""A run that was cut short before this many steps says nothing about the final result."""
MIN_COUNTED_EPOCHS = 1e-3
"""Smallest part of a pass over the examples from which the time of a whole pass is extrapolated."""
MAX_DOUBLING_RATIO = 0.75
"""Largest share of its fall that a doubling of the time is assumed to bring again; no loss falls without end."""
STILL_FALLING = 0.1
"""If the second half of the steps brings this share of the whole loss decrease, training has not converged."""
LEARNED_ACCURACY = 0.98
"""Training accuracy above which a run counts as finished even if the loss still falls."""
DIVERGED_LOSS_FACTOR = 1.2
"""Factor by which the loss has risen if training diverged, after `FEW_STEPS` steps."""
DIVERGED_EARLY_LOSS_FACTOR = 10.0
"""Factor by which the loss has risen if training diverged, before `FEW_STEPS` steps."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun(ResultWithCurves):
    """Result of training: losses and other measurements at the recorded steps, all in eval mode, and the trained model.

    ``curves`` holds losses and accuracies, which can be read from the run itself (``run.loss``), and the outputs
    (t, n, k) if they were requested. ``stopped`` is "finished", "time", "interrupted" or "diverged", and ``model``
    is the one of the last recorded step in every case. ``watched`` holds, by name, what each watcher returned at each
    recorded step; ``epochs`` is how often, on average, an example was used.
    """

    model: nn.Module = field(repr=False, metadata=HIDDEN_IN_JSON)
    steps: Int[Tensor, " t"]
    curves: Curves
    watched: Mapping[str, list[Any]] = field(repr=False)
    optimizer: AbstractOptimizer
    stopped: str
    seconds: float
    epochs: float = nan

    def raise_if_interrupted(self) -> "TrainingRun":
        """Returns the run; raises KeyboardInterrupt if Ctrl-C ended it.

        For functions that compute a result from a whole run: a run that was cut short would give a wrong one.
        """
        if self.stopped == "interrupted":
            raise KeyboardInterrupt
        return self

    @property
    def diverges(self) -> bool:
        """Checks whether the loss became infinite or NaN, or ended well above its start.

        A loss that ends at its starting value does not count as divergence: it must have risen by a fifth after
        `FEW_STEPS`, or tenfold
        before. Batch norm is measured with averages that follow the weights by tens of steps: with it, before
        `FEW_STEPS`, a finite loss says nothing, however large it is.
        Likelihoods of densities make losses that are negative: the rise counts, in units of the size of the first loss.
        """
        early, start = int(self.steps[-1]) < FEW_STEPS, float(self.loss[0])
        if self.stopped == "diverged" or (early and _has_averages(self.model)):
            return self.stopped == "diverged"
        return float(self.loss[-1]) - start > (
            (DIVERGED_EARLY_LOSS_FACTOR if early else DIVERGED_LOSS_FACTOR) - 1
        ) * abs(start)

    @property
    def shortage(self) -> str:
        """Returns the reason why training was too short for conclusions; empty if training was long enough.

        A run that its time budget ended is too short if it saw each example less than once, took fewer than 100 steps,
        or if the second half of its steps still brought more than a tenth of the whole fall of the loss: what is
        measured then, such as the regime or the confidence, describes a network that had not finished training.
        """
        if self.stopped != "time" or self.diverges or len(self.loss) < 2:
            return "no step was taken" if self.stopped == "time" and len(self.loss) < 2 else ""
        steps = int(self.steps[-1])
        if self.accuracy is not None and float(self.accuracy[-1]) >= LEARNED_ACCURACY:
            return ""
        if steps < FEW_STEPS or self.epochs < 1:
            seen = f"{self.epochs:.0%} of one pass" if self.epochs < 1 else f"{self.epochs:.2g} passes"
            return f"the time allowed {steps} steps, {seen} over the examples"
        early, late = _fall_by_halves(self.steps, self.loss)
        fall = early + late
        if len(self.loss) < 3 or fall <= 0 or late <= STILL_FALLING * fall:
            return ""
        return (
            f"the loss was still falling when the time was spent ({late / fall:.0%} of its fall came in the second "
            "half of the steps)"
        )

    @property
    def time_factor(self) -> float:
        """Returns by which factor a run that was too short should be longer; 1 if the run was long enough.

        A run that is still falling needs to be doubled until the last doubling brings at most a tenth of the fall, if
        each doubling brings as much of the one before as the last one did.
        """
        if not self.shortage:
            return 1.0
        if len(self.loss) < 2:
            return float(FEW_STEPS)
        steps = int(self.steps[-1])
        if steps < FEW_STEPS or self.epochs < 1:
            return 2 * max(FEW_STEPS / steps, 1 / max(self.epochs, MIN_COUNTED_EPOCHS), 1.0)
        early, last = _fall_by_halves(self.steps, self.loss)
        ratio, fall, factor = min(last / max(early, 1e-12), MAX_DOUBLING_RATIO), early + last, 1.0
        while last > STILL_FALLING * fall:
            last, factor = last * ratio, 2 * factor
            fall += last
        return factor

    @property
    def verdict(self) -> str:
        """Says in one or two sentences how training went."""
        rule = f"{self.optimizer.name} with learning rate {self.optimizer.lr:.3g}"
        change = f"the {self.loss_name} from {float(self.loss[0]):.3g} to {float(self.loss[-1]):.3g}"
        head = f"{rule[0].upper()}{rule[1:]} took {change} in {int(self.steps[-1]):,} steps ({self.seconds:.2g} s)"
        if self.accuracy is not None:
            head += f", {float(self.accuracy[-1]):.1%} right"
        if self.test_loss is not None:
            right = "" if self.test_accuracy is None else f", {float(self.test_accuracy[-1]):.1%} right"
            head += f"; on test examples {float(self.test_loss[-1]):.3g}{right}"
        if self.stopped == "diverged":
            return f"{head}. Then training diverged (the loss is no longer finite). Use a smaller learning rate."
        return f"{head}.{REASONS[self.stopped]}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a problem if training diverged."""
        if not self.diverges:
            return ()
        end = "no longer finite" if self.stopped == "diverged" else f"{float(self.loss[-1]):.3g}"
        values = {"loss": self.loss_name, "first": float(self.loss[0]), "last": end, "lr": self.optimizer.lr}
        evidence = (Value("first loss", float(self.loss[0])), Value("last finite loss", float(self.loss[-1])))
        return (Finding(kinds.TRAINING_DIVERGED, values=values, evidence=evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the measured losses over the steps of training, from the start."""
        losses = {"training": self.loss, "test": self.test_loss}
        marks = tuple(Scatter(name, self.steps, v, i) for i, (name, v) in enumerate(losses.items()) if v is not None)
        return (Plot("Training", marks, Axis("step"), Axis(self.curves.loss_name, log=True), self.verdict),)


def _has_averages(model: nn.Module) -> bool:
    """Checks whether the model contains a batch norm layer with running averages."""
    norms = (part for part in model.modules() if isinstance(part, nn.modules.batchnorm._BatchNorm))
    return any(part.track_running_stats for part in norms)


def _fall_by_halves(steps: Tensor, loss: Tensor) -> tuple[float, float]:
    """Returns by how much the loss fell in the first and in the second half of the steps.

    In the middle, the loss is the last recorded one; if none was recorded in the first half, it lies on the line to the
    first record after it.
    """
    middle = float(steps[-1]) / 2
    at = int((steps <= middle).sum()) - 1
    half = float(loss[at])
    if at == 0:
        half += middle / float(steps[1]) * (float(loss[1]) - half)
    return float(loss[0]) - half, half - float(loss[-1])
