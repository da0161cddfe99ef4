"""Scaling laws: test error as a power of the amount of data, parameters or compute, and whether the fit is reliable.

    error(n) = a n^-b + c,    a, b > 0,  c >= 0                                                                   (1)

The points are fitted in logarithms by least squares, by one search over c; the interval of b is from the residuals, by
Student's t, at the fitted c and widened to the range of those c that fit the points as well (F test). The interval of
the error that would be measured at another size m contains the laws of all these c, each with the half width

    t s sqrt(1 + 1 / N + (log m - mean log n)^2 / sum_i (log n_i - mean log n)^2)    of its logarithm             (2)

for N points and the standard deviation s of their logarithms around the law.

Hypotheses: errors of the points that are independent in logarithms.
Reference: [hestness2017deep], [draper1998applied] for the interval.

>>> law = scaling_law([100, 200, 400, 800, 1600], [0.30, 0.212, 0.15, 0.106, 0.075])
>>> round(law.exponent, 1), law.trusted
(0.5, True)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.metrics import student_quantile
from gnomon.core.results import Axis, Interval, Line, Plot, Result, Scatter, Value

__all__ = ["ScalingLaw", "scaling_law"]

MIN_POINTS = 5
"""Minimum number of points."""
MIN_SIZE_RATIO = 8.0
"""Minimum ratio of the largest to the smallest size."""
MAX_EXTRAPOLATION = 4.0
"""Largest ratio beyond the last point at which the law is evaluated."""
CONFIDENCE_LEVEL = 0.95
"""Confidence level of the intervals."""
OFFSET_CANDIDATES = 200
"""Values of c that are tried, from 0 to just below the smallest error."""
MAX_EXPONENT_INTERVAL = 1.0
"""Width of the interval of b above which the law is not trusted."""


@dataclass(frozen=True, slots=True)
class ScalingLaw(Result):
    """A power law fitted to errors at several sizes, with an interval of its exponent; ``reason`` says why it is
    unreliable.
    """

    scale: float
    exponent: float
    floor: float
    exponent_interval: Interval
    sizes: tuple[float, ...]
    errors: tuple[float, ...]
    scatter: float
    reason: str

    @property
    def trusted(self) -> bool:
        """Returns whether the measured errors determine the power law's exponent well enough to extrapolate."""
        return not self.reason

    @add_call_to_errors
    def at(self, size: float) -> Value:
        """Predicts the error at another size by the power law, with an interval; raises an error far beyond measured
        sizes.

        >>> law = scaling_law([1, 2, 4, 8, 16], [1.0, 0.5, 0.25, 0.125, 0.0625])
        >>> round(law.at(32).value, 9)
        0.03125
        """
        if not self.trusted:
            raise InputError(
                self.reason, accepted="points that determine a power law", fix="Measure at more and larger sizes"
            )
        if size > MAX_EXTRAPOLATION * self.sizes[-1] or size <= 0:
            found = f"the size is {size:g} and the points end at {self.sizes[-1]:g}"
            raise InputError(
                found, accepted=f"at most {MAX_EXTRAPOLATION:g} times the last point", fix="Measure at larger sizes"
            )
        value = self.scale * size**-self.exponent + self.floor  # (1)
        fits = _fit_offsets(self.sizes, self.errors)
        told = [exp(offset) * size**slope + c for slope, offset, c in fits.near]
        x = torch.tensor(self.sizes, dtype=torch.float64).log()
        far = float((log(size) - x.mean()).square() / (x - x.mean()).square().sum())
        half = student_quantile(fits.freedom) * self.scatter * sqrt(1 + 1 / len(x) + far)  # (2)
        low, high = min(told) * exp(-half), max(told) * exp(half)
        return Value(f"error at {size:g}", value, Interval(low, high, CONFIDENCE_LEVEL), "estimate")

    @property
    def verdict(self) -> str:
        """States the exponent of the power law, or why it is unreliable."""
        if not self.trusted:
            return f"These points do not determine a power law: {self.reason}."
        low, high = self.exponent_interval.low, self.exponent_interval.high
        power = f"size^-{self.exponent:.2f} (between {low:.2f} and {high:.2f})"
        return f"The error falls as {power} to a floor of {self.floor:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the measured errors and the fitted power law."""
        marks: tuple[Scatter | Line, ...] = (Scatter("measured", self.sizes, self.errors, 0),)
        if self.trusted:
            curve = [self.scale * s**-self.exponent + self.floor for s in self.sizes]
            marks = (*marks, Line("law", self.sizes, curve, color=0))
        return (Plot("Scaling law", marks, Axis("size", log=True), Axis("error", log=True), self.verdict),)


