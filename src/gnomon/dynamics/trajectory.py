"""A predicted training run as a record: outputs and losses at stated times, a sentence, a plot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from math import inf, isinf
from typing import Any

from jaxtyping import Float
from torch import Tensor

from gnomon.core.record import Record
from gnomon.dynamics.modes import Modes
from gnomon.dynamics.optimizers import AbstractOptimizer
from gnomon.training.run import Run

COLORS = ("#b5367a", "#3b6fb5")
"""Of the training and the test curve."""
GIVEN = "the kernel that was given"
"""What a trajectory says of its kernel where it knows no more."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory(Record):
    """What training will do, at the times it was asked for.

    ``train`` and ``test`` are the outputs, (t, n) or (t, n, k) like the targets; ``loss`` and ``test_loss`` are means
    over points, without the penalty. ``largest_lr`` is the learning rate from which on descent (or momentum, where
    that was asked for) diverges: exactly for squared loss; for other losses every one below it is safe for descent.
    ``modes`` is None for losses whose modes do not separate. Accuracies are None where the targets are no classes.
    ``kernel`` says in words which kernel it was.

    >>> import torch
    >>> from gnomon.dynamics import predict
    >>> run = predict(torch.eye(1), torch.ones(1), times=[0.0, 1.0])
    >>> [round(abs(f), 12) for f in run.train[:, 0].tolist()]                # 1 - exp(-t)
    [0.0, 0.632120558829]
    """

    times: Float[Tensor, " t"]
    train: Tensor = field(repr=False)
    test: Tensor | None = field(repr=False)
    loss: Float[Tensor, " t"]
    test_loss: Float[Tensor, " t"] | None
    loss_name: str
    optimizer: AbstractOptimizer
    largest_lr: float
    modes: Modes | None = field(repr=False)
    accuracy: Float[Tensor, " t"] | None = None
    test_accuracy: Float[Tensor, " t"] | None = None
    kernel: str = GIVEN

    @property
    def diverges(self) -> bool:
        """Whether lr is at or over the largest stable one; for other than squared loss, whether the loss grew."""
        if self.modes is not None:
            return self.optimizer.lr >= self.largest_lr
        return bool(self.loss[-1] > self.loss[0])

    @property
    def verdict(self) -> str:
        """One sentence on how training goes, and one on the kernel where it is not the caller's."""
        return self._fate if self.kernel == GIVEN else f"{self._fate} Told from {self.kernel}."

    @property
    def _fate(self) -> str:
        way = self.optimizer.name + (f" with learning rate {self.optimizer.lr:.3g}" if self.optimizer.lr else "")
        change = f"the {self.loss_name} from {float(self.loss[0]):.3g} to {float(self.loss[-1]):.3g}"
        head = f"{way.capitalize()} takes {change} by time {float(self.times[-1]):.3g}"
        if self.diverges and self.optimizer.lr >= self.largest_lr:
            return f"{head}: it diverges, for the largest stable learning rate is {self.largest_lr:.3g}."
        if self.modes is None:
            return f"{head}."
        needed = self.modes.time(0.01)[: self.modes.rank]
        if len(needed) == 0:
            return f"{head}: the kernel is zero, and nothing can be learned."
        done = int((needed <= float(self.times[-1])).sum())
        tail = f"{done} of {len(needed)} modes have done 99 % of their way, the slowest needs time {needed.max():.3g}"
        missing = len(self.modes.rates) - len(needed)
        return f"{head}; {tail}" + (f"; {missing} modes have no rate and are never learned." if missing else ".")

    def __str__(self) -> str:
        return self.verdict

    def to_dict(self) -> dict[str, object]:
        """Times, outputs, losses and verdict as plain values for JSON; infinite time becomes None."""
        return {
            "times": [None if isinf(t) else t for t in self.times.tolist()],
            "train": self.train.tolist(),
            "test": None if self.test is None else self.test.tolist(),
            "loss": self.loss.tolist(),
            "test_loss": None if self.test_loss is None else self.test_loss.tolist(),
            "accuracy": None if self.accuracy is None else self.accuracy.tolist(),
            "test_accuracy": None if self.test_accuracy is None else self.test_accuracy.tolist(),
            "kernel": self.kernel,
            "loss_name": self.loss_name,
            "optimizer": self.optimizer.name,
            "lr": self.optimizer.lr,
            "largest_lr": None if isinf(self.largest_lr) else self.largest_lr,
            "rates": None if self.modes is None else self.modes.rates.tolist(),
            "verdict": self.verdict,
        }

    def plot(
        self, axes: Any = None, *, measured: Run | Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None
    ) -> Any:
        """Draw the losses over time with matplotlib; returns the axes.

        ``measured`` is a run of `gnomon.train`, or {name: (times, losses)}, drawn as points beside the curves.
        """
        if axes is None:
            from matplotlib import pyplot as plt  # slow to import, and needed by this method alone

            axes = plt.subplots(layout="constrained")[1]
        shown = (self.times > 0) & (self.times < inf)
        curves = {"predicted": self.loss, "predicted, test": self.test_loss}
        for (name, values), color in zip(curves.items(), COLORS, strict=True):
            if values is not None:
                axes.plot(self.times[shown], values[shown], label=name, color=color)
                if bool((self.times == inf).any()):
                    axes.axhline(float(values[-1]), color=color, linewidth=0.6, linestyle=":")
        points = _curves(measured) if isinstance(measured, Run) else measured or {}
        for (name, (times, losses)), color in zip(points.items(), cycle(COLORS)):
            axes.plot(times, losses, ".", markersize=4, label=name, color=color)
        axes.set(xscale="log", yscale="log", xlabel="time (learning rate x steps)", ylabel=self.loss_name)
        axes.legend()
        return axes


def _curves(run: Run) -> dict[str, tuple[list[float], list[float]]]:
    """Measured losses by name, without time 0, which has no place on a logarithmic axis."""
    losses = {"measured": run.loss, "measured, test": run.test_loss}
    return {name: (run.times[1:].tolist(), v[1:].tolist()) for name, v in losses.items() if v is not None}
