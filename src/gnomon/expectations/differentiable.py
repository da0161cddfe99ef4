"""Computes Gaussian expectations that autograd can differentiate any number of times.

If f jumps by J_i at k_i, let f' stand for the measure f' + sum_i J_i delta(k_i). Then

    d/dc E[f(u) g(v)] = E[f'(u) g'(v)]                                    (1)
    d/da E[f(u) g(v)] = (E[u f'(u) g(v)] - c E[f'(u) g'(v)]) / (2 a)      (2)
    d/da E[f(u)]      = E[u f'(u)] / (2 a)                                (3)

(1) is Price's theorem; (2) and (3) hold because scaling u by s moves a to s^2 a and c to s c. If a = 0 they are
f''(0) E[g(v)] / 2 and f''(0) / 2. A jump contributes to (1)

    J_i N(k_i; 0, a) E[g'(v) | u = k_i]   and, with a jump J_j at k_j of g,   J_i J_j N(k_i, k_j; a, b, c)        (4)

Derivatives of f are torch's. What is infinite, a jump met by a jump at rho = +-1, counts zero.
Reference: [daniely2016toward], section 4.
Cost: a gradient costs three expectations.
"""

from math import pi
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from gnomon.core.errors import add_call_to_errors
from gnomon.expectations.expectation import expectation
from gnomon.expectations.functions import Derivative, Elementwise, InputTimesDerivative, SquaredFunction
from gnomon.expectations.legendre import panels
from gnomon.expectations.line import RADII, Sampler, mean, second_moment
from gnomon.expectations.polar import norm_and_angle, sqrt_with_zero_gradient

MAX_DEVIATIONS = 8.0
"""Standard deviations up to which conditional expectations are integrated."""
EXPECTATIONS_PER_BLOCK = 2**12  # number of conditional expectations that are computed in one block


