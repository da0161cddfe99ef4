"""Compares the sharpness during a training run with the largest sharpness at which the learning rate is stable.

Full-batch gradient descent often sharpens until lambda_1 reaches 2 (1 + momentum) / lr and then stays near it, while
the loss keeps falling, though not monotonically. A run is called

    at the edge    if the mean of lambda_1 lr / 2 (1 + momentum) over its last third is 1 within EDGE_TOLERANCE  (1)
    beyond         if that mean is larger,    below if it is smaller

Hypotheses: full-batch descent or momentum; for Adam, and for small batches, the limit is different.
Reference: [cohen2021gradient].
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Finding, Line, Plot, Reference, Result, Value
from gnomon.findings import training as kinds
from gnomon.training import TrainingRun
from gnomon.training.torch_optimizers import as_gradient_descent

EDGE_TOLERANCE = 0.15
"""Relative distance from the limit that counts as being at the edge."""


@dataclass(frozen=True, slots=True, eq=False)
class EdgeOfStability(Result):
    """The sharpness at the recorded steps of a run, and the limit 2 (1 + momentum) / lr above which training is
    unstable.

    >>> run = EdgeOfStability(torch.arange(3), torch.tensor([1.0, 1.9, 2.0]).double(), 2.0)
    >>> run.place, run.sharpening
    ('at', 2.0)
    """

    steps: Int[Tensor, " t"]
    sharpness: Float[Tensor, " t"]
    limit: float

    @property
    def ratio(self) -> float:
        """The mean of sharpness divided by the stability limit, over the last third of the recorded steps."""
        last = self.sharpness[-max(1, len(self.sharpness) // 3) :]
        return float(last.mean()) / self.limit

    @property
    def sharpening(self) -> float:
        """The last recorded sharpness divided by the first; infinite if the first is zero."""
        first, last = float(self.sharpness[0]), float(self.sharpness[-1])
        return last / first if first > 0 else float("inf")

    @property
    def place(self) -> str:
        """Position of the run's end relative to the edge of stability (sharpness = limit): "below", "at" or
        "beyond".
        """
        if abs(self.ratio - 1) <= EDGE_TOLERANCE:
            return "at"
        return "below" if self.ratio < 1 else "beyond"

    @property
    def verdict(self) -> str:
        """A sentence that says whether the run ended below, at or beyond the edge of stability."""
        moved = f"Sharpness went from {float(self.sharpness[0]):.3g} to {float(self.sharpness[-1]):.3g}"
        words = {
            "at": "at the edge of stability: the learning rate decides how sharp the solution is",
            "below": "below the edge of stability: a larger learning rate would be stable too",
            "beyond": "beyond the edge of stability: the learning rate is too large for this loss",
        }
        return f"{moved}, {self.ratio:.0%} of the limit {self.limit:.3g} at the end: {words[self.place]}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A finding if the run ended beyond the edge of stability; otherwise empty."""
        if self.place != "beyond":
            return ()
        evidence = (Value("sharpness over limit", self.ratio), Value("limit", self.limit))
        return (Finding(kinds.BEYOND_EDGE, values={"ratio": self.ratio}, evidence=evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the sharpness over the training steps, with the limit above which training is unstable."""
        marks = (Line("sharpness", self.steps, self.sharpness), Reference("limit of the learning rate", self.limit))
        return (Plot("Edge of stability", marks, Axis("step"), Axis("largest Hessian eigenvalue"), self.verdict),)


@add_call_to_errors
def edge_of_stability(run: TrainingRun, *, watched: str = "sharpness") -> EdgeOfStability:
    """Compares the sharpness recorded during a run of `gnomon.train` with the edge of stability.

    The run needs a watcher of that name, for instance
    ``watch={"sharpness": lambda step, model, loss: sharpness(model, (x, y)).value}``.

    Reference: [cohen2021gradient].

    >>> from gnomon.landscape import sharpness
    >>> from gnomon.training import SGD, train
    >>> net, x, y = torch.nn.Linear(1, 1, bias=False), torch.tensor([[2.0]]), torch.zeros(1)
    >>> watch = {"sharpness": lambda step, model, loss: sharpness(model, (x, y)).value}
    >>> print(edge_of_stability(train(net, (x, y), optimizer=SGD(0.1), steps=5, watch=watch)).verdict)
    Sharpness went from 4 to 4, 20% of the limit 20 at the end: below the edge of stability: a larger learning rate
    would be stable too.
    """
    if watched not in run.watched:
        fix = 'Train with watch={"sharpness": lambda step, model, loss: sharpness(model, (x, y)).value}'
        raise InputError(
            f"the run watched {sorted(run.watched)}", accepted=f"a run with a watcher named {watched!r}", fix=fix
        )
    rule = as_gradient_descent(run.optimizer)
    if rule is None:
        what = f"the optimizer was {run.optimizer.name}"
        raise InputError(
            what, accepted="gradient descent with or without momentum", fix="Train with SGD(lr, momentum=...)"
        )
    values = torch.tensor([float(v) for v in run.watched[watched]], dtype=torch.float64)
    return EdgeOfStability(run.steps, values, 2 * (1 + rule.momentum) / rule.lr)
