"""A predicted training run as a record: outputs and losses at stated times, a sentence, a plot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isinf
from typing import Any

from jaxtyping import Float
from torch import Tensor

from gnomon.dynamics.modes import Modes
from gnomon.dynamics.optimizers import AbstractOptimizer


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """What training will do, at the times it was asked for.

    ``train`` and ``test`` are the outputs, (t, n) or (t, n, k) like the targets; ``loss`` and ``test_loss`` are means
    over points, without the penalty. ``largest_step`` is the learning rate from which on descent (or momentum, where
    that was asked for) diverges: exactly for squared loss; for other losses every step below it is safe for descent.
    ``modes`` is None for losses whose modes do not separate.

    >>> import torch
    >>> from gnomon.dynamics import predict
    >>> run = predict(torch.eye(1), torch.ones(1), times=[0.0, 1.0])
    >>> run.train[:, 0].tolist()                                             # 1 - exp(-t)
    [0.0, 0.6321205588285577]
    """

    times: Float[Tensor, " t"]
    train: Tensor = field(repr=False)
    test: Tensor | None = field(repr=False)
    loss: Float[Tensor, " t"]
    test_loss: Float[Tensor, " t"] | None
    loss_name: str
    optimizer: AbstractOptimizer
    largest_step: float
    modes: Modes | None = field(repr=False)

    @property
    def diverges(self) -> bool:
        """Whether the step is at or over the largest stable one; for other than squared loss, whether the loss grew."""
        if self.modes is not None:
            return self.optimizer.step >= self.largest_step
        return bool(self.loss[-1] > self.loss[0])

    @property
    def verdict(self) -> str:
        """One sentence on how training goes."""
        way = self.optimizer.name + (f" with step {self.optimizer.step:.3g}" if self.optimizer.step else "")
        change = f"the {self.loss_name} from {float(self.loss[0]):.3g} to {float(self.loss[-1]):.3g}"
        head = f"{way.capitalize()} takes {change} by time {float(self.times[-1]):.3g}"
        if self.diverges and self.optimizer.step >= self.largest_step:
            return f"{head}: it diverges, for the largest stable step is {self.largest_step:.3g}."
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
            "loss_name": self.loss_name,
            "optimizer": self.optimizer.name,
            "step": self.optimizer.step,
            "largest_step": None if isinf(self.largest_step) else self.largest_step,
            "rates": None if self.modes is None else self.modes.rates.tolist(),
            "verdict": self.verdict,
        }

    def plot(
        self, axes: Any = None, *, measured: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None
    ) -> Any:
        """Draw the losses over time with matplotlib, beside measured ones {name: (times, losses)}; returns the axes."""
        if axes is None:
            from matplotlib import pyplot as plt  # slow to import, and needed by this method alone

            axes = plt.subplots(layout="constrained")[1]
        shown = (self.times > 0) & (self.times < inf)
        curves = {"predicted": self.loss, "predicted, test": self.test_loss}
        for (name, values), color in zip(curves.items(), ("#b5367a", "#3b6fb5"), strict=True):
            if values is not None:
                axes.plot(self.times[shown], values[shown], label=name, color=color)
                if bool((self.times == inf).any()):
                    axes.axhline(float(values[-1]), color=color, linewidth=0.6, linestyle=":")
        for name, (times, losses) in (measured or {}).items():
            axes.plot(times, losses, ".", markersize=4, label=name)
        axes.set(xscale="log", yscale="log", xlabel="time (learning rate x steps)", ylabel=self.loss_name)
        axes.legend()
        return axes
