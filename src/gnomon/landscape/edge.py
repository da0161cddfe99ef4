"""The edge of stability: how sharpness moved during a run, beside what its learning rate can bear.

Full-batch gradient descent often sharpens until lambda_1 meets 2 (1 + momentum) / lr and then hovers there, while the
loss keeps falling, not monotonically. A run is said to be

    at the edge    where the mean of lambda_1 lr / 2 (1 + momentum) over its last third is 1 within TOLERANCE   (1)
    beyond         where that mean is larger,    below where it is smaller

Hypotheses: full-batch descent or momentum; for Adam, and for small batches, the limit is another one.
Reference: [cohen2021gradient].
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.errors import InputError, lesson
from gnomon.core.record import Record
from gnomon.training import Run
from gnomon.training.native import descent

CALL = "edge(run)"
TOLERANCE = 0.15
"""How near to the limit counts as being at it."""


@dataclass(frozen=True, slots=True, eq=False)
class Edge(Record):
    """Sharpness at the recorded steps of a run, and the limit 2 (1 + momentum) / lr.

    >>> moved = Edge(torch.arange(3), torch.tensor([1.0, 1.9, 2.0]).double(), 2.0)
    >>> moved.place, moved.sharpening
    ('at', 2.0)
    """

    steps: Int[Tensor, " t"]
    sharpness: Float[Tensor, " t"]
    limit: float

    @property
    def ratio(self) -> float:
        """The mean over the last third of the record of sharpness / limit, as in (1)."""
        last = self.sharpness[-max(1, len(self.sharpness) // 3) :]
        return float(last.mean()) / self.limit

    @property
    def sharpening(self) -> float:
        """The last sharpness in units of the first; infinite where it started from none."""
        first, last = float(self.sharpness[0]), float(self.sharpness[-1])
        return last / first if first > 0 else float("inf")

    @property
    def place(self) -> str:
        """Where the run ended: "below", "at" or "beyond" the edge, by (1)."""
        if abs(self.ratio - 1) <= TOLERANCE:
            return "at"
        return "below" if self.ratio < 1 else "beyond"

    @property
    def verdict(self) -> str:
        """One sentence."""
        moved = f"Sharpness went from {float(self.sharpness[0]):.3g} to {float(self.sharpness[-1]):.3g}"
        words = {
            "at": "at the edge of stability: the learning rate decides how sharp the solution is",
            "below": "below the edge of stability: a larger learning rate would be stable too",
            "beyond": "beyond the edge of stability: the learning rate is too large for this loss",
        }
        return f"{moved}, {self.ratio:.0%} of the limit {self.limit:.3g} in the end: {words[self.place]}."

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "steps": self.steps.tolist(),
            "sharpness": self.sharpness.tolist(),
            "limit": self.limit,
            "ratio": self.ratio,
            "place": self.place,
            "verdict": self.verdict,
        }

    def plot_data(self) -> dict[str, object]:
        """The curve and the limit as plain lists, for any drawing tool."""
        lines = {"sharpness": self.sharpness.tolist(), "limit": [self.limit] * len(self.steps)}
        return {"x": self.steps.tolist(), "x_label": "step", "y_label": "largest Hessian eigenvalue", "lines": lines}

    def plot(self, axes: Any = None) -> Any:
        """Draw sharpness over steps beside the limit with matplotlib; returns the axes."""
        if axes is None:
            from matplotlib import pyplot as plt  # slow to import, and needed by this method alone

            axes = plt.subplots(layout="constrained")[1]
        data: Any = self.plot_data()
        axes.plot(data["x"], data["lines"]["sharpness"], color="#b5367a", label="sharpness")
        axes.axhline(self.limit, color="#777777", linestyle="--", label="largest that the learning rate bears")
        axes.set(xlabel=data["x_label"], ylabel=data["y_label"])
        axes.legend()
        return axes


def edge(run: Run, *, watched: str = "sharpness") -> Edge:
    """How a run of `gnomon.train` moved relative to the edge of stability, from the sharpness it watched.

    The run needs a watcher of that name, for instance
    ``watch={"sharpness": lambda step, model, loss: sharpness(model, x, y).value}``.

    Reference: [cohen2021gradient].
    Cost: none.

    >>> from gnomon.landscape import sharpness
    >>> from gnomon.training import SGD, train
    >>> net, x, y = torch.nn.Linear(1, 1, bias=False), torch.tensor([[2.0]]), torch.zeros(1)
    >>> see = {"sharpness": lambda step, model, loss: sharpness(model, x, y).value}
    >>> print(edge(train(net, x, y, optimizer=SGD(0.1), steps=5, watch=see)).verdict)
    Sharpness went from 4 to 4, 20% of the limit 20 in the end: below the edge of stability: a larger learning rate
    would be stable too.
    """
    if watched not in run.watched:
        cure = 'Train with watch={"sharpness": lambda step, model, loss: sharpness(model, x, y).value}'
        raise InputError(lesson(CALL, f"the run watched {sorted(run.watched)}", f"a watcher {watched!r}", cure))
    way = descent(run.optimizer)
    if way is None:
        found = f"the optimizer was {run.optimizer.name}"
        raise InputError(lesson(CALL, found, "steps along the gradient", "Train with SGD(lr, momentum=...)"))
    values = torch.tensor([float(v) for v in run.watched[watched]], dtype=torch.float64)
    return Edge(run.steps, values, 2 * (1 + way.momentum) / way.lr)
