"""Many double integrals from few: Chebyshev interpolation in both log variances and the angle.

For pairs of corners that meet at the origin the normalized integral is analytic in (log a, log b, t), cos t = |rho|, up
to t = 0, where it is not in rho. A box that holds all pairs is sampled at Chebyshev points; if the coefficients have
not decayed at the ends, the box is halved along its worst side, until it holds too few pairs to be worth it.

Hypotheses: coefficients that decay below 1e-10 at the last two orders of each side continue to decay.
Cost: 1700 double integrals per box, then 1700 multiplications per pair.
"""

from dataclasses import dataclass
from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.kernels.duals.numeric.line import Sampler, second_moment
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
    """E[f(u) g(v)] for pairs of standard deviations and correlations, to a small part of ``scale``.

    Hypotheses and cost: see the module.

    >>> t = torch.linspace(0.001, 0.1, 1000, dtype=torch.float64)
    >>> step, one = Sampler(lambda x: (x > 0).double(), t.device), torch.ones_like(t)
    >>> bool(torch.allclose(double_integrals(step, step, one, one, t.cos(), one), (pi - t) / (2 * pi), atol=1e-9))
    True
    """
    place = torch.stack([root_a.log(), root_b.log(), rho.abs().acos()], 1)
    result = torch.empty_like(rho)
    boxes = [rows for rows in ((rho >= 0).nonzero()[:, 0], (rho < 0).nonzero()[:, 0]) if len(rows)]
    while boxes:
        rows = boxes.pop()
        box = _box(place[rows])
        if len(rows) < WORTH * box.size:
            result[rows] = ridge(f, g, root_a[rows], root_b[rows], rho[rows], scale[rows])
            continue
        coefficients = _coefficients(f, g, box, 1.0 if rho[rows[0]] >= 0 else -1.0)
        worst = torch.stack([coefficients.movedim(side, 0)[-2:].abs().amax() for side in range(3)])
        worst[[n == 1 for n in box.orders]] = 0.0
        if bool((worst <= DECAYED).all()):
            result[rows] = _evaluated(coefficients, box, place[rows]) * scale[rows]
        else:
            side = int(worst.argmax())
            low = place[rows, side] < box.middle[side]
            boxes += [rows[low], rows[~low]]
    return result


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


def _coefficients(f: Sampler, g: Sampler, box: _Box, sign: float) -> Float[Tensor, "i j k"]:
    """Chebyshev coefficients of the normalized integral on a box."""
    points = [torch.cos((torch.arange(n, dtype=torch.float64) + 0.5) * (pi / n)).to(box.half) for n in box.orders]
    sides = [m + h * p for m, h, p in zip(box.middle, box.half, points, strict=True)]
    second_a, second_b = second_moment(f, sides[0].exp()), second_moment(g, sides[1].exp())
    scale = (second_a[:, None, None] * second_b[None, :, None]).sqrt().expand(box.orders).flatten()
    log_a, log_b, angle = (t.flatten() for t in torch.meshgrid(*sides, indexing="ij"))
    value = ridge(f, g, log_a.exp(), log_b.exp(), sign * angle.cos(), scale) / scale
    coefficients = value.view(box.orders)
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
