"""The output of a residual network is its input plus the outputs of all its branches.

    h_T = h_0 + sum_t f_t(h_t)                                                                                (1)

h_t is the state before block t, f_t the branch of block t, and T the number of blocks. Reference: [he2016deep].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def net(blocks, width, seed):
    """Returns the branches of a random residual network."""
    torch.manual_seed(seed)
    return [torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh()).double() for _ in range(blocks)]


def inputs(width, seed):
    """Returns a random input vector for the residual network."""
    return torch.randn(width, generator=torch.Generator().manual_seed(seed)).double()


def predicted(blocks, width, seed):
    """Returns the output computed block by block."""
    h = inputs(width, seed)
    with torch.no_grad():
        for f in net(blocks, width, seed):
            h = h + f(h)
    return h.numpy()


def sum_of_branches(skips, blocks, width, seed):
    """Returns the input plus the outputs of all branches; without ``skips``, a block sees only the branch before it."""
    h = inputs(width, seed)
    total = h.clone()
    with torch.no_grad():
        for f in net(blocks, width, seed):
            branch = f(h)
            total += branch
            h = h + branch if skips else branch
    return total.numpy()


observed = partial(sum_of_branches, skips=True)  # With skip connections.
control = partial(sum_of_branches, skips=False)  # Without them.

CLAIM = Claim(
    id="resnet-unrolled-sum",
    question="What does a residual network add up?",
    equation=r"h_T = h_0 + \sum_t f_t(h_t)",
    axes=("coordinate of the output", "output"),
    source=Source("definition", "he2016deep"),
    premises=(Premise("every block has a skip connection"),),
    parameters={"blocks": 8, "width": 5},
    judge=equals(rounding=1e4),
)
