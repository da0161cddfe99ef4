"""Stores and plots loss and accuracy over training time, predicted or measured.

Time is the learning rate times the number of steps, so that runs with different learning rates share one axis.

>>> import torch
>>> curves = Curves(torch.tensor([0.0, 1.0, 2.0]), torch.tensor([1.0, 0.5, 0.25]), "squared loss")
>>> curves.plot("Training").marks[0].x                                  # time 0 has no place on a logarithmic axis
(1.0, 2.0)
"""

from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Float
from torch import Tensor

from gnomon.core.results.animation import animate
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.core.results.plot import Axis, Line, Plot, Scatter
from gnomon.core.results.record import Record
from gnomon.core.results.result import Result

__all__ = ["Curves"]

TIME = Axis("time (learning rate x steps)", log=True)
"""The time axis of all curves."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves(Record):
    """Losses, accuracies and outputs of a network on train and test at the same training times; None if not measured.

    What was not measured is None, and accuracies are None if the targets are not classes. ``train`` and ``test`` are
    the outputs on the two sets of points, (t, n) or (t, n, k).

    >>> import torch
    >>> Curves(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]), "squared loss").rose
    True
    """

    times: Float[Tensor, " t"]
    loss: Float[Tensor, " t"]
    loss_name: str
    test_loss: Float[Tensor, " t"] | None = None
    accuracy: Float[Tensor, " t"] | None = None
    test_accuracy: Float[Tensor, " t"] | None = None
    train: Tensor | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)
    test: Tensor | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def rose(self) -> bool:
        """Checks whether the last training loss is higher than the first."""
        return bool(self.loss[-1] > self.loss[0])

    def lines(self, name: str = "") -> tuple[Line, ...]:
        """Returns the loss curves as lines for a plot; ``name`` is put before "training" and "test" in the labels."""
        return tuple(Line(label, x, y, color=i) for i, (label, x, y) in enumerate(self._loss_points(name)))

    def points(self, name: str = "") -> tuple[Scatter, ...]:
        """Returns the losses as dots for a plot, to compare measurements with predicted lines."""
        return tuple(Scatter(label, x, y, i) for i, (label, x, y) in enumerate(self._loss_points(name)))

    def plot(self, title: str, caption: str = "") -> Plot:
        """Plots the losses over training time on two logarithmic axes."""
        return Plot(title, self.lines(), TIME, Axis(self.loss_name, log=True), caption)

    def _loss_points(self, name: str) -> list[tuple[str, Tensor, Tensor]]:
        inside = (self.times > 0) & self.times.isfinite()
        sets = {"training": self.loss, "test": self.test_loss}
        return [(f"{name} {key}".strip(), self.times[inside], v[inside]) for key, v in sets.items() if v is not None]


class ResultWithCurves(Result):
    """Base class of results with loss curves; ``result.loss`` is short for ``result.curves.loss``."""

    __slots__ = ()
    curves: Curves

    def animate(self, ax: Any = None, *, frames: int = 60) -> Any:
        """Returns a matplotlib animation of the losses; ``.save("run.gif")`` writes it.

        Cost: one drawing of the curves for each frame when it is saved or shown.
        """
        return animate(self.plots()[0], ax, frames=frames)

    @property
    def times(self) -> Float[Tensor, " t"]:
        """Returns the training time of each measurement: learning rate times number of steps."""
        return self.curves.times

    @property
    def loss(self) -> Float[Tensor, " t"]:
        """Returns the mean loss on the training examples at each time."""
        return self.curves.loss

    @property
    def loss_name(self) -> str:
        """Returns the name of the loss function, as plots show it."""
        return self.curves.loss_name

    @property
    def test_loss(self) -> Float[Tensor, " t"] | None:
        """Returns the mean loss on the test examples at each time; None if it was not measured."""
        return self.curves.test_loss

    @property
    def accuracy(self) -> Float[Tensor, " t"] | None:
        """Returns the accuracy on the training examples at each time."""
        return self.curves.accuracy

    @property
    def test_accuracy(self) -> Float[Tensor, " t"] | None:
        """Returns the accuracy on the test examples at each time."""
        return self.curves.test_accuracy

    @property
    def train(self) -> Tensor | None:
        """Returns the network's outputs on the training examples at each time, shape (times, examples) or (times,
        examples, outputs).
        """
        return self.curves.train

    @property
    def test(self) -> Tensor | None:
        """Returns the network's outputs on the test examples at each time, shape (times, examples) or (times, examples,
        outputs).
        """
        return self.curves.test
