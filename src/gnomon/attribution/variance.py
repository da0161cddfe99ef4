"""Splits the variance of features into three parts: between classes, from a nuisance variable, and the rest.

    total = between classes + nuisance within a class + rest                                                      (1)

Hypotheses: sums of squares are taken in this order; designs need not be balanced.
Reference: [fisher1922interpretation]; [hastie2009elements], section 4.3.

>>> import torch
>>> x = torch.tensor([[0.0], [0.0], [2.0], [2.0]])
>>> feature_variance_shares(x, torch.tensor([0, 0, 1, 1])).between
1.0
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import as_numbers, as_targets, check_finite_inputs
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["VarianceShares", "feature_variance_shares"]


@dataclass(frozen=True, slots=True)
class VarianceShares(Result):
    """Result: the fractions of the features' variance between classes, from a nuisance variable, and the rest."""

    between: float
    nuisance: float
    rest: float

    @property
    def separation(self) -> float:
        """Returns the variance between classes divided by the variance within classes; infinite if the latter is 0."""
        within = self.nuisance + self.rest
        return self.between / within if within > 0 else float("inf")

    @property
    def verdict(self) -> str:
        """States the three fractions of the features' variance."""
        return (
            f"{self.between:.0%} of the variance of the features is between classes, {self.nuisance:.0%} comes from "
            f"the nuisance variable, {self.rest:.0%} is neither."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fractions of variance between classes, from the nuisance variable, and the rest."""
        bars = Bars("share", ("between classes", "nuisance", "rest"), (self.between, self.nuisance, self.rest))
        return (Plot("Variance of the features", (bars,), Axis("share", limits=(0, 1)), caption=self.verdict),)


@add_call_to_errors
def feature_variance_shares(features: Array, labels: Array, nuisance: Array | None = None) -> VarianceShares:
    """Returns the fractions of the features' variance between classes, from a nuisance variable, and the rest.

    See equation (1) of the module docstring.

    Args:
        features: a row for each example: pixels, or the activations of a layer.
        labels: classes, integers.
        nuisance: a second grouping, integers, such as the angle of rotation of an image.

    The share of the nuisance is the variance that means of (class, nuisance) explain in addition to means of classes.
    Hypotheses: see the module. Reference: [fisher1922interpretation].
    Cost: one pass over the features for each grouping.

    >>> x = torch.tensor([[0.0], [1.0], [0.0], [1.0]])
    >>> feature_variance_shares(x, torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1])).nuisance
    1.0
    """
    x = as_numbers(features, "features").detach().flatten(1).double()
    check_finite_inputs(x)
    y = as_targets(labels, len(x)).long()
    total = float((x - x.mean(0)).square().sum())
    if not total > 0:
        raise InputError("all features are equal", accepted="features that vary", fix="Pass more examples")
    classes = _explained_sum_of_squares(x, y)
    both = classes
    if nuisance is not None:
        z = as_targets(nuisance, len(x)).long()
        both = _explained_sum_of_squares(x, torch.unique(torch.stack([y, z], 1), dim=0, return_inverse=True)[1])
    return VarianceShares(classes / total, (both - classes) / total, max(0.0, 1 - both / total))  # (1)


def _explained_sum_of_squares(x: Tensor, groups: Tensor) -> float:
    """Returns the sum of squares of the group means around the overall mean, weighted by group sizes."""
    count = int(groups.max()) + 1
    sizes = torch.zeros(count, dtype=x.dtype).index_add_(0, groups, torch.ones(len(x), dtype=x.dtype))
    sums = torch.zeros(count, x.shape[1], dtype=x.dtype).index_add_(0, groups, x)
    means = sums / sizes.clamp_min(1)[:, None]
    return float((sizes[:, None] * (means - x.mean(0)).square()).sum())
