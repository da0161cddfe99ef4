"""Computes the loss on the straight line between two models, and the barrier between them.

    w(t) = (1 - t) w_a + t w_b,      barrier = max over t of  L(w(t)) - ((1 - t) L(w_a) + t L(w_b))                (1)

Without a barrier two solutions are in one valley, and their average is as good as they are. With a barrier, averaging
hurts. Batch norm statistics are either interpolated too, which is an approximation, or measured again.

Reference: [frankle2020linear].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_weights
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.landscape.statistics import measure_statistics
from gnomon.training.evaluate import Loss, Objective

__all__ = ["POSITION_BETWEEN_MODELS", "LossBetween", "average_models", "check_same_architecture", "loss_between"]

POSITION_BETWEEN_MODELS = Axis("share of the way from the first model to the second")
"""The axis of places on the line between two models."""
EXAMPLES_PER_PASS = 512
"""Number of examples in one forward pass."""


@dataclass(frozen=True, slots=True, eq=False)
class LossBetween(Result):
    """Losses, and accuracies if targets are classes, at positions t on the straight line between the weights of two
    models.

    >>> found = LossBetween(torch.tensor([0.0, 0.5, 1.0]), torch.tensor([1.0, 4.0, 2.0]), None)
    >>> found.barrier, found.best                                       # 4 - (1 + 2) / 2
    (2.5, 0.0)
    """

    t: Float[Tensor, " m"]
    losses: Float[Tensor, " m"]
    accuracies: Float[Tensor, " m"] | None

    @property
    def barrier(self) -> float:
        """The loss barrier between two models: how far the loss rises above a straight line between the end values; or
        zero.
        """
        straight = (1 - self.t) * self.losses[0] + self.t * self.losses[-1]
        return max(0.0, float((self.losses - straight).max()))  # (1)

    @property
    def best(self) -> float:
        """The position t on the line at which the loss is smallest."""
        return float(self.t[self.losses.argmin()])

    @property
    def verdict(self) -> str:
        """A sentence that says whether a barrier separates the two models."""
        ends = f"{float(self.losses[0]):.3g} and {float(self.losses[-1]):.3g}"
        if self.barrier <= 0.02 * float(self.losses[[0, -1]].max()):
            return (
                f"No barrier between losses {ends}: on the straight line between the two models the loss does not rise."
            )
        return (
            f"The loss rises by {self.barrier:.3g} between {ends}: averaging the weights of the two models is "
            "worse than either model."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the loss, and the error rate if targets are classes, along the line between the two models' weights."""
        first = Plot(
            "Loss between two models",
            (Line("loss", self.t, self.losses),),
            POSITION_BETWEEN_MODELS,
            Axis("loss"),
            self.verdict,
        )
        if self.accuracies is None:
            return (first,)
        line = Line("error", self.t, 1 - self.accuracies)
        return first, Plot("Error between two models", (line,), POSITION_BETWEEN_MODELS, Axis("error rate"))


@add_call_to_errors
def loss_between(
    a: nn.Module,
    b: nn.Module,
    data: Any,
    *,
    loss: Loss | None = None,
    points: int = 21,
    fresh_statistics: bool = False,
) -> LossBetween:
    """Evaluates the loss on the straight line of weights from model ``a`` to model ``b``.

    See equation (1) of the module docstring.

    Args:
        a: a model. Both models are read in eval mode and left as they were.
        b: another model, with parameters of the same names and shapes.
        data: as in `hessian`, and ``loss`` too.
        loss: by default cross-entropy for integer targets and squared loss for real ones.
        points: number of points on the line, including its ends.
        fresh_statistics: measure batch norm statistics again on the data at every point between the ends.

    Reference: [frankle2020linear]. Hypotheses: none.
    Cost: ``points`` passes over the data, twice as many with fresh statistics.

    >>> one, two = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.constant_(one.weight, 1.0), nn.init.constant_(two.weight, -1.0)
    >>> found = loss_between(one, two, (torch.ones(1, 1), torch.zeros(1)), points=3)         # w^2 / 2 at 1, 0 and -1
    >>> found.losses.tolist(), found.barrier
    ([0.5, 0.0, 0.5], 0.0)
    """
    points = check_integer("points", points, least=2)
    check_same_architecture(a, b)
    t = torch.linspace(0, 1, points, dtype=torch.float64)
    losses, scores = [], []
    with preserve(a, mode=None):
        objective = Objective.of(data, a, loss)
        for place in t.tolist():
            model = _mix((a, b), (1 - place, place))
            if fresh_statistics and 0 < place < 1:
                measure_statistics(model, objective)
            value, score, _ = objective.measure(model, EXAMPLES_PER_PASS)
            losses.append(value)
            scores.append(score)
    known = None if scores[0] is None else torch.tensor(scores, dtype=torch.float64)
    return LossBetween(t, torch.tensor(losses, dtype=torch.float64), known)


@add_call_to_errors
def average_models(models: Sequence[nn.Module]) -> nn.Module:
    """Returns a model in eval mode whose parameters and floating-point buffers are the means over several models.

    Hypotheses: one architecture; useful if no barrier separates the models, see `loss_between`.
    Reference: [izmailov2018averaging].
    Cost: a copy of the parameters.

    >>> one, two = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.constant_(one.weight, 1.0), nn.init.constant_(two.weight, 4.0)
    >>> average_models([one, two]).weight.item()
    2.5
    """
    if not models:
        raise InputError("the list of models is empty", accepted="at least one model", fix="Pass a list of models")
    for other in models:
        check_same_architecture(models[0], other)
    return _mix(models, [1 / len(models)] * len(models)).eval()


@torch.no_grad()
def _mix(models: Sequence[nn.Module], shares: Sequence[float]) -> nn.Module:
    made = copy_module(models[0])
    states = [model.state_dict() for model in models]
    for name, value in made.state_dict().items():
        if value.is_floating_point():
            mean = sum(share * state[name].double() for share, state in zip(shares, states, strict=True))
            value.copy_(torch.as_tensor(mean))
    return made


def check_same_architecture(a: Any, b: Any) -> None:
    """Raises an error if parameters or buffers of two models differ in names or shapes, or are not finite.

    Cost: a pass over the weights.

    >>> check_same_architecture(nn.Linear(1, 1), nn.Linear(1, 1))
    """
    check_weights(a)
    check_weights(b)
    one, two = ({name: tuple(t.shape) for name, t in model.state_dict().items()} for model in (a, b))
    if one != two:
        name = next(n for n in (*one, *two) if one.get(n) != two.get(n))
        found = f"'{name}' has shape {one.get(name)} in one model and {two.get(name)} in another"
        raise InputError(found, accepted="models of one architecture", fix="Pass two checkpoints of one model")
