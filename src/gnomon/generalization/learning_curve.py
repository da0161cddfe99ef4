"""Test error against the number of examples, from the kernel of the examples at hand: no network is trained again.

Kernel regression on n rows with ridge r acts on the law of the data like a filter with one number k(n, r):

    sum_i l_i / (l_i + k) + r / k = n,      D1 = sum_i l_i / (l_i + k),      D2 = sum_i (l_i / (l_i + k))^2        (1)
    test error(n, r) = n / (n - D2) * B(k),   B(k) = what the filter leaves of the target, noise included           (2)

with l the eigenvalues of the kernel's operator. None of these must be known: on N rows with another ridge s,

    D1 = tr K (K + s)^-1,    k = s / (N - D1),    error(N, s) = leave-one-out error at ridge s                      (3)

and D2 = D1 + k dD1/dk, so each s gives one point k of (1), and (2) at n <= N follows from (2) at N: an n with the same
k has the error of N rows times (1 - D2 / N) / (1 - D2 / n). Beyond N the curve is continued as a n^-b + c.

Hypotheses: rows are independent; squared loss; features as random as Gaussian ones of the same covariance (universal).
Reference: [simon2023eigenlearning] for (1) and (2), [wei2022more] for estimates from the rows alone, [jacot2020kernel].

>>> import torch
>>> x = torch.randn(400, 20, generator=torch.Generator().manual_seed(0)).double()
>>> y = x @ torch.ones(20).double() / 20**0.5
>>> curve = learning_curve(x @ x.T, y, sizes=[5, 10], ridge=1e-9)
>>> [round(value, 1) for value in curve.predicted]           # a linear target in 20 dimensions: 1 - n / 20
[0.8, 0.5]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.checks import integer, number
from gnomon.core.classes import numbers
from gnomon.core.errors import InputError, NotFiniteError, lesson
from gnomon.core.results import Axis, Finding, Line, Plot, Result, Scatter, Value
from gnomon.generalization.scaling import ScalingLaw, scaling_law

__all__ = ["LearningCurve", "learning_curve"]

CALL = "learning_curve(kernel, y)"
LEAST = 20
"""Rows that there must be."""
GRID = 400
"""Ridges s at which (3) is evaluated."""
WORTH = 0.1
"""Share of the error that a doubling must remove for more data to be advised."""


@dataclass(frozen=True, slots=True)
class LearningCurve(Result):
    """Predicted mean squared errors at some numbers of examples, equations (1) to (3).

    ``now`` is the leave-one-out error of all rows, ``doubled`` what twice the rows would give with its interval (None
    where the curve cannot be continued), ``spread`` the variance of the targets, which is the error of their mean.
    """

    sizes: tuple[int, ...]
    predicted: tuple[float, ...]
    examples: int
    now: float
    spread: float
    law: ScalingLaw | None
    ridge: float

    @property
    def doubled(self) -> Value | None:
        """The error with twice as many examples."""
        if self.law is None or not self.law.trusted:
            return None
        return self.law.at(2 * self.examples)

    @property
    def gain(self) -> float | None:
        """The share of the error that twice the examples would remove."""
        return None if self.doubled is None or self.now <= 0 else 1 - float(self.doubled.value) / self.now

    @property
    def verdict(self) -> str:
        """One sentence."""
        share = f"{self.now / self.spread:.1%} of the variance of the targets" if self.spread > 0 else f"{self.now:.3g}"
        if self.gain is None:
            return f"With {self.examples} examples the error is {share}; what more would bring cannot be told."
        return f"With {self.examples} examples the error is {share}; twice as many would remove {self.gain:.0%} of it."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Whether more data or another model would help, where the curve tells."""
        if self.gain is None or self.spread <= 0 or self.now < 0.01 * self.spread:
            return ()
        evidence = (Value("error removed by a doubling", self.gain, obtained="estimate"),)
        if self.gain >= WORTH:
            return (
                Finding("more-data-helps", self.verdict, "Collect more examples like these.", 0.2, "inputs", evidence),
            )
        cure = "Look for better inputs or another model: more examples of this kind bring little."
        return (Finding("more-data-is-little", self.verdict, cure, 0.2, "inputs", evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """The predicted curve, and the leave-one-out error at its end."""
        marks = (Line("predicted", self.sizes, self.predicted), Scatter("leave-one-out", (self.examples,), (self.now,)))
        axes = Axis("examples", log=True), Axis("mean squared error", log=True)
        return (Plot("Learning curve", marks, *axes, self.verdict),)


def learning_curve(
    kernel: Float[Tensor, "n n"], y: Any, *, sizes: Sequence[int] | None = None, ridge: float | None = None
) -> LearningCurve:
    """Predict the test error of kernel regression at other numbers of examples, equations (1) to (3).

    Args:
        kernel: of all rows with each other, such as ``gnomon.limit(net).ntk(x)`` or ``gnomon.ntk(net, x)``.
        y: numbers (n,) or (n, k), or integer classes, which are one-hot rows; errors are sums over outputs.
        sizes: numbers of examples to predict, at most as many as there are rows; by default halves down to 20.
        ridge: of the regression, added to the diagonal; by default 1e-3 of the mean diagonal.

    Hypotheses: those of the module.
    Reference: [simon2023eigenlearning], [wei2022more].
    Cost: 9 n^3 for one eigendecomposition.

    >>> k = torch.eye(40).double()                                      # nothing is learned: the error stays
    >>> curve = learning_curve(k, torch.tensor([1.0, -1.0] * 20), sizes=[20])
    >>> round(curve.predicted[0], 2)
    1.0
    """
    k, n = kernel.double(), len(kernel)
    targets = numbers(y, CALL).double()
    targets = targets.reshape(len(targets), -1)
    if n < LEAST or len(targets) != n:
        found = f"the kernel has {n} rows and y {len(targets)}"
        raise InputError(lesson(CALL, found, f"at least {LEAST} rows and a target for each", "Pass more examples"))
    if not bool(k.isfinite().all()) or not bool(targets.isfinite().all()):
        raise NotFiniteError(lesson(CALL, "the kernel or y is not finite", "finite numbers", "Drop those rows"))
    scale = float(k.diagonal().mean())
    chosen = 1e-3 * scale if ridge is None else number("ridge", ridge, call=CALL, above=0)
    wanted = [n // 2**j for j in range(12) if n // 2**j >= LEAST][::-1] if sizes is None else list(sizes)
    asked = [integer("sizes", size, call=CALL) for size in wanted]
    if max(asked) > n:
        found = f"{max(asked)} examples are asked for and there are {n}"
        raise InputError(lesson(CALL, found, "at most as many as there are", "Pass sizes of at most n"))
    centered = targets - targets.mean(0)
    values, vectors = torch.linalg.eigh((k + k.mT) / 2)
    known = _Known(values.clamp_min(0), vectors, centered)
    now = known.left_out(chosen)
    table = known.table(chosen, scale)
    predicted = [now if size == n else known.at(size, chosen, table) for size in asked]
    law = _continued(known, chosen, table, n, now)
    spread = float(centered.square().sum(1).mean())
    return LearningCurve(tuple(asked), tuple(predicted), n, now, spread, law, chosen)


class _Known:
    """What the rows tell: D1, D2, k and the leave-one-out error at any ridge; equation (3)."""

    def __init__(self, values: Tensor, vectors: Tensor, y: Tensor) -> None:
        self.values, self.squares, self.vectors = values, vectors.square(), vectors
        self.turned, self.y, self.n = vectors.T @ y, y, len(values)

    def left_out(self, ridge: float) -> float:
        """The leave-one-out mean squared error at a ridge; the mean of the targets counts as one more column."""
        inverse = 1 / (self.values + ridge)
        residual = self.vectors @ (inverse[:, None] * self.turned)
        own = (self.squares * inverse).sum(1)
        return float((residual / own[:, None]).square().sum(1).mean())

    def measures(self, ridge: float) -> tuple[float, float, float]:
        """D1, k and D2 at a ridge s of all rows, equation (3)."""
        share = self.values / (self.values + ridge)
        d1, s2 = float(share.sum()), float(share.square().sum())
        left = self.n - d1
        k = ridge / left
        slope = -(d1 - s2) / ridge  # of D1 in s
        dk = 1 / left + ridge * slope / left**2
        return d1, k, d1 + k * slope / dk

    def table(self, ridge: float, scale: float) -> Tensor:
        """Ridges s from the wanted one upwards, with D1 + r / k at each: the n of equation (1)."""
        top = float(self.values.max()) * self.n + scale
        grid = torch.logspace(0, 1, GRID, dtype=torch.float64)
        grid = ridge * (top / ridge) ** (grid.log10())
        rows = []
        for s in grid.tolist():
            d1, k, _ = self.measures(s)
            rows.append((s, d1 + ridge / k))
        return torch.tensor(rows, dtype=torch.float64)

    def at(self, size: int, ridge: float, table: Tensor) -> float:
        """The error (2) at fewer rows."""
        ns = table[:, 1]
        place = int((ns > size).sum().clamp(1, len(ns) - 1))
        (s0, n0), (s1, n1) = table[place - 1].tolist(), table[place].tolist()
        weight = 0.0 if n0 == n1 else min(max((n0 - size) / (n0 - n1), 0.0), 1.0)
        s = s0 * (s1 / s0) ** weight
        _, _, d2 = self.measures(s)
        return self.left_out(s) * (1 - d2 / self.n) / max(1 - d2 / size, 1e-12)  # (2)


def _continued(known: _Known, ridge: float, table: Tensor, n: int, now: float) -> ScalingLaw | None:
    """The power law through the last four octaves of the curve; None where it is too short."""
    sizes = sorted({int(n * 2 ** (-j / 2)) for j in range(9)})
    sizes = [size for size in sizes if size >= LEAST]
    if len(sizes) < 5:
        return None
    errors = [now if size == n else known.at(size, ridge, table) for size in sizes]
    if min(errors) <= 0:
        return None
    return scaling_law(sizes, errors)
