"""Tests linear separability: does a plane separate the classes, and how many random labels can a plane separate?

    separable  iff  some (w, b) has y_i (w.x_i + b) >= 1 for all i        (a linear program)                      (1)
    perceptron makes at most  R^2 / g^2  mistakes,  R = max |x_i|,  g = largest min_i y_i w.x_i / |w|             (2)
    n points in general position in d dimensions are separated for a share C(n, d) / 2^n of labels,
        C(n, d) = 2 sum_(i < d) binom(n - 1, i):  one half at n = 2 d                                             (3)

Hypotheses: two classes. Solving (3) for d gives the effective dimension of a layer's features.
Reference: [boyd2004convex] for (1); [novikoff1962convergence] for (2); [cover1965geometrical] for (3).

>>> import torch
>>> corners = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
>>> separability(corners, torch.tensor([0, 0, 1, 1])).separable                                # XOR
False
"""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arrays import Array
from gnomon.core.inputs.checks import as_numbers, as_targets, check_finite_inputs, check_integer, check_seed
from gnomon.core.results import Axis, Line, Plot, Reference, Result, Scatter

__all__ = [
    "LinearCapacity",
    "NovikoffBound",
    "Separability",
    "linear_capacity",
    "novikoff_bound",
    "separability",
]


@dataclass(frozen=True, slots=True, eq=False)
class Separability(Result):
    """Result: whether a plane separates two classes, the best plane, and how much examples violate its margin on
    average.
    """

    separable: bool
    w: Float[Tensor, " d"]
    b: float
    slack: float

    @property
    def verdict(self) -> str:
        """Says in one sentence whether a plane separates the two classes."""
        if self.separable:
            return "A plane separates the two classes."
        return (
            f"No plane separates the two classes: the best plane violates the margin constraints by "
            f"{self.slack:.3g} on average (slack)."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the weight of each feature in the best plane."""
        weights = Scatter("weight", range(1, len(self.w) + 1), self.w)
        words = f"{self.verdict} The sign of a weight says to which class a large value of the feature points."
        axes = Axis("feature"), Axis("weight in the best plane")
        return (Plot("Weights of the features", (weights, Reference("zero", 0.0)), *axes, words),)


@dataclass(frozen=True, slots=True)
class NovikoffBound(Result):
    """Result: the largest margin of a plane through the origin, the radius of the data, and a bound on perceptron
    mistakes.
    """

    radius: float
    margin: float
    examples: int

    @property
    def mistakes(self) -> float:
        """Returns the upper bound on the number of perceptron mistakes: (radius / margin) squared; infinite without a
        margin.
        """
        return inf if self.margin <= 0 else float(int(self.radius**2 / self.margin**2 * (1 + 1e-12)))  # (2)

    @property
    def verdict(self) -> str:
        """Says in one sentence how many mistakes a perceptron with these features makes at most."""
        if self.margin <= 0:
            return "No plane through the origin separates the classes: a perceptron never stops."
        return (
            f"A perceptron that learns from these features makes at most {self.mistakes:.0f} mistakes (margin "
            f"{self.margin:.3g})."
        )


@dataclass(frozen=True, slots=True)
class LinearCapacity(Result):
    """Result: for several numbers of points, the fraction of random labelings that a plane separates."""

    points: tuple[int, ...]
    shares: tuple[float, ...]
    features: int

    @property
    def dimension(self) -> float:
        """Returns the effective dimension of the features: half the number of points for which a plane separates half
        of all labelings.

        See equation (3) of the module docstring.
        """
        for a, b, high, low in zip(self.points, self.points[1:], self.shares, self.shares[1:], strict=False):
            if high >= 0.5 > low:
                return (a + (high - 0.5) / (high - low) * (b - a)) / 2
        return inf if self.shares[-1] >= 0.5 else self.points[0] / 2

    @property
    def verdict(self) -> str:
        """States in one sentence how many independent features would separate random labels as well as these features
        do.
        """
        found = self.dimension
        size = f"more than {self.points[-1] / 2:.0f}" if found == inf else f"about {found:.1f}"
        return f"The {self.features} features separate random labels like {size} independent features would."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of random labelings that a plane separates, over the number of points."""
        marks = (Line("separated", self.points, self.shares), Reference("one half", 0.5))
        return (
            Plot("Capacity of features", marks, Axis("points"), Axis("share of labels", limits=(0, 1)), self.verdict),
        )


@add_call_to_errors
def separability(features: Array, labels: Array) -> Separability:
    """Tests whether a plane separates two classes, by linear programming.

    See equation (1) of the module docstring.

    Args:
        features: a row for each example: inputs, or the activations of a layer.
        labels: two classes, whole numbers.

    Hypotheses: see the module. Reference: [boyd2004convex].
    Cost: one linear program of n constraints and n + d + 1 variables.

    >>> separability(torch.tensor([[0.0], [1.0], [2.0]]), torch.tensor([0, 0, 1])).separable
    True
    """
    x, y = _two_classes(features, labels)
    w, b, slack = _program(x, y, intercept=True)
    return Separability(slack <= 1e-7, torch.from_numpy(w), b, slack)


@add_call_to_errors
def novikoff_bound(features: Array, labels: Array) -> NovikoffBound:
    """Computes the largest margin of a plane through the origin, which bounds the number of perceptron mistakes.

    See equation (2) of the module docstring.

    Args:
        features: a row for each example; add a column of ones for planes off the origin.
        labels: two classes, whole numbers.

    Hypotheses: see the module. Reference: [novikoff1962convergence].
    Cost: a quadratic program over n multipliers.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> result = novikoff_bound(x, torch.tensor([1, 0]))                            # margin 1 / sqrt 2, radius 1
    >>> round(result.margin, 4), result.mistakes
    (0.7071, 2.0)
    """
    from scipy.optimize import nnls  # slow to import

    x, y = _two_classes(features, labels)
    signed = y[:, None] * x
    n = len(x)
    radius = float(np.linalg.norm(x, axis=1).max())
    # Finds the point of the convex hull of all z_i = y_i x_i that is nearest to the origin; its norm is the margin g.
    # Minimizes |sum l_i z_i|^2 + c (sum l_i - 1)^2 over l >= 0 for any c > 0, and scales l to sum 1.
    rows = np.vstack([signed.T, np.full((1, n), radius or 1.0)])
    right = np.append(np.zeros(x.shape[1]), radius or 1.0)
    weights = nnls(rows, right)[0]
    near = signed.T @ (weights / weights.sum())
    norm = float(np.linalg.norm(near))
    margin = float((signed @ near).min()) / norm if norm > 1e-12 * radius else 0.0
    return NovikoffBound(radius, max(0.0, margin) if margin > 1e-9 * radius else 0.0, n)


@add_call_to_errors
def linear_capacity(features: Array, *, draws: int = 40, seed: int = 0) -> LinearCapacity:
    """Finds how many points with random labels a plane can separate in the given features.

    See equation (3) of the module docstring.

    Args:
        features: a row for each example; twice as many examples as dimensions show the drop.
        draws: number of random labelings for each number of points.
        seed: random seed for labels and points.

    Hypotheses: see the module; planes through the origin. Reference: [cover1965geometrical].
    Cost: about 8 draws linear programs.

    >>> found = linear_capacity(torch.randn(40, 4, generator=torch.Generator().manual_seed(0)))
    >>> 3 < found.dimension < 5
    True
    """
    table = as_numbers(features, "features").detach().flatten(1).double()
    check_finite_inputs(table)
    x = table.numpy()
    m, generator = (
        check_integer("draws", draws, least=2),
        np.random.default_rng(check_seed(seed) % 2**63),
    )
    n, d = x.shape
    if n < 4:
        raise InputError(f"there are {n} points", accepted="at least four", fix="Pass more rows")
    rank = int(np.linalg.matrix_rank(x))
    places = sorted({max(2, min(n, round(c * rank))) for c in (0.5, 1, 1.5, 1.8, 2, 2.2, 2.5, 3)})
    shares = []
    for points in places:
        hits = 0
        for _ in range(m):
            rows = x[generator.choice(n, points, replace=False)]
            y = generator.choice((-1.0, 1.0), points)
            hits += _program(rows, y, intercept=False)[2] <= 1e-7
        shares.append(hits / m)
    return LinearCapacity(tuple(places), tuple(shares), d)


def _two_classes(features: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    x = as_numbers(features, "features").detach().flatten(1).double()
    check_finite_inputs(x)
    y = as_targets(labels, len(x))
    kinds = torch.unique(y)
    if len(kinds) != 2:
        found = f"the labels have {len(kinds)} values"
        raise InputError(found, accepted="two classes", fix="Pass one class against all others")
    return x.cpu().numpy(), torch.where(y == kinds[1], 1.0, -1.0).double().cpu().numpy()


def _program(x: np.ndarray, y: np.ndarray, *, intercept: bool) -> tuple[np.ndarray, float, float]:
    """Finds by linear programming the plane that separates two classes best; returns the plane and the mean violation
    of margins.
    """
    from scipy.optimize import linprog  # slow to import
    from scipy.sparse import csr_matrix, eye, hstack

    n, d = x.shape
    scale = float(np.abs(x).max()) or 1.0
    rows = np.hstack([x / scale, np.ones((n, 1)) if intercept else np.zeros((n, 1))])
    signed = hstack([csr_matrix(-y[:, None] * rows), -eye(n)])
    cost = np.append(np.zeros(d + 1), np.full(n, 1 / n))
    found = linprog(cost, A_ub=signed, b_ub=-np.ones(n), bounds=[(None, None)] * (d + 1) + [(0, None)] * n)
    return found.x[:d] / scale, float(found.x[d]) if intercept else 0.0, float(found.fun)