@add_call_to_errors
def expectation_of_product(f: Elementwise, g: Elementwise, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Returns E[f(u) g(v)] for Gaussian (u, v) with variances a, b and covariance c.

    Hypotheses: float64; f and g piecewise analytic. Cost: see expectation.

    >>> c = torch.full((), 0.5, dtype=torch.float64, requires_grad=True)
    >>> one = torch.ones((), dtype=torch.float64)
    >>> expectation_of_product(torch.square, torch.square, one, one, c).backward()
    >>> round(float(c.grad), 9)                                       # 1 + 2 c^2 has slope 4 c
    2.0
    """
    result: Tensor = _Pair.apply(a, b, c, f, g)
    return result


@add_call_to_errors
def expectation_of_one(f: Elementwise, a: Tensor) -> Tensor:
    """Returns E[f(u)] for a Gaussian u with variance a.

    Hypotheses: float64; f piecewise analytic. Cost: 400 evaluations per variance.

    >>> round(float(expectation_of_one(torch.square, torch.full((), 3.0, dtype=torch.float64))), 12)
    3.0
    """
    result: Tensor = _Single.apply(a, f)
    return result


class _Pair(Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, c: Tensor, f: Elementwise, g: Elementwise) -> Tensor:
        ctx.save_for_backward(a, b, c)
        ctx.functions = f, g
        left = _with_remembered_cuts(f)
        return expectation(left, left if f is g else _with_remembered_cuts(g), a, b, c)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        a, b, c = ctx.saved_tensors
        f, g = ctx.functions
        need_a, need_b, need_c, _, _ = ctx.needs_input_grad
        slope = _slope(f, g, a, b, c)  # (1)
        to_a = (gradient * _spread(f, g, a, b, c, slope)).sum_to_size(a.shape) if need_a else None
        to_b = (gradient * _spread(g, f, b, a, c, slope)).sum_to_size(b.shape) if need_b else None
        to_c = (gradient * slope).sum_to_size(c.shape) if need_c else None
        return to_a, to_b, to_c, None, None


class _Single(Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, f: Elementwise) -> Tensor:
        ctx.save_for_backward(a)
        ctx.function = f
        values, index = a.clamp(min=0).unique(return_inverse=True)
        # If both functions are the same, uses the same method as `expectation`, so that both results are identical.
        if isinstance(f, SquaredFunction):
            found = second_moment(_with_remembered_cuts(f.function), values.sqrt().cpu())
        else:
            found = mean(_with_remembered_cuts(f), values.sqrt().cpu())
        return found.to(a.device)[index].view(a.shape)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (a,), f = ctx.saved_tensors, ctx.function
        moved = expectation_of_one(InputTimesDerivative(f), a)
        for k, jump in _jumps(f, a):
            moved = moved + k * jump * _density(k, a)
        return gradient * torch.where(a > 0, moved / (2 * torch.where(a > 0, a, 1)), _curvature(f, a)), None  # (3)


def _with_remembered_cuts(f: Elementwise) -> Sampler:
    """Wraps a function so that the points at which the function is not smooth are found only once."""
    return f if isinstance(f, Sampler) else Sampler(f)


def _slope(f: Elementwise, g: Elementwise, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Returns the derivative of E[f(u) g(v)] with respect to the covariance c, including jumps of f and g.

    See equations (4) and (1) of the module docstring.
    """
    f_prime = Derivative(f)
    g_prime = f_prime if f is g else Derivative(g)
    total = expectation_of_product(f_prime, g_prime, a, b, c)
    of_f, of_g = _jumps(f, a), _jumps(g, b)
    for k, jump in of_f:
        total = total + jump * _density(k, a) * _conditional(g_prime, k, a, b, c)  # (4)
        for m, other in of_g:
            total = total + jump * other * _joint_density(k, m, a, b, c)  # (4)
    for k, jump in of_g:
        total = total + jump * _density(k, b) * _conditional(f_prime, k, b, a, c)  # (4)
    return total


def _spread(f: Elementwise, g: Elementwise, a: Tensor, b: Tensor, c: Tensor, slope: Tensor) -> Tensor:
    """Returns the derivative of E[f(u) g(v)] with respect to the variance a.

    See equation (2) of the module docstring.
    """
    moved = expectation_of_product(InputTimesDerivative(f), g, a, b, c) - c * slope
    for k, jump in _jumps(f, a):
        moved = moved + k * jump * _density(k, a) * _conditional(g, k, a, b, c)
    still = _curvature(f, a) * expectation_of_one(g, b)
    return torch.where(a > 0, moved / (2 * torch.where(a > 0, a, 1)), still)


def _jumps(f: Elementwise, a: Tensor) -> list[tuple[float, float]]:
    """Returns positions and heights of the jumps of f in the range of Gaussians with these variances."""
    reach = RADII[0] * float(a.detach().max().clamp(min=0)) ** 0.5
    if reach == 0:
        return []
    pieces = _with_remembered_cuts(f).pieces(reach / RADII[0], reach)
    some = pieces.jump != 0
    return list(zip(pieces.cuts[some].tolist(), pieces.jump[some].tolist(), strict=True))


def _curvature(f: Elementwise, a: Tensor) -> Tensor:
    """Returns f''(0) / 2 for a function f; zero if torch finds no second derivative."""
    return torch.nan_to_num(Derivative(Derivative(f))(a.new_zeros(1)), 0.0, 0.0, 0.0)[0].detach() / 2


def _density(k: float, a: Tensor) -> Tensor:
    """Returns the density at k of a Gaussian with mean zero and variance a; zero for zero variance."""
    safe = torch.where(a > 0, a, 1)
    return torch.where(a > 0, torch.exp(-(k * k) / (2 * safe)) / (2 * pi * safe).sqrt(), 0)


def _joint_density(k: float, m: float, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Returns the joint density at (k, m) of two Gaussian variables with variances a, b and covariance c; zero if
    singular.
    """
    p = norm_and_angle(a, b, c)
    regular = (p.norm > 0) & (p.sine > 0)
    x, y = k / torch.where(a > 0, a, 1).sqrt(), m / torch.where(b > 0, b, 1).sqrt()
    square = torch.where(regular, p.sine, 1) ** 2
    exponent = ((x - y) ** 2 + 2 * (1 - p.cosine) * x * y) / (2 * square)
    scale = 2 * pi * torch.where(regular, p.norm, 1) * square.sqrt()
    return torch.where(regular, torch.exp(-exponent) / scale, 0)


def _conditional(g: Elementwise, k: float, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Returns E[g(v) | u = k] for Gaussian u and v, integrated between the corners (kinks and jumps) of the
    function g.
    """
    p = norm_and_angle(a, b, c)
    middle = (
        (p.cosine * sqrt_with_zero_gradient(b) * k / torch.where(a > 0, a, 1).sqrt())
        .expand(p.sine.shape)
        .reshape(-1, 1)
    )
    spread = (p.sine * sqrt_with_zero_gradient(b)).expand(p.sine.shape).reshape(-1, 1)
    reach = float(middle.detach().abs().max() + MAX_DEVIATIONS * spread.detach().max())
    cuts = _with_remembered_cuts(g).pieces(reach / MAX_DEVIATIONS, reach).cuts.to(a) if reach > 0 else a.new_zeros(0)
    grid = torch.arange(-MAX_DEVIATIONS, MAX_DEVIATIONS + 1, 2, dtype=a.dtype, device=a.device)
    parts = []
    for m, s in zip(middle.split(EXPECTATIONS_PER_BLOCK), spread.split(EXPECTATIONS_PER_BLOCK), strict=True):
        moving = ((cuts - m) / s.clamp(min=1e-30)).clamp(-MAX_DEVIATIONS, MAX_DEVIATIONS)
        z, weight = panels(torch.cat([grid.expand(len(m), -1), moving], 1).sort(1).values)
        parts.append((g(m + s * z) * torch.exp(z * z * -0.5) * weight).sum(1) / (2 * pi) ** 0.5)
    return torch.cat(parts).view(p.sine.shape)
