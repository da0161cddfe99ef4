"""Tests whether labels depend on the inputs at all, without using the network.

    K(x, x') = exp(-|x - x'|^2 / m),  m the median of |x - x'|^2;     for whole numbers the share that is equal     (1)

The kernel of a network at its start may see little of what it will learn. Before labels are called unrelated to inputs,
the inputs are asked as well, by a kernel that sees every smooth relation and needs no network.

Hypotheses: as for `gnomon.linalg.label_test`.
Reference: [gretton2005measuring] for tests of independence with such kernels.

>>> x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
>>> label_input_test(x, (x[:, 0] * x[:, 1] > 0).long(), seed=0).related          # no line separates these
True
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors
from gnomon.linalg.label_test import LabelTest, label_test

__all__ = ["input_kernel", "label_input_test"]

MAX_TARGET_COLUMNS = 16
"""Maximum number of tested target columns."""
MOST_VALUES = 20000
"""Maximum number of distinct integers, such as tokens, for comparing bags of tokens."""


def label_input_test(x: Inputs, y: Tensor, *, seed: int) -> LabelTest | None:
    """Tests whether labels depend on the inputs: labels must fit a kernel of the inputs better than shuffled labels do.

    Targets of many columns, such as pixels, are summed up at random in `MAX_TARGET_COLUMNS` of them: the test stays
    one of level
    0.01, for shuffling rows and summing columns may be done in either order.
    Cost: n^2 d, and n^2 k for each of 400 shuffles.

    >>> label_input_test(torch.ones(4, 2), torch.tensor([0, 1, 0, 1]), seed=0) is None
    True
    """
    kernel = input_kernel(x)
    if y.dim() == 2 and y.shape[1] > MAX_TARGET_COLUMNS:
        g = torch.Generator().manual_seed(seed)
        y = y.double() @ torch.randn(y.shape[1], MAX_TARGET_COLUMNS, generator=g, dtype=torch.float64)
    centered = kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
    return label_test(kernel, y, seed=seed) if float(centered.abs().max()) > 1e-9 else None


def input_kernel(x: Inputs) -> Float[Tensor, "n n"]:
    """Computes a similarity matrix (kernel) of the examples, summed over all input tensors.

    See equation (1) of the module docstring.
    Cost: n^2 d.

    >>> input_kernel(torch.tensor([[0.0], [1.0]])).round(decimals=2)       # 1 and exp(-1)
    tensor([[1.0000, 0.3700],
            [0.3700, 1.0000]], dtype=torch.float64)
    """
    n = count_examples(x)
    total = torch.zeros(n, n, dtype=torch.float64)
    for t in input_tensors(x):
        flat = t.detach().cpu().reshape(n, -1)
        total += _gaussian(flat.float()) if t.is_floating_point() else _equal(flat)
    return total


def _gaussian(flat: Tensor) -> Tensor:
    spread = flat.std(0, correction=0)
    kept = flat[:, spread > 0]
    if not kept.shape[1]:
        return torch.zeros(len(flat), len(flat), dtype=torch.float64)
    z = (kept - kept.mean(0)) / spread[spread > 0]
    squares = torch.cdist(z, z).square().double()
    return torch.exp(-squares / squares[squares > 0].median())  # (1)


def _equal(flat: Tensor) -> Tensor:
    """Computes a similarity matrix of integer inputs such as tokens: counts equal entries at the same and at any
    positions.
    """
    same = torch.stack([(flat == row).double().mean(1) for row in flat])
    values, codes = flat.unique(return_inverse=True)
    if len(values) > MOST_VALUES:
        return same
    counts = torch.nn.functional.one_hot(codes.reshape(flat.shape), len(values)).sum(1).double()
    unit = counts / counts.norm(dim=1, keepdim=True)
    return same + unit @ unit.mT
