"""Reference numbers by autograd, plain hooks and closed forms; nothing here imports gnomon."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel


@contextmanager
def fixed_noise():
    """Replaces ``torch.randn_like`` by one draw of noise that all examples share, the same at each call."""
    original = torch.randn_like

    def same(like: Tensor, **options: object) -> Tensor:
        row = torch.randn(like.shape[1:], generator=torch.Generator().manual_seed(0))
        return row.to(like).expand(like.shape).clone()

    torch.randn_like = same
    try:
        yield
    finally:
        torch.randn_like = original


def sum_kernel(outputs: Callable[[], Tensor], parameters: Sequence[Tensor]) -> Tensor:
    """Kernel of the sum of each example's outputs: inner products of its gradients, added in double precision, (n, n)."""
    sums = outputs().flatten(1).sum(1)
    rows = []
    for i in range(len(sums)):
        gradients = torch.autograd.grad(sums[i], parameters, retain_graph=True, allow_unused=True)
        rows.append(torch.cat([_flat(g, p) for g, p in zip(gradients, parameters, strict=True)]).double())
    matrix = torch.stack(rows)
    return matrix @ matrix.T


def gradient_square(loss: Callable[[], Tensor], parameters: Sequence[Tensor]) -> float:
    """Squared length of the gradient: how fast gradient flow reduces the loss."""
    gradients = torch.autograd.grad(loss(), parameters, allow_unused=True)
    return float(sum(_flat(g, p).double().square().sum() for g, p in zip(gradients, parameters, strict=True)))


def largest_eigenvalue(loss: Callable[[], Tensor], parameters: Sequence[Tensor], steps: int = 30) -> float:
    """Largest eigenvalue of the Hessian by Lanczos with full orthogonalization."""
    with sdpa_kernel(SDPBackend.MATH):  # the fused attention has no second derivative
        first = torch.autograd.grad(loss(), parameters, create_graph=True, allow_unused=True)
    used = [(g, p) for g, p in zip(first, parameters, strict=True) if g is not None]
    sizes = [p.numel() for _, p in used]

    def product(vector: Tensor) -> Tensor:
        parts = [part.view_as(p) for part, (_, p) in zip(vector.split(sizes), used, strict=True)]
        inner = sum((g * part).sum() for part, (g, _) in zip(parts, used, strict=True))
        second = torch.autograd.grad(inner, [p for _, p in used], retain_graph=True, allow_unused=True)
        return torch.cat([_flat(g, p) for g, (_, p) in zip(second, used, strict=True)])

    generator = torch.Generator().manual_seed(0)
    vector = torch.randn(sum(sizes), generator=generator)
    basis = [vector / vector.norm()]
    diagonal, beside = [], []
    for _ in range(min(steps, len(vector))):
        new = product(basis[-1])
        diagonal.append(float(new @ basis[-1]))
        for _ in range(2):
            for old in basis:
                new = new - (new @ old) * old
        length = float(new.norm())
        if length < 1e-7 * abs(diagonal[0]):
            break
        beside.append(length)
        basis.append(new / length)
    matrix = torch.diag(torch.tensor(diagonal).double())
    for i, value in enumerate(beside[: len(diagonal) - 1]):
        matrix[i, i + 1] = matrix[i + 1, i] = value
    return float(torch.linalg.eigvalsh(matrix)[-1])


def mean_squares(model: nn.Module, forward: Callable[[], object]) -> dict[str, list[float]]:
    """Mean square of the output of each call of each module that returns one tensor, by the module's name."""
    found: dict[str, list[float]] = {}

    def hook(name: str):
        def record(module, arguments, output) -> None:
            if isinstance(output, Tensor):
                found.setdefault(name, []).append(float(output.detach().double().square().mean()))

        return record

    handles = [module.register_forward_hook(hook(name)) for name, module in model.named_modules() if name]
    with torch.no_grad():
        forward()
    for handle in handles:
        handle.remove()
    return found


def softmax_layer_trace(features: Tensor, logits: Tensor, *, bias: bool) -> float:
    """Trace of the Gauss-Newton matrix of a last linear layer under the summed cross-entropy.

    Each row has the Hessian diag(p) - p p^T of its logits, with trace 1 - |p|^2, times |features|^2 + 1.
    """
    p = logits.double().softmax(-1)
    sizes = features.double().square().sum(-1) + float(bias)
    return float(((1 - p.square().sum(-1)) * sizes).sum())


def _flat(gradient: Tensor | None, parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter).flatten() if gradient is None else gradient.flatten()


def squared_loss_layer_trace(features: Tensor, outputs: Tensor) -> float:
    """Trace of the Gauss-Newton matrix of squared error for a linear layer followed by a sigmoid."""
    slopes = outputs * (1 - outputs)
    return float((slopes.double().square().sum(1) * (features.double().square().sum(1) + 1)).sum())
