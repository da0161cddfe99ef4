"""Checks whether a model's density integrates to 1, and for flows whether the inverse map and the determinant are
right.

    int p(x) dx = 1                                                                                        (1)
    E_{x ~ samples} r(x) / p(x) = 1    for every density r that vanishes where p does                      (2)
    f(f^-1(x)) = x,    log |det| = log |det of the Jacobian by differentiation|                            (3)

(1) uses the trapezoidal rule in one or two dimensions. (2) is for more dimensions, with a narrow Gaussian in the middle
of the samples as r. A log density with a wrong constant or a wrong sign fails both.

Hypotheses: (1) the box contains the samples with a margin; (2) the samples come from the model.
References: [rezende2015variational] for (3), [gelfand1994bayesian] for (2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import erf, log, nan, pi, sqrt
from typing import Any

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.results import Axis, Bars, Finding, Interval, Plot, Result, Value
from gnomon.findings import generative as kinds
from gnomon.generative.instruments.draws import distribution_of, draw_samples, log_density_of

__all__ = ["DensityCheck", "flow_density_check"]

INTEGRAL_TOLERANCE = 0.01
"""Allowed difference of the integral over a box from 1: mass outside the box, and the grid error."""
DIFFERENT_FROM_ONE_Z = 5.0
"""Number of standard errors at which an estimated integral differs from 1."""
ROUND_TRIP_TOLERANCE = 1e-3
"""Allowed relative distance between a point and its image after a round trip."""
MAX_GRID_POINTS_PER_AXIS = 1000
"""Number of grid points in each dimension at which refinement stops."""
POINTS_PER_TILE = 2**16
"""Number of grid points evaluated at once."""


@dataclass(frozen=True, slots=True)
class DensityCheck(Result):
    """Result: the integral of a model's density, and for flows the errors of the inverse map and the log determinant.

    The last two are NaN if the model exposes no maps (``forward`` and ``inverse`` with log determinants, or zuko's
    ``transform``).

    >>> DensityCheck(Value("integral", 1.0), 1e-7, 0.0, True).integrates_to_one
    True
    """

    integral: Value
    round_trip: float
    log_determinant: float
    exact_sum: bool

    @property
    def integrates_to_one(self) -> bool:
        """Returns whether the model's density integrates to 1 within the numerical error."""
        interval = self.integral.interval
        return abs(float(self.integral.value) - 1) <= INTEGRAL_TOLERANCE if interval is None else 1.0 in interval

    @property
    def verdict(self) -> str:
        """States whether the model's density is valid, that is, integrates to 1."""
        detail = f"its integral is {self.integral}"
        back = "" if self.round_trip != self.round_trip else f", and the round-trip error is {self.round_trip:.1e}"
        return (
            f"The function is not a probability density: {detail}{back}."
            if self.findings
            else f"The density is valid: {detail}{back}."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns findings about a wrong integral, a map that is not invertible, or a wrong determinant."""
        listed = []
        if not self.integrates_to_one:
            listed.append(Finding(kinds.DENSITY_NOT_NORMALIZED, "", {"integral": self.integral}, (self.integral,)))
        if self.round_trip > ROUND_TRIP_TOLERANCE:
            listed.append(
                Finding(kinds.FLOW_NOT_INVERTIBLE, "", {"error": self.round_trip}, (Value("error", self.round_trip),))
            )
        if self.log_determinant > ROUND_TRIP_TOLERANCE * 10:
            error = self.log_determinant
            listed.append(Finding(kinds.LOG_DETERMINANT_WRONG, "", {"error": error}, (Value("error", error),)))
        return tuple(listed)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the integral of the model's density next to 1, the correct value."""
        bars = Bars("integral", ("measured", "density"), (float(self.integral.value), 1.0))
        return (Plot("Integral of the density", (bars,), Axis("integral"), caption=self.verdict),)


@add_call_to_errors
def flow_density_check(model: Any, *, samples: int = 2000, grid: int = 300, seed: int = 0) -> DensityCheck:
    """Checks that a model's density integrates to 1 and, for a flow, that its maps and determinants are correct.

        int p(x) dx = 1                                                                                    (1)

    Args:
        model: one of `gnomon.generative`, a distribution of torch or of zuko, or a zuko flow.
        samples: number of samples of the model, used to find its mass.
        grid: number of points in each of one or two dimensions, refined if they do not resolve the density; in more
            dimensions (2) of the module is used.
        seed: random seed of the samples.

    Hypotheses: see the module. Reference: [rezende2015variational].
    Cost: grid^d densities, or one for each sample; Jacobians of ten points for flows.

    >>> p = torch.distributions.MultivariateNormal(torch.zeros(2).double(), torch.eye(2).double())
    >>> round(flow_density_check(p).integral.value, 4)
    1.0
    """
    n = check_integer("samples", samples, least=100)
    log_prob = log_density_of(model)
    x = draw_samples(model, n, seed=seed)
    flat = x.flatten(1)
    few = flat.shape[1] <= 2
    integral = _on_grid(log_prob, x, check_integer("grid", grid, least=10)) if few else _by_samples(log_prob, x)
    back, off = _maps(model, x[:10])
    return DensityCheck(integral, back, off, few)


def _on_grid(log_prob: Any, x: Tensor, grid: int) -> Value:
    """Integrates the model's density on a grid over a box twice the size of the samples' range.

    If the sum over every second point differs, the grid is too coarse for the density and is refined.
    """
    flat = x.flatten(1).double()
    low, high = flat.amin(0), flat.amax(0)
    wide = (high - low).clamp(min=1e-6) / 2
    d, size = flat.shape[1], grid | 1  # An odd number of points, so that every second point is a grid of equal ends.
    while True:
        axes = [torch.linspace(float(a), float(b), size, dtype=torch.float64)
                for a, b in zip(low - wide, high + wide, strict=True)]  # fmt: skip
        cell = float(((high - low + 2 * wide) / (size - 1)).prod())
        places = torch.cartesian_prod(*axes).reshape(-1, d).to(x.dtype).reshape(-1, *x.shape[1:])
        values = torch.cat([log_prob(part).double().exp() for part in places.split(POINTS_PER_TILE)]).reshape(
            [size] * d
        )
        total, coarse = float(values.sum()) * cell, float(values[(slice(None, None, 2),) * d].sum()) * cell * 2**d
        if not abs(total - coarse) > INTEGRAL_TOLERANCE or size >= MAX_GRID_POINTS_PER_AXIS:
            return Value("integral", total)  # (1)
        size = 2 * size - 1


def _by_samples(log_prob: Any, x: Tensor) -> Value:
    """Estimates the integral of the model's density by importance sampling from a Gaussian fitted to the samples."""
    flat = x.flatten(1).double()
    d = flat.shape[1]
    values, vectors = torch.linalg.eigh(torch.cov(flat.T) / 4 + 1e-12 * torch.eye(d, dtype=torch.float64))
    z = (flat - flat.mean(0)) @ vectors / values.sqrt()
    inner = -(z.square().sum(1) + d * log(2 * pi) + values.log().sum()) / 2
    weights = (inner - log_prob(x).double()).exp()  # (2)
    mean, error = float(weights.mean()), DIFFERENT_FROM_ONE_Z * float(weights.std()) / len(x) ** 0.5
    confidence = erf(DIFFERENT_FROM_ONE_Z / sqrt(2))
    return Value("integral", mean, Interval(mean - error, mean + error, confidence), "estimate")


def _maps(model: Any, x: Tensor) -> tuple[float, float]:
    """Returns the errors of a flow's inverse map and of its log determinant; NaN for models that are not flows.

    See equation (3) of the module docstring.
    """
    pair = _both_ways(model)
    if pair is None:
        return nan, nan
    there, back = pair
    with torch.no_grad():
        z, log_det = there(x)
        off = float((back(z) - x).abs().max() / x.abs().max().clamp(min=1.0))
    shape = x.shape[1:]
    slopes = vmap(jacrev(lambda point: there(point.reshape(1, *shape))[0].flatten()))(x.flatten(1))
    return off, float((torch.linalg.slogdet(slopes)[1] - log_det).abs().max().detach())  # (3)


def _both_ways(model: Any) -> tuple[Callable[[Tensor], tuple[Tensor, Tensor]], Callable[[Tensor], Tensor]] | None:
    """Returns a flow's map from examples to noise, with log determinant, and the inverse map; None for other models."""
    if hasattr(model, "inverse") and hasattr(model, "forward") and hasattr(model, "transforms"):
        return model.inverse, lambda z: model.forward(z)[0]
    made = distribution_of(model)
    maps = getattr(made, "transform", None)  # The flows of the library zuko store the map from examples to noise here.
    if maps is None or not hasattr(maps, "inv") or not hasattr(maps, "log_abs_det_jacobian"):
        return None

    def there(x: Tensor) -> tuple[Tensor, Tensor]:
        z = maps(x)
        return z, maps.log_abs_det_jacobian(x, z)

    return there, maps.inv
