"""Hessians of a loss in all parameters of a module, by differences of its values. Knows no backward pass."""

import copy

import torch


@torch.no_grad()
def hessian(module, loss, h=1e-3):
    """All second derivatives by central differences of second order, in float64; errors are about h^2 + 1e-16 / h^2."""
    twin = copy.deepcopy(module)
    w = torch.cat([p.flatten() for p in twin.parameters()])

    def value(moved):
        for p, part in zip(twin.parameters(), moved.split([p.numel() for p in twin.parameters()]), strict=True):
            p.copy_(part.reshape(p.shape))
        return float(loss(twin))

    steps = h * torch.eye(len(w), dtype=w.dtype)
    H = torch.zeros(len(w), len(w), dtype=w.dtype)
    for i in range(len(w)):
        for j in range(i + 1):
            a, b = steps[i], steps[j]
            around = [value(w + s * a + t * b) * s * t for s in (1, -1) for t in (1, -1)]
            H[i, j] = H[j, i] = sum(around) / (4 * h * h)
    return H