@add_call_to_errors
def scaling_law(sizes: Sequence[float], errors: Sequence[float]) -> ScalingLaw:
    """Fits a power law to errors measured at several sizes, and checks whether the points determine its exponent.

    See equation (1) of the module docstring.
    The result is not trusted, and ``reason`` says why, for: fewer than five sizes, a range below a factor of 8, errors
    that do not fall, an exponent whose 95 % interval is wider than 1 or holds 0.

    Hypotheses: as for the module.
    Reference: [hestness2017deep].
    Cost: two hundred fits of a line.

    >>> scaling_law([100, 110, 120, 130, 140], [0.3, 0.29, 0.28, 0.27, 0.26]).trusted
    False
    """
    pairs = sorted(zip(map(float, sizes), map(float, errors), strict=True))
    if len(pairs) < 3 or any(not s > 0 or not e > 0 for s, e in pairs):
        found = f"there are {len(pairs)} points" if len(pairs) < 3 else "a size or an error is not positive"
        raise InputError(found, accepted="at least three positive sizes and errors", fix="Pass more points")
    points = tuple(s for s, _ in pairs), tuple(e for _, e in pairs)
    fits = _fit_offsets(*points)
    half = student_quantile(fits.freedom) * fits.slope_error
    slopes = [-slope for slope, _, _ in fits.near]
    interval = Interval(min(slopes) - half, max(slopes) + half, CONFIDENCE_LEVEL)
    slope, offset, floor = fits.best
    return ScalingLaw(exp(offset), -slope, floor, interval, *points, fits.scatter, _reason(pairs, interval))


@dataclass(frozen=True, slots=True)
class _Fits:
    """Power laws fitted to errors as lines in log-log coordinates: the best fit, and all fits that are almost as
    good.
    """

    best: tuple[float, float, float]
    near: tuple[tuple[float, float, float], ...]
    slope_error: float
    scatter: float
    freedom: int


def _fit_offsets(sizes: tuple[float, ...], errors: tuple[float, ...]) -> _Fits:
    """Fits a power law for each candidate of its constant term, and keeps the fits that an F test does not reject."""
    n, e = (torch.tensor(column, dtype=torch.float64) for column in (sizes, errors))
    tries = (float(e.min()) * torch.linspace(0.0, 0.99, OFFSET_CANDIDATES, dtype=torch.float64)).tolist()
    fits = [_line(n.log(), (e - c).log()) for c in tries]
    # Every fit predicts log(error - c). Its residuals are computed for log(error), so that fits can be compared.
    losses = [_loss(n, e, slope, offset, c) for (slope, offset, _), c in zip(fits, tries, strict=True)]
    best = min(range(len(fits)), key=lambda i: losses[i])
    freedom = max(1, len(sizes) - 3)
    allowed = losses[best] * (1 + _f_quantile(freedom) / freedom) + 1e-18
    lines = [(slope, offset, c) for (slope, offset, _), c in zip(fits, tries, strict=True)]
    near = tuple(line for line, loss in zip(lines, losses, strict=True) if loss <= allowed)
    return _Fits(lines[best], near, fits[best][2], (losses[best] / freedom) ** 0.5, freedom)


def _reason(pairs: list[tuple[float, float]], interval: Interval) -> str:
    first, last = pairs[0], pairs[-1]
    if len(pairs) < MIN_POINTS:
        return f"there are {len(pairs)} sizes, and {MIN_POINTS} are needed"
    if last[0] / first[0] < MIN_SIZE_RATIO:
        return f"the sizes cover a factor of {last[0] / first[0]:.2g}, and {MIN_SIZE_RATIO:g} is needed"
    if last[1] >= first[1]:
        return "the error does not fall"
    if interval.low <= 0 or interval.width > MAX_EXPONENT_INTERVAL:
        return f"the exponent is anywhere between {interval.low:.2g} and {interval.high:.2g}"
    return ""


def _line(x: Tensor, y: Tensor) -> tuple[float, float, float]:
    """Fits a line by least squares; returns slope, offset, and the standard error of the slope."""
    center = x.mean()
    u = x - center
    slope = float((u @ y) / (u @ u))
    offset = float(y.mean()) - slope * float(center)
    left = y - offset - slope * x
    error = float((left @ left) / max(1, len(x) - 3) / (u @ u)) ** 0.5
    return slope, offset, error


def _loss(n: Tensor, e: Tensor, slope: float, offset: float, c: float) -> float:
    told = torch.exp(offset + slope * n.log()) + c
    return float((told.log() - e.log()).square().sum())


def _f_quantile(freedom: int) -> float:
    from scipy.stats import f

    return float(f.ppf(CONFIDENCE_LEVEL, 1, freedom))
