"""Permuting the channels of a layer together with the next layer's weights does not change the network's output.

    W_2[:, P] phi(W_1[P] x) = W_2 phi(W_1 x)                                                                  (1)

W_1 and W_2 are the weights of two layers, phi is the activation and P a permutation of channels.
Reference: [hecht1990algebraic].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns 0, the change of the output if the channels are permuted."""
    return 0.0


def difference(follow, channels, seed):
    """Returns the output change if the first layer's channels are permuted; ``follow`` permutes the next layer too."""
    torch.manual_seed(seed)
    a, b = (torch.nn.Conv2d(i, channels, 3).double() for i in (1, channels))
    x, order, p = torch.randn(2, 1, 8, 8).double(), torch.arange(channels), torch.randperm(channels)
    order[p] = p.roll(1)  # moves every channel: a cyclic permutation of all channels
    with torch.no_grad():
        before = b(torch.relu(a(x)))
        a.weight.copy_(a.weight[order])
        a.bias.copy_(a.bias[order])
        if follow:
            b.weight.copy_(b.weight[:, order])
        return float((b(torch.relu(a(x))) - before).abs().max())


observed = partial(difference, follow=True)  # The test permutes the weights of the next layer in the same way.
control = partial(difference, follow=False)  # It is not.

CLAIM = Claim(
    id="no-free-topology-second-layer",
    question="Does the order of channels in a layer mean anything?",
    equation=r"W_2 P^\top \phi(P W_1 x) = W_2 \phi(W_1 x)",
    axes=("one network", "largest change of the output"),
    source=Source("theorem", "hecht1990algebraic"),
    premises=(Premise("the next layer's input channels are permuted in the same way"),),
    parameters={"channels": 6},
    judge=equals(within=1e-12, because="the sums are in another order, so rounding differs"),
)
