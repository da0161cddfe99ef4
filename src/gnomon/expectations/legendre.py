"""Computes Legendre polynomials and Gauss nodes, and how well a polynomial fits a function on an interval.

The tables are made once, at import, and never written to.

>>> round(float((GAUSS[1] * GAUSS[0] ** 10).sum()), 12) == round(2 / 11, 12)       # Gauss is exact on x^10
True
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.expectations.functions import Elementwise

GAUSS_NODES = 20
"""Number of nodes of the Gauss rule."""
SAMPLE_NODES = 16
"""Number of nodes at which functions are sampled."""


def _gauss(n: int) -> tuple[Tensor, Tensor]:
    x, w = np.polynomial.legendre.leggauss(n)
    return torch.from_numpy(x), torch.from_numpy(w)


GAUSS = _gauss(GAUSS_NODES)
"""Gauss nodes and weights on [-1, 1], exact to degree 39."""


def _transform() -> Tensor:
    """Returns the matrix that converts a function's values at the Gauss nodes to its Legendre coefficients."""
    x, w = np.polynomial.legendre.leggauss(SAMPLE_NODES)
    return torch.from_numpy(
        np.polynomial.legendre.legvander(x, SAMPLE_NODES - 1) * w[:, None] * (np.arange(SAMPLE_NODES) + 0.5)
    )


def _powers() -> Tensor:
    """Returns the coefficients of the Legendre polynomials in powers of x, one polynomial per row."""
    rows = np.zeros((SAMPLE_NODES, SAMPLE_NODES))
    for k in range(SAMPLE_NODES):
        rows[k, : k + 1] = np.polynomial.legendre.leg2poly(np.eye(SAMPLE_NODES)[k, : k + 1])
    return torch.from_numpy(rows)


SAMPLE = _gauss(SAMPLE_NODES)
TRANSFORM = _transform()
POWERS = _powers()

# Slightly inside [-1, 1], because a function that jumps at an end may take its value there from beyond the jump.
ENDS = torch.tensor([2.0**-29 - 1, 1 - 2.0**-29], dtype=torch.float64)
AT_ENDS = torch.from_numpy(np.polynomial.legendre.legvander(ENDS.numpy(), SAMPLE_NODES - 1).T.copy())


def panels(edges: Float[Tensor, "*batch edges"], rule: tuple[Tensor, Tensor] = GAUSS) -> tuple[Tensor, Tensor]:
    """Returns nodes and weights of a quadrature rule on every interval between edges, for all intervals in one vector.

    Hypotheses: edges ascend along the last axis; intervals of width zero get weight zero.
    Cost: one node per interval and node of the rule.

    >>> x, w = panels(torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64))
    >>> round(float((w * x**2).sum()), 12)           # 64 / 3
    21.333333333333
    """
    nodes, weights = (t.to(edges.device) for t in rule)
    half = ((edges[..., 1:] - edges[..., :-1]) / 2).unsqueeze(-1)
    middle = ((edges[..., 1:] + edges[..., :-1]) / 2).unsqueeze(-1)
    return (middle + half * nodes).flatten(-2), (half * weights).flatten(-2)


def misfit(function: Elementwise, left: Tensor, right: Tensor) -> Float[Tensor, " n"]:
    """Returns for each interval the estimated error of a polynomial of degree 15 that interpolates a function.

    The largest of its three highest Legendre coefficients and of its errors at the ends, which no Gauss point sees.
    Cost: 18 evaluations per interval.

    >>> zero, one = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    >>> bool(misfit(torch.exp, zero, one) < 1e-13), bool(misfit(torch.abs, zero - 1, one) > 1e-3)
    (True, True)
    """
    return _expansion(function, left, right)[1]


def misfit_of_union(function: Elementwise, left: Tensor, cut: Tensor, right: Tensor) -> Float[Tensor, " n"]:
    """Returns the estimated error of one polynomial fitted to a function on [left, right], checked on both sides of
    ``cut``.

    A wide interval whose samples all miss a narrow feature fits well; the samples of its parts do not miss it.
    Cost: 50 evaluations per interval.

    >>> far, near, end = (torch.full((1,), x, dtype=torch.float64) for x in (-2000.0, -1.0, -0.1))
    >>> bool(misfit_of_union(torch.tanh, far, near, end) > 0.1)
    True
    """
    coefficients, worst = _expansion(function, left, right)
    points = torch.cat([samples(left, cut), samples(cut, right)], 1)
    x = (2 * points - (left + right)[:, None]) / (right - left)[:, None]
    return torch.maximum(worst, (_series(coefficients, x) - function(points)).abs().amax(-1))


def samples(left: Tensor, right: Tensor) -> Float[Tensor, "n samples"]:
    """Returns the 16 Gauss quadrature points in each interval from left to right.

    >>> samples(torch.zeros(3), torch.ones(3)).shape
    torch.Size([3, 16])
    """
    return (left + right)[:, None] / 2 + (right - left)[:, None] / 2 * SAMPLE[0].to(left)


def powers(values: Float[Tensor, "*n samples"], degree: int = SAMPLE_NODES - 1) -> Float[Tensor, "*n samples"]:
    """Converts values at the 16 Gauss points to the coefficients of a polynomial in powers of x on [-1, 1].

    Of a lower ``degree``, the polynomial nearest in mean square. Cost: none.

    >>> powers(SAMPLE[0] ** 2)[:4].abs() > 1e-9
    tensor([False, False,  True, False])
    """
    few = degree + 1
    return values @ TRANSFORM[:, :few].to(values) @ POWERS[:few].to(values)


def _expansion(function: Elementwise, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the Legendre coefficients of a function on each interval, and the error of this polynomial fit."""
    middle, half = (left + right)[:, None] / 2, (right - left)[:, None] / 2
    values = function(middle + half * torch.cat([SAMPLE[0], ENDS]).to(left))
    coefficients = values[:, :SAMPLE_NODES] @ TRANSFORM.to(left)
    error = (values[:, SAMPLE_NODES:] - coefficients @ AT_ENDS.to(left)).abs().amax(1)
    return coefficients, torch.maximum(error, coefficients[:, -3:].abs().amax(1))


def _series(coefficients: Tensor, x: Tensor) -> Tensor:
    """Returns the sum of Legendre polynomials at x, by Horner's scheme; accurate if the coefficients decay."""
    powers = coefficients @ POWERS.to(x)
    total = powers[:, -1:]
    for k in reversed(range(SAMPLE_NODES - 1)):
        total = torch.addcmul(powers[:, k : k + 1], total, x)
    return total
