"""Every layer of a dense block sees all before it, so that channels grow linearly.

    channels after l layers = c_0 + l growth,    |J v| >= |v|                                                  (1)

The inputs are among the outputs, so that the Jacobian J has the identity among its rows and no gradient vanishes: all
its singular values are at least 1.

Reference: [huang2017densely].
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models import DenseBlock


def predicted(depth, growth, start):
    """Equation (1): channels, and the least singular value for each depth, at least."""
    return [*(float(start + i * growth) for i in range(1, depth + 1)), *[1.0] * depth]


def measured(block, depth, start, seed):
    """Channels at the end and the least singular value of the Jacobian, for blocks of every depth."""
    x = torch.randn(start, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    jacobians = [torch.autograd.functional.jacobian(block(i).double(), x) for i in range(1, depth + 1)]
    return [*(float(len(j)) for j in jacobians), *(float(torch.linalg.svdvals(j)[-1]) for j in jacobians)]


def observed(depth, growth, start, seed):
    """Dense blocks."""
    return measured(lambda i: DenseBlock(start, growth=growth, depth=i), depth, start, seed)


def control(depth, growth, start, seed):
    """Outputs that take the place of the inputs, in layers as wide."""

    def plain(layers):
        sizes = [start + i * growth for i in range(layers + 1)]
        return nn.Sequential(
            *(part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.ReLU()))
        )

    return measured(plain, depth, start, seed)


CLAIM = Claim(
    id="densenet",
    title="A dense block grows by a constant number of channels a layer, and no gradient vanishes in it",
    equation=r"c_\ell = c_0 + \ell k, \quad \sigma_{\min}(J) \ge 1",
    source=Source("derived", "huang2017densely"),
    premises=(Premise("outputs are put beside the inputs"),),
    parameters={"depth": 6, "growth": 3, "start": 4},
    judge=bounded_by("below"),
)
