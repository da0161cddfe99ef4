"""Operator norms of affine layers (dense, convolutional, normalization) for the actual size of their input.

    |A| = max |A v| / |v|,     |A|^2 the largest eigenvalue of A^T A                                          (1)

A convolution is treated as a linear map of its input, with its stride, dilation, groups and padding, at
the actual height and width; not as its reshaped weight.
Reference: [sedghi2019singular] on why the reshaped weight is another matrix; [golub2010matrices] for Lanczos.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.linalg.lanczos import top_eigenpairs
from gnomon.linalg.operator import AbstractOperator

__all__ = ["matrix_of", "operator_norm"]

AFFINE_TOLERANCE = 1e-6
"""Relative deviation from an affine map that is allowed; rounding is far below."""
MAX_DENSE_INPUTS = 1500
"""Inputs up to which the matrix is formed and its singular values are computed."""


class _Normal(AbstractOperator):
    """The operator A^T A of an affine layer with matrix A; its largest eigenvalue is the squared norm of A."""

    def __init__(self, function: Callable[[Tensor], Tensor], shape: Sequence[int], like: Tensor) -> None:
        self._function, self._shape, self._like = function, tuple(shape), like
        self._zero = torch.zeros(1, *shape).to(like)
        self._shift = function(self._zero).detach()

    @property
    def size(self) -> int:
        return int(self._zero.numel())

    @property
    def like(self) -> Tensor:
        return self._like.new_empty(0)

    def matvec(self, v: Tensor) -> Tensor:
        with torch.enable_grad():
            leaf = v.reshape(1, *self._shape).detach().requires_grad_()
            moved = self._function(leaf) - self._shift
            return torch.autograd.grad(moved, leaf, moved.detach())[0].flatten()


@add_call_to_errors
def operator_norm(layer: nn.Module | Callable[[Tensor], Tensor], shape: Sequence[int]) -> float:
    """Returns the largest factor by which an affine layer stretches an input of this shape (without batch axis).

    See equation (1) of the module docstring.
    Hypotheses: the layer is affine in its input, in eval mode.
    Reference: [sedghi2019singular].
    Cost: a singular value decomposition up to 1,500 inputs; above, about 40 to 200 forward and backward passes, to a
    relative error of 1e-8 with probability near one.

    >>> round(operator_norm(nn.Linear(2, 2, bias=False).requires_grad_(False), (2,)), 6) > 0
    True
    >>> mean = nn.AvgPool2d(2)
    >>> round(operator_norm(mean, (1, 4, 4)), 6)                                       # rows of length 1 / 2
    0.5
    """
    function = _double(layer)
    zero = torch.zeros(1, *shape, dtype=torch.float64)
    try:
        with torch.no_grad():
            function(zero)
    except Exception as error:
        found = f"the layer raised {type(error).__name__} on an input of shape {tuple(shape)}"
        fix = "Pass the shape of one input, without the batch"
        raise InputError(found, accepted="the shape of one input of the layer", fix=fix) from error
    _check_affine(function, zero)
    normal = _Normal(function, shape, zero)
    if normal.size <= MAX_DENSE_INPUTS:
        return float(torch.linalg.matrix_norm(matrix_of(function, shape), 2))
    return float(top_eigenpairs(normal, 1).values[0].clamp_min(0).sqrt())  # (1)


@torch.no_grad()
def _check_affine(function: Callable[[Tensor], Tensor], zero: Tensor) -> None:
    """Raises an error unless a function is affine, tested at two random points in float64."""
    x, z = torch.randn((2, *zero.shape), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    sides = function(x + z) - function(x), function(z) - function(zero)
    if not all(bool(side.isfinite().all()) for side in sides):
        raise NotFiniteError("the outputs are not finite", accepted="finite weights", fix="Look for NaN in the weights")
    gap, size = float((sides[0] - sides[1]).norm()), float(sides[0].norm() + sides[1].norm())
    if gap > AFFINE_TOLERANCE * size:
        found, fix = f"f(x + z) - f(x) differs from f(z) - f(0) by {gap / size:.0%}", "Use lipschitz_bounds"
        raise InputError(found, accepted="a layer that is affine in its input", fix=fix)


@torch.no_grad()
def matrix_of(function: Callable[[Tensor], Tensor], shape: Sequence[int]) -> Tensor:
    """Returns the matrix of an affine function (outputs by inputs) for this input shape, in float64.

    Cost: as many examples as there are inputs, in one batch.

    >>> matrix_of(lambda x: 2 * x + 1, (2,)).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    zero = torch.zeros(1, *shape, dtype=torch.float64)
    rows = torch.eye(zero.numel(), dtype=torch.float64).reshape(-1, *shape)
    return (function(rows) - function(zero)).flatten(1).T


def _double(layer: nn.Module | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Returns a copy of the layer in float64 and eval mode; plain functions stay as they are."""
    if not isinstance(layer, nn.Module):
        return layer
    import copy

    twin = copy.deepcopy(layer).double().eval()
    with suppress(RuntimeError):
        twin.requires_grad_(requires_grad=False)
    return twin
