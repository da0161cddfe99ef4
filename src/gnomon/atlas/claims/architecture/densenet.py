"""Each layer of a dense block (DenseNet) adds the same number of channels, and its Jacobian never shrinks a vector.

    channels after l layers = c_0 + l growth,    |J v| >= |v|                                                  (1)

c_0 is the number of input channels, l the number of layers, growth the channels that each layer adds, and J the
Jacobian. The inputs are part of the outputs, so J contains the identity and its singular values are at least 1.
Reference: [huang2017densely].
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models import DenseBlock


def predicted(depth, growth, start):
    """Returns the channels at each depth with both signs, which bounds both sides, then 1 for singular values."""
    channels = [float(start + i * growth) for i in range(1, depth + 1)]
    return [*channels, *(-c for c in channels), *[1.0] * depth]


def channels_and_singular_values(block, depth, start, seed):
    """Returns the output channels with both signs, then the Jacobian's smallest singular values, for each depth."""
    x = torch.randn(start, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    jacobians = [torch.autograd.functional.jacobian(block(i).double(), x) for i in range(1, depth + 1)]
    sizes = [sign * float(len(j)) for sign in (1, -1) for j in jacobians]
    return [*sizes, *(float(torch.linalg.svdvals(j)[-1]) for j in jacobians)]


def observed(depth, growth, start, seed):
    """Returns channels and smallest singular values of dense blocks, for each depth."""
    return channels_and_singular_values(lambda i: DenseBlock(start, growth=growth, depth=i), depth, start, seed)


def control(depth, growth, start, seed):
    """Returns channels and smallest singular values of plain networks of equal widths, which drop their inputs."""

    def plain(layers):
        sizes = [start + i * growth for i in range(layers + 1)]
        return nn.Sequential(*(m for a, b in zip(sizes, sizes[1:], strict=False) for m in (nn.Linear(a, b), nn.ReLU())))

    return channels_and_singular_values(plain, depth, start, seed)


CLAIM = Claim(
    id="densenet",
    question="Why do gradients not vanish in a densely connected block?",
    equation=r"c_\ell = c_0 + \ell k, \quad \sigma_{\min}(J) \ge 1",
    axes=("depth (channels, minus channels, then singular values)", "number of channels; singular value"),
    source=Source("derived", "huang2017densely"),
    premises=(Premise("outputs are concatenated with the inputs"),),
    parameters={"depth": 6, "growth": 3, "start": 4},
    judge=bounded_by("below"),
)
