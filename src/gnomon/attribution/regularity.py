"""Measures whether points that are close in a representation have the same label.

All pairs of points are sorted by their distance and cut into bins of equal size; in each bin

    disagreement = share of pairs with different labels                                                  (1)

In a representation that is regular for its labels, the first bins have no disagreement. A representation unrelated to
the labels has the disagreement of all pairs: for many points 1 - sum_c p_c^2 with p_c the shares of classes.

>>> import torch
>>> label_regularity(torch.tensor([[0.0], [0.1], [5.0], [5.1]]), torch.tensor([0, 0, 1, 1]), bins=3).disagreement
(0.0, 1.0, 1.0)
"""

from dataclasses import dataclass

import torch

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array, as_tensor
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs, check_integer
from gnomon.core.results import Axis, Line, Plot, Reference, Result

__all__ = ["LabelRegularity", "label_regularity"]


@dataclass(frozen=True, slots=True, eq=False)
class LabelRegularity(Result):
    """Result: the fraction of pairs of points with different labels, by the distance of the points and overall."""

    distance: tuple[float, ...]
    disagreement: tuple[float, ...]
    overall: float

    @property
    def verdict(self) -> str:
        """States how often the nearest pairs differ in label, compared with all pairs."""
        share = (
            f"Of the nearest {1 / len(self.disagreement):.0%} of pairs of examples, {self.disagreement[0]:.1%} have "
            f"different labels"
        )
        return f"{share}; of all pairs {self.overall:.1%} do."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of pairs with different labels over distance."""
        marks = (Line("pairs", self.distance, self.disagreement), Reference("all pairs", self.overall))
        return (Plot("Different labels by distance", marks, Axis("distance"), Axis("share of pairs", limits=(0, 1))),)


@add_call_to_errors
def label_regularity(features: Array, labels: Array, *, bins: int = 20) -> LabelRegularity:
    """Measures how often two points have different labels, depending on their distance in a representation.

    See equation (1) of the module docstring.

    Args:
        features: one row for each point: pixels, the activations of a layer, or outputs.
        labels: classes, integers.
        bins: the number of bins of equal size for the sorted pairs.

    Hypotheses: Euclidean distance; at least one pair for each bin.
    Reference: [mallat2016understanding], section 2, on separation.
    Cost: n^2 distances and a sort of n (n - 1) / 2 of them.

    >>> label_regularity(torch.eye(3), torch.tensor([0, 0, 1]), bins=1).overall == 2 / 3
    True
    """
    flat, bins = (
        as_numbers(features, "features").detach().flatten(1).double(),
        check_integer("bins", bins),
    )
    labels, n = as_tensor(labels), len(flat)
    if n != len(labels) or n * (n - 1) // 2 < bins:
        found = f"there are {n} features and {len(labels)} labels for {bins} bins"
        raise InputError(
            found, accepted="one label per row, and one or more pairs per bin", fix="Pass more rows, or fewer bins"
        )
    i, j = torch.triu_indices(n, n, 1, device=flat.device)
    check_finite_inputs(flat)
    distance, order = torch.cdist(flat, flat)[i, j].sort()
    differ = (labels[i] != labels[j])[order].double()
    parts = differ.tensor_split(bins)
    ends = tuple(float(d[-1]) for d in distance.tensor_split(bins))
    return LabelRegularity(ends, tuple(float(p.mean()) for p in parts), float(differ.mean()))  # (1)
