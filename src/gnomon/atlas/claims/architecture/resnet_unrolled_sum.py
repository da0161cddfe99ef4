"""A residual network adds to its input the outputs of all its branches.

    h_T = h_0 + sum_t f_t(h_t)                                                                                (1)

Reference: [he2016deep].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(blocks, width, seed):
    """Branches."""
    torch.manual_seed(seed)
    return [torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh()).double() for _ in range(blocks)]


def inputs(width, seed):
    """A point."""
    return torch.randn(width, generator=torch.Generator().manual_seed(seed)).double()


def predicted(blocks, width, seed):
    """The recursion."""
    h = inputs(width, seed)
    with torch.no_grad():
        for f in net(blocks, width, seed):
            h = h + f(h)
    return h.numpy()


def summed(skips, blocks, width, seed):
    """The input plus all branches, along a way with or without skips."""
    h = inputs(width, seed)
    total = h.clone()
    with torch.no_grad():
        for f in net(blocks, width, seed):
            branch = f(h)
            total += branch
            h = h + branch if skips else branch
    return total.numpy()


observed = partial(summed, skips=True)  # With skips.
control = partial(summed, skips=False)  # Without them.

CLAIM = Claim(
    id="resnet-unrolled-sum",
    title="The output of a residual network is its input plus the sum of its branches",
    equation=r"h_T = h_0 + \sum_t f_t(h_t)",
    source=Source("theorem", "he2016deep"),
    premises=(Premise("every block has a skip"),),
    parameters={"blocks": 8, "width": 5},
    judge=equals(rounding=1e4),
)
