"""Kernels of many freshly constructed networks at once: dense Jacobians by torch.func, vectorized over the ensemble.

Shares nothing with the package. The modules are built one by one by their own constructors, so that the law of their
weights is PyTorch's, whatever anybody believes it to be.
"""

import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev, stack_module_state, vmap


def ntks(build, x: Tensor, count: int, chunk: int = 500) -> Tensor:
    """(count, n, n): the NTK of each of ``count`` modules made by ``build()``, over parameters that train, mean over outputs."""
    parts = []
    for start in range(0, count, chunk):
        modules = [build().double() for _ in range(min(chunk, count - start))]
        parts.append(_ntks(modules, x))
    return torch.cat(parts)


def _ntks(modules: list[nn.Module], x: Tensor) -> Tensor:
    trained = {k for k, p in modules[0].named_parameters() if p.requires_grad}
    stacked, buffers = stack_module_state(modules)
    stacked = {k: v.detach() for k, v in stacked.items()}
    free = {k: v for k, v in stacked.items() if k in trained}
    fixed = {k: v for k, v in stacked.items() if k not in trained}

    def outputs(free, fixed, buffers):
        return functional_call(modules[0], {**free, **fixed, **buffers}, (x,)).reshape(len(x), -1)

    jacobians = vmap(jacrev(outputs), in_dims=(0, 0, 0), randomness="different")(free, fixed, buffers)
    total = torch.zeros(len(modules), len(x), len(x), dtype=x.dtype)
    for j in jacobians.values():
        flat = j.reshape(*j.shape[:3], -1)  # (ensemble, n, outputs, parameters)
        total += torch.einsum("snkp,smkp->snm", flat, flat) / flat.shape[2]
    return total
