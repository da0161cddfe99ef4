"""Learning curves: predicts from a kernel, without training, the test error for other numbers of examples.

Kernel regression on n rows with ridge r acts on the law of the data like a filter with one number k(n, r):

    sum_i l_i / (l_i + k) + r / k = n,      D1 = sum_i l_i / (l_i + k),      D2 = sum_i (l_i / (l_i + k))^2        (1)
    test error(n, r) = n / (n - D2) * B(k),   B(k) = what the filter leaves of the target, noise included           (2)

with l the eigenvalues of the kernel's operator. None of these must be known: on N rows with another ridge s,

    D1 = tr K (K + s)^-1,    k = s / (N - D1),    error(N, s) = leave-one-out error at ridge s                      (3)

and D2 = D1 + k dD1/dk, so each s gives one point k of (1), and (2) at n follows from (2) at N: an n with the same k has
the error of N rows times (1 - D2 / N) / (1 - D2 / n). Fewer rows than N have the k of a larger ridge s > r, more rows
the k of a smaller ridge, as long as s > 0; beyond that the curve is continued as a n^-b + c. Predictions for more rows
are too optimistic. The correction compares smaller subsets with all rows: with e_m(N) the prediction from m of the N
rows,

    error at n > N:    e_N(n) * max(1, error(N) / mean of e_m(N)),    m = N^2 / n, as far below N as n is above     (4)

Two standard errors of the leave-one-out error(N) are subtracted first, so that noise alone makes no correction.

Hypotheses: rows are independent and test rows drawn as they are (with groups, such as several rows of one writer, the
curve holds for new rows of the same groups); squared loss; features as random as Gaussian ones of their covariance.
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
from math import log2
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bounds.scaling import ScalingLaw, scaling_law
from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results import Axis, Finding, Interval, Line, Plot, Result, Scatter, Value
from gnomon.findings import theory as kinds

__all__ = ["LearningCurve", "learning_curve"]

MIN_ROWS = 20
"""Minimum number of rows."""
RIDGE_COUNT = 400
"""Ridges s at which (3) is evaluated."""
MIN_KEPT_SHARE = 0.1
"""Smallest 1 - D2 / N at which (3) is used: below it, few rows determine the error."""
MIN_RELATIVE_RIDGE = 1e-11
"""Smallest s relative to the largest eigenvalue at which (3) is used: below it, rounding determines the eigenvalues."""
MAX_EXTRAPOLATION = 4
"""Largest multiple of the available rows to which the curve is extrapolated."""
RANDOM_SUBSETS = 3
"""Random subsets of m rows in (4)."""
MIN_SUBSET_ROWS = 50
"""Smallest m for these subsets."""
MIN_GAIN_OF_DOUBLING = 0.1
"""Share of the error that doubling must remove for more data to be recommended."""


@dataclass(frozen=True, slots=True)
class LearningCurve(Result):
    """Result: predicted mean squared errors of kernel regression for several numbers of training examples.

    ``now`` is the leave-one-out error of all rows, ``doubled`` the predicted error with twice the rows and its interval
    (None if the curve cannot be extrapolated), ``spread`` the variance of the targets, which is the error of their
    mean; ``law`` continues the curve beyond ``reach`` rows, up to which (2) gives it.
    """

    sizes: tuple[int, ...]
    predicted: tuple[float, ...]
    examples: int
    now: float
    spread: float
    doubled: Value | None
    reach: int
    law: ScalingLaw | None

    @property
    def gain(self) -> float | None:
        """Returns the fraction of the error that twice as many examples would remove; None if unknown."""
        return None if self.doubled is None or self.now <= 0 else 1 - float(self.doubled.value) / self.now

    @property
    def verdict(self) -> str:
        """Reports the current error, and the predicted error with twice as many examples."""
        share = f"{self.now / self.spread:.1%} of the variance of the targets" if self.spread > 0 else f"{self.now:.3g}"
        if self.gain is None:
            return (
                f"With {self.examples} examples the error is {share}; it is unknown how much more examples would help."
            )
        return (
            f"With {self.examples} examples the error is {share}; twice as many examples would reduce "
            f"the error by {self.gain:.0%}."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding that says whether more data or another model would help, if the learning curve shows it."""
        if self.gain is None or self.spread <= 0 or self.now < 0.01 * self.spread:
            return ()
        evidence = (Value("error removed by a doubling", self.gain, obtained="estimate"),)
        row = kinds.MORE_DATA_HELPS if self.gain >= MIN_GAIN_OF_DOUBLING else kinds.MORE_DATA_IS_LITTLE
        values = {"examples": self.examples, "share": self.now / self.spread, "gain": self.gain}
        return (Finding(row, "inputs", values, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the predicted learning curve, and the measured leave-one-out error at its end."""
        marks = (
            Line("predicted", self.sizes, self.predicted, color=0),
            Scatter("measured (leave-one-out)", (self.examples,), (self.now,), 0),
        )
        axes = Axis("examples", log=True), Axis("mean squared error", log=True)
        return (Plot("Learning curve", marks, *axes, self.verdict),)


@add_call_to_errors
@limit_time
def learning_curve(
    kernel: Float[Tensor, "n n"],
    y: Any,
    *,
    sizes: Sequence[int] | None = None,
    ridge: float | None = None,
    budget: float | None = None,
) -> LearningCurve:
    """Predicts the test error of kernel regression for smaller and larger numbers of examples.

    See equations (1) to (4) of the module docstring.

    Args:
        kernel: kernel matrix of all rows, such as ``gnomon.limit(net).ntk(x)`` or ``gnomon.ntk(net, x)``.
        y: numbers (n,) or (n, k), or integer classes, which are one-hot rows; errors are sums over outputs.
        sizes: numbers of examples to predict, at most four times the given rows; by default repeated halves down to 20.
        ridge: ridge of the regression, added to the diagonal; by default 1e-3 of the mean diagonal.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: as for the module.
    Reference: [simon2023eigenlearning], [wei2022more].
    Cost: 9 n^3 for one eigendecomposition, and three of n / 2 rows.

    >>> k = torch.eye(40).double()                                      # nothing is learned: the error stays
    >>> curve = learning_curve(k, torch.tensor([1.0, -1.0] * 20), sizes=[20])
    >>> round(curve.predicted[0], 2)
    1.0
    """
    k, n = kernel.double(), len(kernel)
    targets = targets_as_numbers(y).double()
    targets = targets.reshape(len(targets), -1)
    if n < MIN_ROWS or len(targets) != n:
        found = f"the kernel has {n} rows and y {len(targets)}"
        raise InputError(found, accepted=f"at least {MIN_ROWS} rows and a target for each", fix="Pass more examples")
    if not bool(k.isfinite().all()) or not bool(targets.isfinite().all()):
        raise NotFiniteError(
            "the kernel or y is not finite", accepted="finite numbers", fix="Remove the rows that are not finite"
        )
    chosen = 1e-3 * float(k.diagonal().mean()) if ridge is None else check_number("ridge", ridge, above=0)
    wanted = [n // 2**j for j in range(12) if n // 2**j >= MIN_ROWS][::-1] if sizes is None else list(sizes)
    asked = [check_integer("sizes", size) for size in wanted]
    centered = targets - targets.mean(0)
    known = _Known.of(k, targets, chosen)
    now, noise = known.left_out(chosen)
    law = _extrapolate(known, now)
    predicted = [
        _error_at(known, law, now, size) * _too_hopeful(k, targets, chosen, now - 2 * noise, size)
        for size in with_progress_bar(asked, "sizes")
    ]
    spread = float(centered.square().sum(1).mean())
    doubled = _error_with_twice_the_rows(
        known, law, now, noise, _too_hopeful(k, targets, chosen, now - 2 * noise, 2 * n)
    )
    return LearningCurve(tuple(asked), tuple(predicted), n, now, spread, doubled, known.reach, law)


class _Known:
    """Estimates of the test error from a kernel matrix for any ridge penalty, computed from one eigendecomposition."""

    def __init__(self, values: Tensor, vectors: Tensor, y: Tensor, ridge: float) -> None:
        self.values, self.squares, self.vectors = values, vectors.square(), vectors
        self.turned, self.n, self.ridge = vectors.T @ y, len(values), ridge
        self.table = self._table()
        self.reach = max(self.n, min(MAX_EXTRAPOLATION * self.n, int(self.table[0, 1])))

    @classmethod
    def of(cls, kernel: Tensor, targets: Tensor, ridge: float) -> "_Known":
        """Prepares test error estimates from a kernel matrix and its targets by an eigendecomposition of the matrix."""
        values, vectors = torch.linalg.eigh((kernel + kernel.mT) / 2)
        return cls(values.clamp_min(0), vectors, targets - targets.mean(0), ridge)

    def left_out(self, ridge: float) -> tuple[float, float]:
        """Returns the leave-one-out mean squared error of kernel regression for a ridge penalty, and its standard
        error.
        """
        inverse = 1 / (self.values + ridge)
        residual = self.vectors @ (inverse[:, None] * self.turned)
        own = (self.squares * inverse).sum(1)
        errors = (residual / own[:, None]).square().sum(1)
        return float(errors.mean()), float(errors.std()) / self.n**0.5

    def measures(self, ridge: float) -> tuple[float, float, float]:
        """Returns three sums over the kernel's eigenvalues for a ridge penalty, from which test errors are
        predicted.
        """
        share = self.values / (self.values + ridge)
        d1, s2 = float(share.sum()), float(share.square().sum())
        left = float((ridge / (self.values + ridge)).sum())
        k = ridge / left
        slope = -(d1 - s2) / ridge  # derivative of the curve's first term D1 with respect to s
        dk = 1 / left + ridge * slope / left**2
        return d1, k, d1 + k * slope / dk

    def _table(self) -> Tensor:
        """Returns ridge penalties, each with the number of training examples that has the same effect as the penalty.

        See equation (1) of the module docstring.
        """
        top = float(self.values.max())
        low, high = max(MIN_RELATIVE_RIDGE * top, 1e-4 * self.ridge), self.n * top + self.ridge
        grid = torch.logspace(0, 1, RIDGE_COUNT, dtype=torch.float64).log10()
        rows = []
        for s in (low * (high / low) ** grid).tolist():
            d1, k, d2 = self.measures(s)
            if s >= self.ridge or 1 - d2 / self.n >= MIN_KEPT_SHARE:
                rows.append((s, d1 + self.ridge / k))
        return torch.tensor(rows, dtype=torch.float64)

    def at(self, size: int) -> float:
        """Returns the predicted test error for another number of examples, without extrapolation beyond the given data.

        See equation (2) of the module docstring.
        """
        ns = self.table[:, 1]
        place = int((ns > size).sum().clamp(1, len(ns) - 1))
        (s0, n0), (s1, n1) = self.table[place - 1].tolist(), self.table[place].tolist()
        weight = 0.0 if n0 == n1 else min(max((n0 - size) / (n0 - n1), 0.0), 1.0)
        s = s0 * (s1 / s0) ** weight
        _, _, d2 = self.measures(s)
        return self.left_out(s)[0] * (1 - d2 / self.n) / max(1 - d2 / size, 1e-12)  # (2)


def _extrapolate(known: _Known, now: float) -> ScalingLaw | None:
    """Fits a power law to the end of the predicted learning curve; None if the curve is too short."""
    sizes = sorted({int(known.reach * 2 ** (-j / 2)) for j in range(9)})
    sizes = [size for size in sizes if size >= MIN_ROWS]
    if len(sizes) < 5:
        return None
    errors = [now if size == known.n else known.at(size) for size in sizes]
    return scaling_law(sizes, errors) if min(errors) > 0 else None


def _error_at(known: _Known, law: ScalingLaw | None, now: float, size: int) -> float:
    """Returns the predicted test error for a number of examples; outside the known range by a fitted power law.

    See equation (2) of the module docstring.
    """
    if size <= known.reach:
        return now if size == known.n else known.at(size)
    if size > MAX_EXTRAPOLATION * known.n or law is None or not law.trusted:
        most = MAX_EXTRAPOLATION * known.n if law is not None and law.trusted else known.reach
        found = f"{size} examples are requested and {known.n} are given"
        raise InputError(found, accepted=f"at most {most}", fix=f"Pass sizes of at most {most}")
    return float(law.at(size).value)


def _too_hopeful(kernel: Tensor, targets: Tensor, ridge: float, least: float, size: int) -> float:
    """Returns a factor that corrects optimistic extrapolation, measured by predicting the known error from subsets.

    See equation (4) of the module docstring.
    """
    n = len(kernel)
    m = n * n // max(size, n)
    if m == n or m < MIN_SUBSET_ROWS:
        return 1.0
    generator, told = torch.Generator().manual_seed(0), []
    for _ in range(RANDOM_SUBSETS):
        rows = torch.randperm(n, generator=generator)[:m]
        part = _Known.of(kernel[rows][:, rows], targets[rows], ridge)
        own = part.left_out(ridge)[0]
        law = _extrapolate(part, own)
        if n > part.reach and (law is None or not law.trusted):
            return 1.0
        told.append(_error_at(part, law, own, min(n, MAX_EXTRAPOLATION * m)))
    return max(1.0, least * RANDOM_SUBSETS / sum(told)) if min(told) > 0 else 1.0


def _error_with_twice_the_rows(
    known: _Known, law: ScalingLaw | None, now: float, noise: float, factor: float
) -> Value | None:
    """Returns the predicted test error with twice as many examples, with an interval.

    See equation (4) of the module docstring.
    The interval also contains the value without the factor. Beyond the reach it contains the interval of the power law
    and the curve continued with the slope of its last octave.
    """
    size, reach = 2 * known.n, known.reach
    ends: tuple[float, ...] = ()
    if size <= reach:
        value = known.at(size)
    elif law is not None and law.trusted:
        told = law.at(size)
        value, last, before = float(told.value), known.at(reach), known.at(reach // 2)
        straight = last * (size / reach) ** min(0.0, log2(last / before))
        ends = (straight, told.interval.low, told.interval.high) if told.interval is not None else (straight,)
    else:
        return None
    half = 2 * noise * value / max(now, 1e-300)
    ends = (value, factor * value, *ends, *(factor * end for end in ends))
    interval = Interval(max(0.0, min(ends) - half), max(ends) + half, 0.95)
    return Value(f"error at {size}", factor * value, interval, "estimate")
