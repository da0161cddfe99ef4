"""Many double integrals from few: Chebyshev interpolation.

With cos t = |rho|, the normalized integral is analytic in

    log sqrt(a), log sqrt(b), t                                                                 (1)

up to t = 0, where it is not in rho, if corners lie at the origin. Corners at one place x of f and g meet as t and
d = log sqrt(a / b) vanish together; there it is smooth, as exp(-(x d / t)^2) is, in the polar coordinates

    s = log (a b)^(1/4),   r = sqrt(d^2 + t^2),   theta = atan2(t, d)                           (2)

A box that holds all pairs is sampled at Chebyshev points. If the coefficients have not decayed at the ends, the box is
halved along its worst side, until it holds too few pairs to be worth it.

Hypotheses: coefficients that decay below 1e-10 at the last two orders of each side continue to decay.
Cost: 1700 double integrals per box, then 1700 multiplications per pair.
"""

from dataclasses import dataclass
from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.kernels.duals.numeric.line import RADII, Sampler, second_moment
from gnomon.kernels.duals.numeric.ridge import ridge

ORDER = 12  # points per side
DECAYED = 2e-10  # of sqrt(E[f^2] E[g^2])
WORTH = 3  # pairs per sample from which a table pays
AT_ONCE = 2**21


def double_integrals(
    f: Sampler,
    g: Sampler,
    root_a: Float[Tensor, " n"],
    root_b: Float[Tensor, " n"],
    rho: Float[Tensor, " n"],
    scale: Float[Tensor, " n"],
) -> Float[Tensor, " n"]:
    """E[f(u) g(v)] for pairs of standard deviations and correlations, given ``scale`` = sqrt(E[f^2] E[g^2]).

    Hypotheses and cost: see the module.

    >>> t = torch.linspace(0.001, 0.1, 1000, dtype=torch.float64)
    >>> step, one = Sampler(lambda x: (x > 0).double(), t.device), torch.ones_like(t)
    >>> bool(torch.allclose(double_integrals(step, step, one, one, t.cos(), one / 2), (pi - t) / (2 * pi), atol=1e-9))
    True
    """
    chart = _Polar() if _meeting(f, root_a) and _meeting(g, root_b) else _Straight()
    place = torch.stack(chart.place(root_a.log(), root_b.log(), rho.abs().acos()), 1)
    result = torch.empty_like(rho)
    boxes = [rows for rows in ((rho >= 0).nonzero()[:, 0], (rho < 0).nonzero()[:, 0]) if len(rows)]
    while boxes:
        rows = boxes.pop()
        box = _box(place[rows])
        if len(rows) < WORTH * box.size:
            result[rows] = ridge(f, g, root_a[rows], root_b[rows], rho[rows], scale[rows])
            continue
        coefficients = _coefficients(f, g, chart, box, 1.0 if rho[rows[0]] >= 0 else -1.0)
        worst = torch.stack([coefficients.movedim(side, 0)[-2:].abs().amax() for side in range(3)])
        worst[[n == 1 for n in box.orders]] = 0.0
        if bool((worst <= DECAYED).all()):
            result[rows] = _evaluated(coefficients, box, place[rows]) * scale[rows]
        else:
            side = int(worst.argmax())
            low = place[rows, side] < box.middle[side]
            boxes += [rows[low], rows[~low]]
    return result


class _Straight:
    """The coordinates (1)."""

    def place(self, log_a: Tensor, log_b: Tensor, t: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return log_a, log_b, t  # (1)

    def pair(self, log_a: Tensor, log_b: Tensor, t: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return log_a, log_b, t


class _Polar:
    """The coordinates (2)."""

    def place(self, log_a: Tensor, log_b: Tensor, t: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        d = log_a - log_b
        return (log_a + log_b) / 2, torch.hypot(d, t), torch.atan2(t, d)  # (2)

    def pair(self, s: Tensor, r: Tensor, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        d = r * theta.cos()
        return s + d / 2, s - d / 2, r * theta.sin()


def _meeting(f: Sampler, root: Tensor) -> bool:
    """Whether f has corners away from the origin."""
    return bool((f.pieces(RADII[0] * float(root.max())).hard != 0).any())


@dataclass(frozen=True, slots=True)
class _Box:
    """Middle and half width of each side, and how many points it gets (one if it is a point)."""

    middle: Float[Tensor, "3"]
    half: Float[Tensor, "3"]
    orders: tuple[int, ...]

    @property
    def size(self) -> int:
        return self.orders[0] * self.orders[1] * self.orders[2]


def _box(place: Float[Tensor, "n 3"]) -> _Box:
    low, high = place.amin(0), place.amax(0)
    half = (high - low) / 2
    return _Box((low + high) / 2, half, tuple(ORDER if h > 1e-12 else 1 for h in half.tolist()))


def _coefficients(f: Sampler, g: Sampler, chart: _Straight | _Polar, box: _Box, sign: float) -> Float[Tensor, "i j k"]:
    """Chebyshev coefficients of the normalized integral on a box."""
    points = [torch.cos((torch.arange(n, dtype=torch.float64) + 0.5) * (pi / n)).to(box.half) for n in box.orders]
    sides = [m + h * p for m, h, p in zip(box.middle, box.half, points, strict=True)]
    log_a, log_b, t = chart.pair(*(t.flatten() for t in torch.meshgrid(*sides, indexing="ij")))
    root_a, root_b, rho = log_a.exp(), log_b.exp(), sign * t.cos()
    scale = (second_moment(f, root_a) * second_moment(g, root_b)).sqrt()
    coefficients = (ridge(f, g, root_a, root_b, rho, scale) / scale).view(box.orders)
    for side, n in enumerate(box.orders):
        basis = _chebyshev(points[side], n) * (2.0 / n)
        basis[:, 0] /= 2
        coefficients = torch.tensordot(coefficients, basis, dims=([0], [0]))  # sides rotate: after three, as before
    return coefficients


def _evaluated(coefficients: Tensor, box: _Box, place: Tensor) -> Tensor:
    parts = []
    for x in ((place - box.middle) / box.half.clamp(min=1e-12)).split(AT_ONCE // box.size + 1):
        i, j, k = (_chebyshev(x[:, side], n) for side, n in enumerate(box.orders))
        value = (i @ coefficients.flatten(1)).view(len(x), *box.orders[1:])
        parts.append(((value * j[:, :, None]).sum(1) * k).sum(1))
    return torch.cat(parts)


def _chebyshev(x: Float[Tensor, " n"], order: int) -> Float[Tensor, "n order"]:
    return torch.cos(torch.arange(order, device=x.device) * x.clamp(-1, 1).acos()[:, None])
