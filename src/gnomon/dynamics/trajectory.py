"""Defines a predicted training run: outputs and losses at chosen times, and whether training is stable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.core.results import Finding, Plot, ResultWithCurves, Value
from gnomon.core.results.curves import Curves
from gnomon.core.results.drawing import draw_all
from gnomon.core.results.plot import Scatter
from gnomon.dynamics.error_decay import GradientFlow
from gnomon.dynamics.modes import TrainingModes
from gnomon.findings import training as kinds
from gnomon.training import SGD

__all__ = ["Trajectory"]

Measured = ResultWithCurves | Mapping[str, tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory(ResultWithCurves):
    """A predicted training run: losses, accuracies and outputs at the given times.

    ``curves`` hold times, losses, accuracies and outputs, which can be read from the trajectory itself: ``train`` and
    ``test`` are the outputs, (t, n) or (t, n, k) like the targets; ``loss`` and ``test_loss`` are means over points,
    without the penalty. ``largest_lr`` is the learning rate at and above which descent (or momentum, with that
    optimizer)
    diverges: exactly for squared loss; for other losses every one below it is safe for descent. ``modes`` is None for
    losses whose modes do not separate. ``kernel`` names the kernel, if the caller did not pass it.

    >>> import torch
    >>> from gnomon.dynamics import predict_from_kernel
    >>> run = predict_from_kernel(torch.eye(1), torch.ones(1), times=[0.0, 1.0])
    >>> [round(abs(f), 12) for f in run.train[:, 0].tolist()]                # 1 - exp(-t)
    [0.0, 0.632120558829]
    """

    curves: Curves
    optimizer: GradientFlow | SGD
    largest_lr: float
    modes: TrainingModes | None = field(repr=False)
    kernel: str = ""

    @property
    def diverges(self) -> bool:
        """Returns whether training diverges: the learning rate is too large, or the predicted loss grew."""
        return self.optimizer.lr >= self.largest_lr if self.modes is not None else self.curves.rose

    @property
    def verdict(self) -> str:
        """Reports how training goes, and from which kernel it was predicted."""
        return f"{self._course}." if not self.kernel else f"{self._course}; predicted from {self.kernel}."

    @property
    def _course(self) -> str:
        name = self.optimizer.name + (f" with learning rate {self.optimizer.lr:.3g}" if self.optimizer.lr else "")
        change = f"the {self.loss_name} from {float(self.loss[0]):.3g} to {float(self.loss[-1]):.3g}"
        head = f"{name.capitalize()} takes {change} by time {float(self.times[-1]):.3g}"
        if self.diverges and self.optimizer.lr >= self.largest_lr:
            return f"{head}: it diverges, because the largest stable learning rate is {self.largest_lr:.3g}"
        if self.modes is None:
            return head
        needed = self.modes.time(0.01)[: self.modes.rank]
        if len(needed) == 0:
            return f"{head}: the kernel is zero, so nothing can be learned"
        done = int((needed <= float(self.times[-1])).sum())
        tail = f"{done} of {len(needed)} modes are 99 % learned by then, and the slowest needs time {needed.max():.3g}"
        missing = len(self.modes.rates) - len(needed)
        return f"{head}; {tail}" + (f"; {missing} modes have rate zero and are never learned" if missing else "")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns findings about a learning rate that is too large, and about errors that are never learned."""
        never = () if self.modes is None else self.modes.findings
        if not (self.diverges and self.optimizer.lr >= self.largest_lr):
            return never
        values = {"lr": self.optimizer.lr, "largest": self.largest_lr}
        evidence = (Value("largest stable learning rate", self.largest_lr),)
        return (Finding(kinds.ABOVE_KERNEL_LIMIT, values=values, evidence=evidence), *never)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the predicted losses over time."""
        return (self.beside({}),)

    def beside(self, measured: Measured) -> Plot:
        """Returns one plot that shows the predicted losses as lines and measured losses as points."""
        plot = self.curves.plot("Predicted training", self.verdict)
        points = (
            tuple(Scatter(name, times, losses, i) for i, (name, (times, losses)) in enumerate(measured.items()))
            if isinstance(measured, Mapping)
            else measured.curves.points("measured")
        )
        return Plot(plot.title, (*self.curves.lines("predicted"), *points), plot.x, plot.y, plot.caption)

    def plot(self, ax: Any = None, *, measured: Measured | None = None) -> Any:
        """Plots the predicted losses over time with matplotlib; returns the axes.

        ``measured`` is a run of `gnomon.train`, or {name: (times, losses)}, drawn as points over the curves.
        """
        return draw_all((self.beside(measured or {}),), self.verdict, ax)
