"""Monotone splines (rational quadratic), and invertible maps of points made of them.

Between knots (x_k, y_k) with slopes d_k > 0, w = (x - x_k) / (x_{k+1} - x_k) and s = (y_{k+1} - y_k) / (x_{k+1} - x_k),

    y = y_k + (y_{k+1} - y_k) (s w^2 + d_k w (1 - w)) / (s + (d_{k+1} + d_k - 2 s) w (1 - w))              (1)
    dy/dx = s^2 (d_{k+1} w^2 + 2 s w (1 - w) + d_k (1 - w)^2) / (s + (d_{k+1} + d_k - 2 s) w (1 - w))^2    (2)

and outside [-bound, bound] the map is the identity. The inverse is the root of a quadratic equation.

Hypotheses: increasing knots, positive slopes. Reference: [gregory1982piecewise], [durkan2019neural].
"""

from math import exp, log

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, softplus

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.generative.flows.coupling import AbstractCoupling

__all__ = ["SplineCoupling", "rational_spline", "rational_spline_inverse"]

MIN_BIN_SHARE = 1e-3
"""Smallest width and height of a bin relative to the whole, and the smallest slope."""
MAX_LOGIT = 60.0
"""Limit for logits of widths and heights: their exponential is far from overflow."""
UNIT = log(exp(1 - MIN_BIN_SHARE) - 1)
"""softplus(UNIT) + LEAST = 1: with this, zero outputs of a network give the identity."""


@add_call_to_errors
def rational_spline(x: Tensor, options: Tensor, *, bound: float = 5.0) -> tuple[Tensor, Tensor]:
    """Applies a monotone spline to each number; also returns the logarithm of the spline's slope there.

        y = y_k + (y_{k+1} - y_k) (s w^2 + d_k w (1 - w)) / (s + (d_{k+1} + d_k - 2 s) w (1 - w))          (1)

    Args:
        x: numbers of any shape.
        options: 3 k - 1 free numbers for each number of x: k widths, k heights and k - 1 slopes of pieces. If they lack
            the first dimensions of x, they are shared along these.
        bound: outside [-bound, bound] the map is the identity.

    Hypotheses: see the module. Reference: [durkan2019neural].
    Cost: k operations for each number.

    >>> y, log_slope = rational_spline(torch.tensor([0.5, 9.0]), torch.zeros(2, 11))
    >>> torch.allclose(y, torch.tensor([0.5, 9.0]), atol=1e-5), bool(log_slope.abs().max() < 1e-4)
    (True, True)
    """
    return spline(*_check(x, options), bound=bound)


@add_call_to_errors
def rational_spline_inverse(y: Tensor, options: Tensor, *, bound: float = 5.0) -> tuple[Tensor, Tensor]:
    """Applies the inverse of `rational_spline` to each number; also returns the logarithm of the inverse's slope.

    Cost: k operations for each number.

    >>> options = torch.randn(100, 11).double()
    >>> x = torch.linspace(-5, 5, 100).double()
    >>> torch.allclose(rational_spline_inverse(rational_spline(x, options)[0], options)[0], x)
    True
    """
    return spline_inverse(*_check(y, options), bound=bound)


def spline(x: Tensor, options: Tensor, *, bound: float) -> tuple[Tensor, Tensor]:
    """Applies a monotone spline to each number, without checking the numbers first."""
    inside, u = x.abs() < bound, x.clamp(-bound, bound) / (2 * bound) + 0.5
    p = _piece(u, options, 0)
    w = (u - p.x) / p.width
    below = p.s + (p.d1 + p.d0 - 2 * p.s) * w * (1 - w)
    y = p.y + p.height * (p.s * w.square() + p.d0 * w * (1 - w)) / below  # (1)
    return torch.where(inside, bound * (2 * y - 1), x), torch.where(inside, p.log_slope(w), torch.zeros_like(x))


def spline_inverse(y: Tensor, options: Tensor, *, bound: float) -> tuple[Tensor, Tensor]:
    """Applies the inverse of a monotone spline to each number, without checking the numbers first."""
    inside, v = y.abs() < bound, y.clamp(-bound, bound) / (2 * bound) + 0.5
    p = _piece(v, options, 1)
    up = v - p.y
    bend = p.d1 + p.d0 - 2 * p.s
    a = p.height * (p.s - p.d0) + up * bend
    b = p.height * p.d0 - up * bend
    c = -p.s * up
    w = 2 * c / (-b - (b.square() - 4 * a * c).clamp(min=0).sqrt())
    x = p.x + w * p.width
    return torch.where(inside, bound * (2 * x - 1), y), torch.where(inside, -p.log_slope(w), torch.zeros_like(y))


