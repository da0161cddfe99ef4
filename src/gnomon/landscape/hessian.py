"""Multiplies the Hessian of the mean loss by vectors, without storing the Hessian.

    L(w) = (1 / n) sum_i l(f(w, x_i), y_i),    H = d^2 L / dw^2                                      (1)
    H v = d (dL / dw . v) / dw                                                                       (2)

(2) is a second backward pass through the gradient. Examples are processed in batches, and the products of batches add
up. If all examples fit in one batch, its graph is kept; otherwise the graph is rebuilt for every product.

Reference: [pearlmutter1994fast] for (2).

>>> import torch
>>> H = hessian(nn.Linear(2, 1, bias=False), (torch.eye(2), torch.zeros(2)))       # x x^T averaged
>>> H.dense()
tensor([[0.5000, 0.0000],
        [0.0000, 0.5000]])
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import Inputs
from gnomon.landscape.curvature import AbstractCurvature, Setup
from gnomon.training.evaluate import Loss

__all__ = ["HessianOperator", "hessian"]


class HessianOperator(AbstractCurvature):
    """The Hessian of the mean loss with respect to the parameters, as an operator that multiplies vectors."""

    def _part(self, number: int, x: Inputs, y: Tensor) -> list[Tensor]:
        """Returns the contribution of a batch to the gradient of the loss, with the autograd graph."""
        return list(
            torch.autograd.grad(
                self._share(x, y), self._leaves, create_graph=True, allow_unused=True, materialize_grads=True
            )
        )

    def _product(self, part: list[Tensor], pieces: list[Tensor]) -> list[Tensor]:
        pairs = [(g, u) for g, u in zip(part, pieces, strict=True) if g.requires_grad]
        if not pairs:  # If the gradient is constant, the Hessian is zero.
            return [torch.zeros_like(u) for u in pieces]
        return list(
            torch.autograd.grad([g for g, _ in pairs], self._leaves, [u for _, u in pairs], retain_graph=True,
                                allow_unused=True, materialize_grads=True)
        )  # (2)  # fmt: skip


@add_call_to_errors
def hessian(
    module: nn.Module,
    data: Any,
    *,
    loss: Loss | None = None,
    parameters: str | Sequence[str] | None = None,
    tile: int | None = None,
) -> HessianOperator:
    """Returns the Hessian of the mean loss as an operator with top eigenvalues, trace and spectral density.

    See equation (1) of the module docstring.

    Args:
        module: read in eval mode, and left as it was.
        data: a pair (inputs, targets), a ``Dataset``, a ``DataLoader`` or batches.
        loss: as in `gnomon.train`: one of `gnomon.training`, or a function (outputs, targets) -> mean loss; by default
            cross-entropy for integer targets and squared loss for real ones.
        parameters: shell-style patterns of parameter names; by default all parameters that require gradients.
        tile: examples whose graph is held at once; by default 512, or fewer if they would take half of the free memory.

    Hypotheses: the loss is twice differentiable by autograd (relu counts, with second derivative zero); a loss that is
    a mean over examples, so that batches add up.
    Reference: [pearlmutter1994fast].
    Cost: per product two backward passes, and for more than ``tile`` examples one more pass over the data.

    >>> H = hessian(nn.Linear(1, 1), (torch.tensor([[2.0]]), torch.zeros(1)))        # (2, 1)^T (2, 1)
    >>> [round(abs(v), 4) for v in H.top(2).values.tolist()]
    [5.0, 0.0]
    """
    return HessianOperator(Setup.of(module, data, loss, parameters, tile))
