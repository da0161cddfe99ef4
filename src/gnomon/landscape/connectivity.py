"""Measures the barrier between two trained models, before and after matching their hidden units.

    barrier(a, b)      of the loss on the line between them, see `loss_between`                                   (1)
    barrier(a, P b)    with the hidden units of b in the order of a, see `match_units`                   (2)

Usually a barrier separates two runs from different seeds. Most of it comes from the order of their hidden units.
Batch norm statistics are measured again on the line, because averaged statistics do not fit an averaged network.

Hypotheses: one architecture. (2) is an upper bound of the barrier over all orders.
Reference: [frankle2020linear] for (1), [entezari2022role] and [ainsworth2023git] for (2).
"""

from dataclasses import dataclass
from typing import Any

from torch import nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.landscape.between import POSITION_BETWEEN_MODELS, LossBetween, loss_between
from gnomon.landscape.matching import match_units
from gnomon.training.evaluate import Loss

__all__ = ["ModeConnectivity", "mode_connectivity"]


@dataclass(frozen=True, slots=True, eq=False)
class ModeConnectivity(Result):
    """The losses between two models before and after matching their hidden units, and how many units changed position.

    >>> import torch
    >>> t = torch.tensor([0.0, 0.5, 1.0])
    >>> lines = LossBetween(t, torch.tensor([1.0, 4.0, 1.0]), None), LossBetween(t, torch.tensor([1.0, 1.5, 1.0]), None)
    >>> print(ModeConnectivity(*lines, "weights", 7).verdict)
    The loss barrier between the two models is 3; after their hidden units are put into the same order (by weights) it
    is 0.5.
    """

    before: LossBetween
    after: LossBetween
    by: str
    moved: int

    @property
    def verdict(self) -> str:
        """A sentence with the loss barrier between the models before and after matching their hidden units."""
        start, end = self.before.barrier, self.after.barrier
        return (
            f"The loss barrier between the two models is {start:.3g}; after their hidden units are put into the same "
            f"order (by {self.by}) it is {end:.3g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the loss along the line between the models, before and after matching their hidden units."""
        marks = (Line("as they are", self.before.t, self.before.losses),
                 Line("hidden units matched", self.after.t, self.after.losses, "dashed"))  # fmt: skip
        return (Plot("Loss between two models", marks, POSITION_BETWEEN_MODELS, Axis("loss"), self.verdict),)


@add_call_to_errors
def mode_connectivity(
    a: nn.Module, b: nn.Module, data: Any, *, loss: Loss | None = None, points: int = 11
) -> ModeConnectivity:
    """Measures the loss barrier between two models, before and after matching their hidden units.

    Args:
        a: a trained model. Both models are read in eval mode and left as they were.
        b: another model of the same architecture.
        data: as in `hessian`, and ``loss`` too.
        loss: by default cross-entropy for integer targets and squared loss for real ones.
        points: number of points on each line, including its ends.

    Hypotheses: see the module. Reference: [entezari2022role].
    Cost: three lines of ``points`` passes over the data, two with batch norm, and two matchings.

    >>> import torch
    >>> net, x = nn.Sequential(nn.Linear(1, 3), nn.ReLU(), nn.Linear(3, 1)), torch.randn(8, 1)
    >>> mode_connectivity(net, net, (x, x[:, 0])).after.barrier < 1e-6
    True
    """
    lines = [("", 0, loss_between(a, b, data, loss=loss, points=points, fresh_statistics=True))]
    for by in ("activations", "weights"):
        found = match_units(a, b, data, by=by)
        line = loss_between(a, found.module, data, loss=loss, points=points, fresh_statistics=True)
        lines.append((by, found.moved_units, line))
    by, moved, best = min(lines[1:], key=lambda one: one[2].barrier)
    return ModeConnectivity(lines[0][2], best, by, moved)