def _check(x: Tensor, options: Tensor) -> tuple[Tensor, Tensor]:
    if not bool(x.isfinite().all() & options.isfinite().all()):
        raise NotFiniteError("x or options contain NaN or infinity", accepted="finite numbers", fix="Remove them")
    shared = options.dim() - 1
    if shared > x.dim() or options.shape[:-1] != x.shape[x.dim() - shared :] or options.shape[-1] % 3 != 2:
        found = f"x has shape {tuple(x.shape)} and options {tuple(options.shape)}"
        fix = f"Pass options of shape ({', '.join(map(str, x.shape))}, 3 k - 1)"
        raise InputError(found, accepted="3 k - 1 numbers for each number of x", fix=fix)
    return x, options


class _Piece:
    """The segment of a spline that contains each number: its corner points, and the slopes at both ends."""

    __slots__ = ("d0", "d1", "height", "s", "width", "x", "y")

    def __init__(self, *parts: Tensor) -> None:
        self.x, self.width, self.y, self.height, self.d0, self.d1 = parts
        self.s = self.height / self.width

    def log_slope(self, w: Tensor) -> Tensor:
        """Returns the logarithm of the spline's slope at position w (from 0 to 1) within the segment.

        See equation (2) of the module docstring.
        """
        below = self.s + (self.d1 + self.d0 - 2 * self.s) * w * (1 - w)
        above = self.d1 * w.square() + 2 * self.s * w * (1 - w) + self.d0 * (1 - w).square()
        return 2 * self.s.log() + above.log() - 2 * below.log()  # (2)


def _piece(value: Tensor, options: Tensor, side: int) -> _Piece:
    """Finds the spline segments that contain numbers in [0, 1], along x (side 0) or y (side 1).

    Sums of widths and heights before each knot are one product with a triangular matrix, and only the two knots next to
    a number get their slopes: softmax and cumsum over few numbers are slow, and their gradients are slower.
    """
    k = (options.shape[-1] + 1) // 3
    share, steps = 1 - MIN_BIN_SHARE * k, torch.arange(k + 1, dtype=options.dtype, device=options.device)
    before = (steps[:-1, None] < steps[None, :]).to(options)
    sums = options[..., : 2 * k].clamp(-MAX_LOGIT, MAX_LOGIT).exp().unflatten(-1, (2, k)) @ before
    total = sums[..., -1:]
    with torch.no_grad():
        inner = MIN_BIN_SHARE * steps[1:-1] + share * (sums[..., side, 1:-1] / total[..., side, :])
        index = (value[..., None] >= inner).sum(-1, keepdim=True)
        both = torch.cat([index, index + 1], -1)
    near = both[..., None, :].expand(*both.shape[:-1], 2, 2)
    # Bin indices are converted first, because an integer tensor times a float gives float32 in any case.
    ends = MIN_BIN_SHARE * near.to(options) + share * (sums.expand(*near.shape[:-1], k + 1).gather(-1, near) / total)
    (x, x1), (y, y1) = (part.unbind(-1) for part in ends.unbind(-2))
    slopes = pad(options[..., 2 * k :], (1, 1)).expand(*both.shape[:-1], k + 1).gather(-1, both)
    d0, d1 = (MIN_BIN_SHARE + softplus(slopes + UNIT)).unbind(-1)
    return _Piece(x, x1 - x, y, y1 - y, d0, d1)


class SplineCoupling(AbstractCoupling):
    """Invertible map that transforms part of the coordinates by splines computed from the others.

    See equation (1) of the module docstring.
    The network returns 3 bins - 1 numbers for each changing coordinate. The fixed coordinates pass through splines as
    well, whose parameters (``own``) are learned constants, so each map also fits the distribution of every coordinate.

    >>> from gnomon.generative.flows.coupling import alternating_mask, coupling_network
    >>> layer = SplineCoupling(coupling_network(1, 3 * 8 - 1), alternating_mask(2, 0))
    >>> torch.allclose(layer(torch.ones(1, 2))[0], torch.ones(1, 2), atol=1e-4)
    True
    """

    @add_call_to_errors
    def __init__(self, network: nn.Module, stays: Tensor, *, bins: int = 8, bound: float = 5.0) -> None:
        super().__init__(network, stays)
        self.outputs = 3 * check_integer("bins", bins, least=2) - 1
        self.bound = check_number("bound", bound, above=0)
        self.own = nn.Parameter(torch.zeros(len(self.kept), self.outputs))

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        kept, first = spline_inverse(z[:, self.kept], self.own, bound=self.bound)
        changed, logs = spline_inverse(z[:, self.changing], self.options(kept), bound=self.bound)
        return self.join_coordinates(kept, changed), first.sum(1) + logs.sum(1)

    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        given = x[:, self.kept]
        options = torch.cat([self.own.expand(len(x), -1, -1), self.options(given)], 1)
        # Fixed and changing coordinates go through the spline in one call.
        z, logs = spline(torch.cat([given, x[:, self.changing]], 1), options, bound=self.bound)
        return z[:, self.order], logs.sum(1)
