"""Computes eigenvalues of a symmetric matrix that is given only by products with vectors (Lanczos iteration).

m steps from a unit vector q give an orthonormal Q (size x m) and a tridiagonal T with

    A Q = Q T + beta_m q_{m+1} e_m^T                                                         (1)
    |A y - theta y| = beta_m |e_m^T s|         for T s = theta s, y = Q s                    (2)
    q^T f(A) q ~ sum_j (e_1^T s_j)^2 f(theta_j), exact for polynomials up to degree 2m - 1   (3)
    |lambda - theta| <= r^2 / gap    for the residual r of (2)                                (5)

with the distance ``gap`` from theta to all other eigenvalues. Q is orthogonalized again at every step, twice: without
it, rounding brings converged eigenvectors back.
Reference: [golub2010matrices], chapters 4 and 6; the density is [lin2016approximating].
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import BudgetError, NotFiniteError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, format_bytes, free_bytes
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results import Axis, Band, Line, Plot, Result, Scatter
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.linalg.operator import AbstractOperator
from gnomon.linalg.square import lapack_dtype

__all__ = ["Eigenpairs", "SpectralDensity", "spectral_density", "top_eigenpairs", "tridiagonal"]

DENSITY_POINTS = 200
"""Number of points of the plotted density."""
OUTLIER_DEVIATIONS = 3.0
"""An eigenvalue farther from the mean, in standard deviations of all eigenvalues, is marked as an outlier."""
MIN_PLOTTED_DENSITY = 1e-9
"""Smallest plotted density, relative to the largest."""
MIN_NEW_NORM = 1e-3
"""Norm above which the new part of a random vector is more than rounding, also in float32."""


@dataclass(frozen=True, slots=True)
class Eigenpairs(Result):
    """The largest eigenvalues of an operator, their eigenvectors, and a bound on the error of each eigenvalue.

    >>> Eigenpairs(torch.tensor([3.0]), torch.ones(1, 1), torch.tensor([0.0]), 1).verdict
    '1 eigenvalues from 1 products, each with an error of at most 0.0e+00; the largest is 3.'
    """

    values: Float[Tensor, " k"]
    vectors: Float[Tensor, "n k"] = field(metadata=HIDDEN_IN_JSON)
    residuals: Float[Tensor, " k"]
    products: int

    @property
    def verdict(self) -> str:
        """A sentence on the eigenvalues and the bound on their error."""
        error, largest = float(self.residuals.max()), float(self.values.max())
        head = (
            f"{len(self.values)} eigenvalues from {self.products} products, each with an error of at most {error:.1e}"
        )
        return f"{head}; the largest is {largest:.4g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the eigenvalues in descending order, with their error bounds."""
        order = range(1, len(self.values) + 1)
        marks = (
            Scatter("eigenvalue", order, self.values),
            Band("error bound", order, self.values - self.residuals, self.values + self.residuals),
        )
        return (Plot("Largest eigenvalues", marks, Axis("rank of the eigenvalue"), Axis("eigenvalue"), self.verdict),)


