"""The Hessian of the mean loss in the parameters, by its products with vectors.

    L(w) = (1 / n) sum_i l(f(w, x_i), y_i),    H = d^2 L / dw^2                                      (1)
    H v = d (dL / dw . v) / dw                                                                       (2)

(2) is a second backward pass through the gradient. Examples are taken in batches, whose products add up; where all fit
in one batch the graph is kept, otherwise it is made anew for every product.

Reference: [pearlmutter1994fast] for (2).

>>> import torch
>>> H = hessian(nn.Linear(2, 1, bias=False), torch.eye(2), torch.zeros(2))       # x x^T averaged
>>> H.dense()
tensor([[0.5000, 0.0000],
        [0.0000, 0.5000]])
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.checks import check_readable, integer
from gnomon.core.errors import InputError, NotFiniteError, lesson, out_of_range
from gnomon.core.inputs import Inputs
from gnomon.core.pure import Pure, evaluating, plain_kernels, random_state, undisturbed
from gnomon.linalg.lanczos import Eigenpairs, SpectralDensity, spectral_density, top_eigenpairs
from gnomon.linalg.operator import AbstractOperator
from gnomon.linalg.trace import TraceEstimate, hutch_plus_plus, hutchinson
from gnomon.training.evaluate import Loss, Objective

CALL = "hessian(module, x, y)"
TILE = 512
"""Examples whose graph is held at once where the caller names no number."""


class HessianOperator(AbstractOperator):
    """H of equation (1), on the p parameters in the order of their names; made by `hessian`, used while they stay."""

    def __init__(self, module: nn.Module, objective: Objective, parameters: str | Sequence[str] | None, tile: int):
        self._objective, self._tile, self._module, self._n = objective, tile, module, len(objective)
        self._f = Pure.of(module, parameters, call=CALL)
        self._kept = list(self._gradients()) if self._n <= tile else None

    @property
    def size(self) -> int:
        """p."""
        return sum(w.numel() for w in self._f.leaves.values())

    @property
    def like(self) -> Tensor:
        """An empty tensor of the module's dtype and device."""
        return next(iter(self._f.leaves.values())).detach().new_empty(0)

    def gradient(self) -> Float[Tensor, " p"]:
        """dL / dw."""
        total = self.like.new_zeros(self.size)
        for parts in self._kept or self._gradients():
            total += torch.cat([g.detach().flatten() for g in parts])
        return total

    def matvec(self, v: Float[Tensor, " p"]) -> Float[Tensor, " p"]:
        """H v; equation (2)."""
        leaves = list(self._f.leaves.values())
        pieces = [part.reshape(w.shape) for part, w in zip(v.split([w.numel() for w in leaves]), leaves, strict=True)]
        total = torch.zeros_like(v)
        for parts in self._kept or self._gradients():
            pairs = [(g, u) for g, u in zip(parts, pieces, strict=True) if g.requires_grad]
            if not pairs:  # the gradient is constant
                continue
            products = torch.autograd.grad([g for g, _ in pairs], leaves, [u for _, u in pairs], retain_graph=True,
                                           allow_unused=True, materialize_grads=True)  # fmt: skip
            total += torch.cat([h.flatten() for h in products])  # (2)
        return total

    def top(self, k: int = 1, *, steps: int | None = None, seed: int = 0) -> Eigenpairs:
        """The k largest eigenpairs; see `gnomon.linalg.lanczos.top_eigenpairs`."""
        return top_eigenpairs(self, k, steps=steps, seed=seed)

    def density(self, *, steps: int = 40, starts: int = 4, seed: int = 0) -> SpectralDensity:
        """The distribution of eigenvalues; see `gnomon.linalg.lanczos.spectral_density`."""
        return spectral_density(self, steps=min(steps, self.size), starts=starts, seed=seed)

    def trace(
        self, *, products: int = 60, confidence: float = 0.95, method: str = "hutch++", seed: int = 0
    ) -> TraceEstimate:
        """The trace with a confidence interval, by ``method`` "hutch++" or "hutchinson"; see `gnomon.linalg.trace`."""
        if method not in ("hutch++", "hutchinson"):
            raise InputError(out_of_range("hessian(...).trace()", "method", '"hutch++" or "hutchinson"', method))
        if method == "hutch++":
            return hutch_plus_plus(self, products=products, confidence=confidence, seed=seed)
        return hutchinson(self, samples=products, confidence=confidence, seed=seed)

    def _gradients(self) -> Iterator[list[Tensor]]:
        """The share of each batch in dL / dw, with its graph."""
        batches = self._objective.batches(self._tile)
        while True:
            with random_state():  # a loader may draw random numbers
                batch = next(batches, None)
            if batch is None:
                return
            yield self._gradient(*batch)

    def _gradient(self, x: Inputs, y: Tensor) -> list[Tensor]:
        with undisturbed(self._module), evaluating(self._module), plain_kernels(self._module):
            value = self._objective.loss_of(self._f.returned(x), y) * (len(y) / self._n)
            if not bool(value.detach().isfinite()):
                cure = "Look for NaN in the weights, or lower the scale of the weights"
                raise NotFiniteError(lesson(CALL, "the loss is not finite", "a loss with derivatives", cure))
            leaves = list(self._f.leaves.values())
            return list(
                torch.autograd.grad(value, leaves, create_graph=True, allow_unused=True, materialize_grads=True)
            )


def hessian(
    module: nn.Module,
    x: Any,
    y: Any = None,
    *,
    loss: Loss | None = None,
    parameters: str | Sequence[str] | None = None,
    tile: int | None = None,
) -> HessianOperator:
    """The Hessian (1) of the mean loss as a matrix-free operator: top eigenvalues, trace with interval, density.

    Args:
        module: read in eval mode, and left as it was.
        x: inputs as the module takes them; or, without ``y``, data: a pair (inputs, targets), a ``Dataset``, a
            ``DataLoader``, a generator of batches.
        y: targets, as in `gnomon.train`.
        loss: as in `gnomon.train`: one of `gnomon.training`, or a function (outputs, targets) -> mean loss; by default
            cross-entropy for integer targets and squared loss for real ones.
        parameters: those that require gradients, or those whose name matches a shell-style pattern.
        tile: examples whose graph is held at once; 512 by default.

    Hypotheses: the loss is twice differentiable by autograd (relu counts, with second derivative zero); a loss that is
    a mean over examples, so that batches add up.
    Reference: [pearlmutter1994fast].
    Cost: per product two backward passes, and for more than ``tile`` examples one more pass over the data.

    >>> H = hessian(nn.Linear(1, 1), torch.tensor([[2.0]]), torch.zeros(1))        # (2, 1)^T (2, 1)
    >>> [round(abs(v), 4) for v in H.top(2).values.tolist()]
    [5.0, 0.0]
    """
    check_readable(module, call=CALL)
    tile = TILE if tile is None else integer("tile", tile, call=CALL)
    with undisturbed(module):
        return HessianOperator(module, Objective.of(x, y, module, loss, CALL), parameters, tile)
