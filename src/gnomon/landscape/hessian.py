"""The Hessian of the mean loss, known by what it does to vectors.

    H v = (1 / n) sum_i d/dw <grad l(f(w, x_i), y_i), v>                                                     (1)

>>> net = nn.Linear(2, 1, bias=False)
>>> hessian(net, torch.eye(2), torch.zeros(2)).dense()                         # x^T x / n for the squared loss
tensor([[0.5000, 0.0000],
        [0.0000, 0.5000]])
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.arrays import Array
from gnomon.core.errors import NotFiniteError, lesson
from gnomon.core.inputs import Inputs, count, take
from gnomon.core.losses import AbstractLoss
from gnomon.core.pure import Pure, evaluating, plain_kernels, undisturbed
from gnomon.linalg.operator import AbstractOperator
from gnomon.training.evaluate import Points, by_targets

CALL = "hessian(module, x, y)"
PIECE = 256
"""Examples whose graph is held at once; with no more than these, it is built once for all products."""


class Hessian(AbstractOperator):
    """Equation (1) on all parameters that require gradients, in the order of their names."""

    def __init__(self, module: nn.Module, loss: AbstractLoss | None, x: Inputs, y: Array):
        with undisturbed(module):
            self._loss = by_targets(y) if loss is None else loss
            self._points = Points.of(x, y, module, self._loss, CALL)
            self._f = Pure.of(module, call=CALL)
        self._module, self._held = module, None
        self._leaves = list(self._f.leaves.values())
        if self._points.n <= PIECE:
            with undisturbed(module), plain_kernels(module), evaluating(module), torch.enable_grad():
                self._held = self._gradient(self._points.x, self._points.targets, graph=True)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(w.numel() for w in self._leaves)

    @property
    def like(self) -> Tensor:
        """An empty tensor of the module's dtype and device."""
        return self._leaves[0].detach().new_empty(0)

    def matvec(self, v: Float[Tensor, " p"]) -> Float[Tensor, " p"]:
        """H v; equation (1)."""
        if self._held is not None:
            return self._product(self._held, v, keep=True)
        total = torch.zeros_like(v)
        with undisturbed(self._module), plain_kernels(self._module), evaluating(self._module), torch.enable_grad():
            for x, y, share in self._pieces():
                total += share * self._product(self._gradient(x, y, graph=True), v, keep=False)
        return total

    def gradient(self) -> Float[Tensor, " p"]:
        """The gradient of the mean loss."""
        total = torch.zeros(self.size).to(self.like)
        with undisturbed(self._module), evaluating(self._module), torch.enable_grad():
            for x, y, share in self._pieces():
                total += share * torch.cat([g.detach().flatten() for g in self._gradient(x, y, graph=False)])
        return total

    def _gradient(self, x: Inputs, y: Tensor, *, graph: bool) -> tuple[Tensor, ...]:
        value = self._loss.value(self._f(x), y)
        if not bool(torch.isfinite(value)):
            found = "the loss is not finite"
            raise NotFiniteError(lesson(CALL, found, "a finite loss", "Look at the outputs: weights may have diverged"))
        grads = torch.autograd.grad(value, self._leaves, create_graph=graph, allow_unused=True)
        return tuple(torch.zeros_like(w) if g is None else g for g, w in zip(grads, self._leaves, strict=True))

    def _product(self, gradient: tuple[Tensor, ...], v: Tensor, *, keep: bool) -> Tensor:
        parts = v.split([w.numel() for w in self._leaves])
        pairs = [(g, p.reshape(g.shape)) for g, p in zip(gradient, parts, strict=True) if g.requires_grad]
        if not pairs:
            return torch.zeros_like(v)
        found = torch.autograd.grad(
            [g for g, _ in pairs], self._leaves, [p for _, p in pairs], retain_graph=keep, allow_unused=True
        )
        flat = [torch.zeros_like(w) if h is None else h for h, w in zip(found, self._leaves, strict=True)]
        return torch.cat([h.detach().flatten() for h in flat])  # (1)

    def _pieces(self) -> Iterator[tuple[Inputs, Tensor, float]]:
        n = self._points.n
        for i in range(0, n, PIECE):
            x = take(self._points.x, slice(i, i + PIECE))
            yield x, self._points.targets[i : i + PIECE], count(x) / n


def hessian(module: nn.Module, x: Inputs, y: Array, *, loss: AbstractLoss | None = None) -> Hessian:
    """The Hessian of the mean loss on some points, as a matrix-free operator.

        H v = (1 / n) sum_i d/dw <grad l(f(w, x_i), y_i), v>                                                 (1)

    Hypotheses: twice differentiable by autograd; a kink such as ReLU's counts as flat.
    Reference: [pearlmutter1994fast].
    Cost: of a product, two forward and two backward passes; the graph of up to 256 examples is held.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> float(hessian(net, torch.tensor([[3.0]]), torch.zeros(1)).dense())       # x^2
    9.0
    """
    return Hessian(module, loss, x, y)