@dataclass(frozen=True, slots=True)
class SpectralDensity(Result):
    """An approximation of a matrix's eigenvalue distribution: points, and weights that sum to one.

    ``starts`` is the number of random start vectors.
    """

    points: Float[Tensor, " m"]
    weights: Float[Tensor, " m"]
    starts: int

    @property
    def mean(self) -> float:
        """The mean eigenvalue of the operator: the trace divided by the number of rows."""
        return float((self.points * self.weights).sum())

    @property
    def verdict(self) -> str:
        """A sentence on the range of the operator's eigenvalues."""
        low, high = float(self.points.min()), float(self.points.max())
        return f"The eigenvalues lie between about {low:.3g} and {high:.3g}, with mean {self.mean:.3g}."

    def smooth(self, grid: Float[Tensor, " g"], width: float) -> Float[Tensor, " g"]:
        """Returns the eigenvalue density on a grid, smoothed by a Gaussian of standard deviation ``width``.

        >>> one = SpectralDensity(torch.zeros(1), torch.ones(1), 1)
        >>> round(float(one.smooth(torch.zeros(1), 1.0)), 4)                       # 1 / sqrt(2 pi)
        0.3989
        """
        away = (grid.unsqueeze(1) - self.points) / width
        return (torch.exp(-(away**2) / 2) * self.weights).sum(1) / (width * (2 * torch.pi) ** 0.5)

    def error(self, grid: Float[Tensor, " g"], width: float, *, confidence: float = 0.95) -> Float[Tensor, " g"]:
        """Returns half the width of the confidence interval of the smoothed eigenvalue density at each grid point.

        It measures how much the density varies between random starts; infinite for a single start.

        Hypotheses: many eigenvalues within ``width`` of the grid point, so that the estimates of the starts are about
        normal. With few they are skewed, and an interval of 95 % contains the density less often: in about 92 % of
        cases for an operator with 12 eigenvalues, in about 85 % if the width leaves one or two eigenvalues.

        >>> two = SpectralDensity(torch.zeros(2), torch.full((2,), 0.5), 2)              # two starts that agree
        >>> float(two.error(torch.zeros(1), 1.0))
        0.0
        """
        from scipy.special import stdtrit  # Imported here, because scipy is slow to import.

        if self.starts < 2:
            return torch.full_like(grid, float("inf"))
        parts = zip(self.points.chunk(self.starts), self.weights.chunk(self.starts), strict=True)
        each = torch.stack([SpectralDensity(p, w * self.starts, 1).smooth(grid, width) for p, w in parts])
        return float(stdtrit(self.starts - 1, (1 + confidence) / 2)) / self.starts**0.5 * each.std(0)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the smoothed eigenvalue density on a logarithmic scale with a 95 % interval, and outliers as dots."""
        low, high = float(self.points.min()), float(self.points.max())
        width = (high - low) / 50 or 0.02 * abs(high) or 1.0
        grid = torch.linspace(low - 3 * width, high + 3 * width, DENSITY_POINTS).to(self.points)
        found = self.smooth(grid, width)
        top = float(found.max())
        outliers = self.outliers
        lowest = float(self.smooth(outliers, width).min()) if len(outliers) else top
        floor = max(min(lowest / 10, top / 100), MIN_PLOTTED_DENSITY * top)
        marks: list[Line | Band | Scatter] = [Line("density", grid, found.clamp_min(floor))]
        if self.starts > 1:
            half = self.error(grid, width)
            marks.append(Band("95 % interval", grid, (found - half).clamp_min(floor), (found + half).clamp_min(floor)))
        if len(outliers):
            marks.append(Scatter("outliers", outliers, self.smooth(outliers, width).clamp_min(floor), 1))
        axes = Axis("eigenvalue"), Axis("share of eigenvalues per unit", log=True)
        return (Plot("Density of eigenvalues", tuple(marks), *axes, self.verdict),)

    @property
    def outliers(self) -> Float[Tensor, " o"]:
        """The eigenvalues farther than `OUTLIER_DEVIATIONS` standard deviations from the mean, largest first.

        >>> SpectralDensity(torch.tensor([0.0, 0.1, 9.0]), torch.tensor([0.50, 0.49, 0.01]), 1).outliers
        tensor([9.])
        """
        spread = float(((self.points - self.mean).square() * self.weights).sum()) ** 0.5
        far = (self.points - self.mean).abs() > OUTLIER_DEVIATIONS * spread
        return self.points[far].sort(descending=True).values


def tridiagonal(
    operator: AbstractOperator, start: Float[Tensor, " n"], steps: int
) -> tuple[Float[Tensor, " m"], Float[Tensor, " m"], Float[Tensor, "n m"]]:
    """Returns the tridiagonal matrix (diagonal, off-diagonal) and the basis that Lanczos iteration gives for an
    operator.

    Hypotheses: the operator is symmetric. When an invariant space is reached, beta is zero there and the next vector
    is random, orthogonal to all before, so that eigenvalues of any multiplicity are found.
    Cost: m products and O(size m^2) for the orthogonalization; size m numbers.

    >>> from gnomon.linalg.operator import DenseOperator
    >>> alpha, beta, q = tridiagonal(DenseOperator(torch.diag(torch.tensor([1.0, 3.0]))), torch.ones(2), 5)
    >>> [round(abs(v), 4) for v in (q @ torch.tensor([[2.0, 1.0], [1.0, 2.0]]) @ q.T).flatten().tolist()]
    [1.0, 0.0, 0.0, 3.0]
    """
    space = _KrylovSpace(operator, start)
    space.extend(steps)
    return space.alpha, space.beta, space.basis.T


class _KrylovSpace:
    """The Krylov space of an operator: an orthonormal basis that grows by one vector per product with the operator."""

    def __init__(self, operator: AbstractOperator, start: Tensor) -> None:
        self._operator, self._next = operator, start / start.norm()
        self._alpha: list[Tensor] = []
        self._beta: list[Tensor] = []
        self._scale = start.new_zeros(())
        self._generator = torch.Generator().manual_seed(0)
        self.basis = start.new_zeros(0, operator.size)

    @property
    def alpha(self) -> Tensor:
        return torch.stack(self._alpha)

    @property
    def beta(self) -> Tensor:
        return torch.stack(self._beta)

    def extend(self, steps: int) -> None:
        """Extends the orthonormal basis to the given number of vectors, at most the size of the operator."""
        size, known = self._operator.size, len(self.basis)
        grown = self.basis.new_empty(min(steps, size), size)
        grown[:known] = self.basis
        self.basis = grown
        for j in with_progress_bar(range(known, len(grown)), "products"):
            self._step(j)
        if len(grown) == size:
            self._beta[-1] = torch.zeros_like(self._beta[-1])

    def _step(self, j: int) -> None:
        v, size = self._next, self._operator.size
        self.basis[j] = v
        w = self._operator.matvec(v)
        alpha = torch.dot(w, v)
        if not torch.isfinite(alpha):  # alpha sums over all entries of w, so it shows if any of them is not finite.
            what = f"product {j + 1} with a unit vector is not finite"
            raise NotFiniteError(what, accepted="a finite operator", fix="Look for NaN in the model")
        self._alpha.append(alpha)
        w = w - alpha * v  # (1)
        if j:
            w.sub_(self.basis[j - 1], alpha=float(self._beta[-1]))
        w = _orthogonal_part(w, self.basis[: j + 1])  # A second pass removes the rounding errors of the first one.
        self._beta.append(w.norm())
        self._scale = torch.maximum(self._scale, self._alpha[-1].abs() + self._beta[-1])
        if self._beta[-1] <= self._scale * torch.finfo(w.dtype).eps * size**0.5:
            self._beta[-1] = torch.zeros_like(self._beta[-1])
            w = self._random_orthogonal_vector(v, j + 1)
        self._next = w / w.norm() if j + 1 < size else torch.zeros_like(w)

    def _random_orthogonal_vector(self, like: Tensor, known: int) -> Tensor:
        """Returns a random vector orthogonal to the first ``known`` rows of the basis; zero if they span the whole
        space."""
        w = torch.zeros_like(like)
        # Repeated if necessary, because the first random vector may be the start vector of the known space.
        while known < len(like) and not w.norm() > MIN_NEW_NORM:
            w = torch.randn(len(like), generator=self._generator).to(like)
            for _ in range(2):  # The second pass removes the rounding errors of the first one.
                w = _orthogonal_part(w, self.basis[:known])
        return w


def _orthogonal_part(w: Tensor, basis: Tensor) -> Tensor:
    """Returns the vector w minus its projection on the orthonormal rows of the basis."""
    return torch.addmv(w, basis.T, basis @ w, alpha=-1)


@add_call_to_errors
def top_eigenpairs(
    operator: AbstractOperator, k: int, *, steps: int | None = None, accuracy: float | None = None, seed: int = 0
) -> Eigenpairs:
    """Returns the k largest eigenvalues of a symmetric operator with eigenvectors, and an error bound for each.

    See equation (2) of the module docstring.
    By default steps are added until each residual is below the square root of the machine precision, relative to the
    largest eigenvalue, or the whole space is spanned, or half of the free memory is used; residuals bound the error.
    With ``accuracy``, they end at the first step at which each error is below this share of the largest eigenvalue. An
    error is at most the residual, and by (5) much smaller if the other eigenvalues are far away. Their distance is
    estimated from the eigenvalues found so far, so the steps end by an estimate; the residuals remain bounds.

    Hypotheses: symmetric. One start gives one copy of a multiple eigenvalue until its space is exhausted: copies
    of an exactly multiple eigenvalue may be missing unless steps reach the size.
    Reference: [golub2010matrices].
    Cost: as `tridiagonal`, for 2k + 10 steps, and a quarter more while they are needed; with ``accuracy``, as few as
    are needed.

    >>> from gnomon.linalg.operator import DenseOperator
    >>> pairs = top_eigenpairs(DenseOperator(torch.diag(torch.arange(1.0, 6.0))), 2)
    >>> [round(v, 4) for v in pairs.values.tolist()]
    [5.0, 4.0]
    """
    k, seed = check_integer("k", k), check_seed(seed)
    if k > operator.size:
        accepted = f"at most {operator.size}, the size of the operator"
        raise out_of_range_error("k", accepted, k)
    most = _room(operator, k)
    space = _KrylovSpace(operator, _normal(operator, seed))
    first = max(steps, k) if steps is not None else 2 * k + 10 if accuracy is None else k + 1
    m = min(operator.size, most, first)
    while True:
        space.extend(m)
        beta = space.beta
        values, s = _eigen(space.alpha, beta)
        residuals = (beta[-1] * s[-1]).abs()  # (2)
        pick = values.argsort(descending=True)[:k]
        if accuracy is None:
            good = residuals[pick].max() <= values.abs().max() * torch.finfo(values.dtype).eps ** 0.5
        else:
            good = _estimated_errors(values, residuals)[pick].max() <= values.abs().max() * accuracy
        if steps is not None or good or m in (operator.size, most):
            return Eigenpairs(values[pick], space.basis.T @ s[:, pick], residuals[pick], m)
        m = min(operator.size, most, m + (max(5, m // 4) if accuracy is None else 1))


def _estimated_errors(values: Tensor, residuals: Tensor) -> Tensor:
    """Returns estimates of the errors of eigenvalues: the residual, or less if the other eigenvalues are far away.

    See equation (5) of the module docstring. The distance to another eigenvalue is reduced by the residuals of both.
    """
    distance = (values[:, None] - values).abs() - residuals[:, None] - residuals
    gap = distance.fill_diagonal_(float("inf")).amin(1)
    return torch.where(gap > residuals, residuals.square() / gap, residuals)  # (5)


def _room(operator: AbstractOperator, k: int) -> int:
    """Returns how many Lanczos vectors fit into memory; raises an error if they are too few for k eigenvalues."""
    each = operator.size * operator.like.element_size()
    most = int(SHARE_OF_FREE_MEMORY * free_bytes() / (2 * each))
    if most < min(k + 2, operator.size):
        found = f"{k + 2} vectors of {format_bytes(each)} do not fit in the free memory of {format_bytes(free_bytes())}"
        fix = "Request fewer eigenvalues, or use a block of the parameters"
        raise BudgetError(found, accepted="vectors that fit in memory", fix=fix)
    return most


def spectral_density(operator: AbstractOperator, *, steps: int = 40, starts: int = 8, seed: int = 0) -> SpectralDensity:
    """Estimates the distribution of an operator's eigenvalues by Lanczos iterations from random start vectors.

    See equation (3) of the module docstring.

        density(f) = (1 / size) trace f(A) ~ mean over starts of sum_j (e_1^T s_j)^2 f(theta_j)             (4)

    Hypotheses: symmetric; Gaussian starts, so that (4) is unbiased for polynomials up to degree 2 steps - 1.
    Reference: [lin2016approximating].
    Cost: starts times `tridiagonal`.

    >>> from gnomon.linalg.operator import DenseOperator
    >>> density = spectral_density(DenseOperator(2.0 * torch.eye(3)), starts=2)
    >>> round(density.mean, 4)                                                     # all eigenvalues are 2
    2.0
    """
    points, weights = [], []
    for i in range(starts):
        alpha, beta, _ = tridiagonal(operator, _normal(operator, seed + i), steps)
        values, s = _eigen(alpha, beta)
        points.append(values)
        weights.append(s[0] ** 2 / starts)  # (3), (4)
    return SpectralDensity(torch.cat(points), torch.cat(weights), starts)


def _eigen(alpha: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    matrix = torch.diag(alpha)
    if len(alpha) > 1:
        matrix = matrix + torch.diag(beta[:-1], 1) + torch.diag(beta[:-1], -1)
    values, vectors = torch.linalg.eigh(matrix.to(lapack_dtype(matrix.dtype)))
    return values.to(matrix.dtype), vectors.to(matrix.dtype)


def _normal(operator: AbstractOperator, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(operator.size, generator=generator, dtype=torch.float64).to(operator.like)
