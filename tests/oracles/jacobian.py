"""The finite network's kernels from the dense Jacobian: one sample and one output at a time, by plain autograd.

For a network f with k outputs and parameters theta = (c_a omega_a), a running over the parameter tensors,

    ntk(x, y)  = 1/k sum_j sum_a c_a^2 <df_j(x)/dtheta_a, df_j(y)/dtheta_a>       (1)
    nngp(x, y) = 1/k sum_j f_j(x) f_j(y)                                         (2)

c_a is the multiplier of tensor a: the gradient with respect to the unscaled omega_a is c_a times that of theta_a.
Without multipliers every c_a is 1. Slow on purpose; shares nothing with the package.

>>> import torch
>>> net = torch.nn.Linear(3, 2, bias=False).double()
>>> x = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64)
>>> finite_ntk(net, x)                            # of a linear map: |x|^2
tensor([[14.]], dtype=torch.float64)
>>> finite_ntk(net, x, multipliers={"weight": 0.5})
tensor([[3.5000]], dtype=torch.float64)
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Means:
    """Means over seeds of the two kernels, and the standard errors of those means, entry by entry."""

    nngp: Tensor
    nngp_error: Tensor
    ntk: Tensor
    ntk_error: Tensor


def finite_ntk(
    module: nn.Module, x1: Tensor, x2: Tensor | None = None, multipliers: Mapping[str, float] | None = None
) -> Tensor:
    """Equation (1) for every pair of rows of x1 and x2 (x1 again where x2 is None), in float64."""
    first = [jacobian(module, x, multipliers) for x in x1]
    second = first if x2 is None else [jacobian(module, y, multipliers) for y in x2]
    kernel = torch.zeros(len(first), len(second), dtype=torch.float64)
    for i, row in enumerate(first):
        for j, column in enumerate(second):
            kernel[i, j] = sum(float(a @ b) for a, b in zip(row, column, strict=True)) / len(row)  # (1)
    return kernel


def jacobian(module: nn.Module, x: Tensor, multipliers: Mapping[str, float] | None = None) -> list[Tensor]:
    """One flat gradient per output of the network at the single input x, each tensor scaled by its multiplier."""
    named = {name: p for name, p in module.named_parameters() if p.requires_grad}
    unknown = set(multipliers or {}) - set(named)
    if unknown:
        raise KeyError(f"multipliers for parameters that the module does not train: {sorted(unknown)}")
    rows = []
    for output in module(x[None]).reshape(-1):
        gradients = torch.autograd.grad(output, list(named.values()), retain_graph=True, allow_unused=True)
        pieces = []
        for (name, parameter), gradient in zip(named.items(), gradients, strict=True):
            gradient = torch.zeros_like(parameter) if gradient is None else gradient
            scale = 1.0 if multipliers is None else multipliers.get(name, 1.0)
            pieces.append(scale * gradient.detach().reshape(-1).double())
        rows.append(torch.cat(pieces))
    return rows


def finite_nngp(module: nn.Module, x: Tensor) -> Tensor:
    """Equation (2) for every pair of rows of x, one forward pass per row, in float64."""
    with torch.no_grad():
        outputs = [module(row[None]).reshape(-1).double() for row in x]
    return torch.tensor([[float(a @ b) / len(a) for b in outputs] for a in outputs], dtype=torch.float64)  # (2)


def mean_finite_kernels(
    build: Callable[[int], nn.Module],
    x: Tensor,
    seeds: Iterable[int],
    multipliers: Mapping[str, float] | None = None,
) -> Means:
    """Mean and standard error over seeds of (1) and (2) for networks freshly built by ``build(seed)``.

    torch's generator is seeded before each call, so a ``build`` that ignores its argument draws fresh weights too;
    the caller's generator is left as it was.
    """
    nngps, ntks = [], []
    for seed in seeds:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = build(seed)
        nngps.append(finite_nngp(module, x))
        ntks.append(finite_ntk(module, x, multipliers=multipliers))
    if len(ntks) < 2:
        raise ValueError(f"a standard error needs two seeds or more; got {len(ntks)}")
    return Means(*_mean_and_error(nngps), *_mean_and_error(ntks))


def _mean_and_error(samples: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Mean, and sample standard deviation over the root of the number of samples."""
    stack = torch.stack(samples)
    return stack.mean(0), stack.std(0, unbiased=True) / len(samples) ** 0.5
