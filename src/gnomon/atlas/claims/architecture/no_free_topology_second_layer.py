"""The order of channels has no meaning: exchanged together with the next layer's weights, they give the same function.

    W_2[:, P] phi(W_1[P] x) = W_2 phi(W_1 x)                                                                  (1)

Reference: [hecht1990algebraic].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """No difference."""
    return 0.0


def difference(follow, channels, seed):
    """After exchanging the channels of the first convolution, followed by the second or not."""
    torch.manual_seed(seed)
    a, b = (torch.nn.Conv2d(i, channels, 3).double() for i in (1, channels))
    x, order, p = torch.randn(2, 1, 8, 8).double(), torch.arange(channels), torch.randperm(channels)
    order[p] = p.roll(1)  # one cycle, which leaves no channel in place
    with torch.no_grad():
        before = b(torch.relu(a(x)))
        a.weight.copy_(a.weight[order])
        a.bias.copy_(a.bias[order])
        if follow:
            b.weight.copy_(b.weight[:, order])
        return float((b(torch.relu(a(x))) - before).abs().max())


observed = partial(difference, follow=True)  # Followed.
control = partial(difference, follow=False)  # Not followed.

CLAIM = Claim(
    id="no-free-topology-second-layer",
    title="Channels of a layer can be exchanged when the next layer follows: their order means nothing",
    equation=r"W_2 P^\top \phi(P W_1 x) = W_2 \phi(W_1 x)",
    source=Source("theorem", "hecht1990algebraic"),
    premises=(Premise("the next layer is exchanged alike"),),
    parameters={"channels": 6},
    judge=equals(within=1e-12, because="sums in another order"),
)
