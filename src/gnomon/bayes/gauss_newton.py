"""Computes the Gauss-Newton matrix (an approximate Hessian) of a module's loss: its diagonal, or rows of a factor.

    G = sum_i J_i^T L_i J_i / s^2 = A^T A,    A_i = R_i^T J_i / s,    R_i R_i^T = L_i                      (1)

J_i are derivatives of the outputs in the parameters, L_i the second derivative of the loss in the outputs. A row of A
has as many numbers as there are parameters. The diagonal of G needs no rows if a linear layer z = W a + b met each
example once: with d the derivative of a row's output in z, that in W is d a^T, whose square is the product of squares,

    diag G for W = sum_i (d_i^2) (a_i^2)^T / s^2,    for b = sum_i d_i^2 / s^2                             (2)

Hypotheses of (2): none; a layer whose weights are used in another way is found out by its gradient, and gets rows.
Reference: [daxberger2021laplace]; [dangel2020backpack] for (2).
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import jacrev

from gnomon.adapter.losses import AbstractLossWithAxes
from gnomon.bayes.posterior import ModulePosterior
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.losses import CrossEntropy
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.preserve import preserve

__all__ = ["gauss_newton_diagonal", "gauss_newton_rows"]

EXAMPLES_PER_PASS = 64
"""Number of examples in one pass."""
MAX_NUMBERS_HELD = 2**27
"""Number of values kept in memory at once: 1 GiB."""
GRADIENT_TOLERANCE = 1e-3
"""Relative difference between (2) and autograd that is allowed: float32 sums err less, a weight used twice errs more.
"""
Met = tuple[nn.Linear, Tensor, Tensor]
"""A layer, its input, and its output."""


def gauss_newton_rows(posterior: ModulePosterior, center: Float[Tensor, " p"]) -> Iterator[Float[Tensor, "m p"]]:
    """Yields, batch by batch, the rows of a matrix A whose product A^T A is the Gauss-Newton matrix.

    See equation (1) of the module docstring.
    Cost: the derivatives of all outputs.

    >>> from gnomon.bayes.posterior import module_posterior
    >>> posterior = module_posterior(nn.Linear(2, 1), (torch.ones(3, 2), torch.zeros(3)))
    >>> torch.cat(list(gauss_newton_rows(posterior, posterior.start))).tolist()[0]
    [1.0, 1.0, 1.0]
    """
    return _rows(posterior, center, torch.arange(len(center)))


def _rows(posterior: ModulePosterior, center: Tensor, chosen: Tensor) -> Iterator[Tensor]:
    x, y = posterior.objective.at(torch.arange(len(posterior)))
    with torch.no_grad():
        k = posterior.outputs(center, take_examples(x, slice(0, 1))).shape[1]
    size = max(1, min(EXAMPLES_PER_PASS, MAX_NUMBERS_HELD // (k * len(chosen))))
    for piece, targets in zip(_pieces(x, size), y.split(size), strict=True):

        def outputs(w: Tensor, piece: Inputs = piece) -> Tensor:
            return posterior.outputs(center.index_copy(0, chosen, w), piece)

        derivatives = jacrev(outputs)(center[chosen]).detach()
        with torch.no_grad():
            roots = _roots(posterior, center, piece, targets)
        yield torch.einsum("nkj,nkp->njp", roots, derivatives).flatten(0, 1) / posterior.noise  # (1)


def gauss_newton_diagonal(posterior: ModulePosterior, center: Float[Tensor, " p"]) -> Float[Tensor, " p"]:
    """Returns the diagonal of the Gauss-Newton matrix (an approximate Hessian) at ``center``, one number per parameter.

    Cost: for linear layers k gradients of all examples, k being the number of outputs; for others as
    `gauss_newton_rows`.

    >>> from gnomon.bayes.posterior import module_posterior
    >>> posterior = module_posterior(nn.Linear(2, 1), (torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.zeros(2)))
    >>> gauss_newton_diagonal(posterior, posterior.start).tolist()
    [1.0, 13.0, 2.0]
    """
    total = torch.zeros_like(center)
    x, y = posterior.objective.at(torch.arange(len(posterior)))
    places = posterior.places
    with preserve(posterior.module, mode=None):
        size = min(EXAMPLES_PER_PASS, count_examples(x))
        layers = _linear(posterior, center, take_examples(x, slice(0, size)))
        # If the first axis is time, its length may equal the batch size by chance. It cannot equal two batch sizes.
        if size > 1:
            again = _linear(posterior, center, take_examples(x, slice(1, size)))
            layers = {name: part for name, part in layers.items() if name in again}
        pieces = zip(_pieces(x, EXAMPLES_PER_PASS), y.split(EXAMPLES_PER_PASS), strict=True)
        for piece, targets in pieces if layers else ():
            _add_linear(total, posterior, center, piece, targets, layers)
    left = torch.ones(len(center), dtype=torch.bool)
    for name in layers:
        for part in ("weight", "bias"):
            left[places.get(_path(name, part), slice(0, 0))] = False
    chosen = left.nonzero()[:, 0]
    for batch in _rows(posterior, center, chosen) if len(chosen) else ():
        total[chosen] += batch.square().sum(0)
    return total


def _add_linear(
    total: Tensor, posterior: ModulePosterior, center: Tensor, piece: Inputs, y: Tensor, layers: dict[str, nn.Linear]
) -> None:
    """Adds the diagonal entries of the Gauss-Newton matrix that belong to linear layers to ``total``, for some
    examples.

    See equation (2) of the module docstring.
    """
    roots = _roots(posterior, center, piece, y)
    with _meeting(layers) as met:
        outputs = posterior.outputs(center.clone().requires_grad_(), piece)
    after, places = [out for _, _, out in met.values()], posterior.places
    for j in range(roots.shape[2]):
        slopes = torch.autograd.grad(outputs, after, roots[:, :, j].to(outputs) / posterior.noise, retain_graph=True)
        for (name, (_, a, _)), d in zip(met.items(), slopes, strict=True):
            for part, square in (
                (_path(name, "weight"), _square(d, a)),
                (_path(name, "bias"), _sums(d).square().sum(0)),
            ):
                if part in places:
                    total[places[part]] += square.flatten()  # (2)


def _path(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part


def _square(d: Tensor, a: Tensor) -> Tensor:
    """Returns the sum over examples of squared derivatives for each weight of a linear layer."""
    if d.dim() == 2:
        return d.square().T @ a.square()  # (2)
    d, a = d.flatten(1, -2), a.flatten(1, -2)
    size = max(1, MAX_NUMBERS_HELD // (d.shape[2] * a.shape[2]))
    both = zip(d.split(size), a.split(size), strict=True)
    return torch.stack([torch.einsum("nto,nti->noi", p, q).square().sum(0) for p, q in both]).sum(0)


def _sums(d: Tensor) -> Tensor:
    return d if d.dim() == 2 else d.flatten(1, -2).sum(1)


def _linear(posterior: ModulePosterior, center: Tensor, piece: Inputs) -> dict[str, nn.Linear]:
    """Returns the linear layers that every example passes exactly once, which makes their gradients cheap."""
    places = posterior.places
    named = {name: part for name, part in posterior.module.named_modules() if type(part) is nn.Linear}
    named = {name: part for name, part in named.items() if {_path(name, "weight"), _path(name, "bias")} & places.keys()}
    if not named:
        return {}
    w = center.clone().requires_grad_()
    with _meeting(named) as met:
        outputs = posterior.outputs(w, piece)
    signs = torch.randn(outputs.shape, generator=torch.Generator().manual_seed(0)).to(outputs)
    slopes = torch.autograd.grad(outputs, [w, *(out for _, _, out in met.values())], signs, allow_unused=True)
    found = {}
    for (name, (part, a, _)), d in zip(met.items(), slopes[1:], strict=True):
        if d is None or d.dim() < 2 or len(d) != count_examples(piece):
            continue
        by_hand = {"weight": d.flatten(0, -2).T @ a.flatten(0, -2), "bias": d.flatten(0, -2).sum(0)}
        parts = {p: places.get(_path(name, p)) for p in by_hand}
        if all(place is None or _near(by_hand[p].flatten(), slopes[0][place]) for p, place in parts.items()):
            found[name] = part
    return found


def _near(a: Tensor, b: Tensor) -> bool:
    return float((a - b).norm()) <= GRADIENT_TOLERANCE * float(b.norm()) + torch.finfo(torch.float32).tiny


@contextmanager
def _meeting(layers: dict[str, nn.Linear]) -> Iterator[dict[str, Met]]:
    """Records the inputs and outputs of the given layers in a forward pass; of two calls of a layer, the last one."""
    met: dict[str, Met] = {}

    def keep(name: str) -> Any:
        def hook(part: nn.Linear, given: tuple[Tensor, ...], out: Tensor) -> Tensor:
            met[name] = part, given[0].detach(), out
            return out.clone()  # A copy is stored, because later layers may change the output in place.

        return hook

    with ExitStack() as stack:
        for name, part in layers.items():
            stack.callback(part.register_forward_hook(keep(name)).remove)
        yield met


def _pieces(x: Inputs, size: int) -> Iterator[Inputs]:
    for start in with_progress_bar(range(0, count_examples(x), size), "batches of derivatives"):
        yield take_examples(x, slice(start, start + size))


@torch.no_grad()
def _roots(posterior: ModulePosterior, center: Tensor, piece: Inputs, y: Tensor) -> Tensor:
    """Returns for each example a square root R of the loss's Hessian with respect to the outputs: R R^T = Hessian."""
    outputs = posterior.outputs(center, piece).double()
    n, k = outputs.shape
    loss = posterior.objective.loss
    if isinstance(loss, AbstractLossWithAxes):
        return loss.root(outputs, y) * sqrt(loss.observations(y) / n)
    if posterior.binary:
        # The second derivative of the logistic loss with respect to the logit is p (1 - p), p the probability.
        return (outputs.sigmoid() * (-outputs).sigmoid()).sqrt()[:, :, None]
    if not isinstance(posterior.objective.loss, CrossEntropy):
        return torch.eye(k, dtype=outputs.dtype).expand(n, k, k)
    p = outputs.softmax(1)
    root = p.sqrt()
    # The Hessian of the cross-entropy with respect to the logits is diag(p) - p p^T, p the probabilities.
    return torch.diag_embed(root) - p[:, :, None] * root[:, None, :]
