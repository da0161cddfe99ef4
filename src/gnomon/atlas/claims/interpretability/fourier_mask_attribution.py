"""A sparse mask of frequencies, fitted to keep a network's loss, finds the frequencies that carry the classes.

    M* = argmin_M mean_x e^{[L(f(F^-1 M F x), y) - L(f(x), y)]^2} + lam mean |M|                              (1)

M is the mask, F the Fourier transform, f the network, L the loss, x an image with label y.
"""

from functools import partial

import torch
from torch import nn

from gnomon.atlas.descent import descend
from gnomon.attribution import fourier_mask
from gnomon.lab import Claim, Premise, Source, equals

PLANTED_FREQUENCIES = ((2, 3), (4, 1))


def predicted():
    """Returns precision 1 and recall 1, because the mask should contain exactly the planted frequencies."""
    return [1.0, 1.0]


def measure(side, n, seed, size):
    """Returns precision and recall of the mask of a linear network, trained on two classes of waves in noise."""
    draw = torch.Generator().manual_seed(seed)
    k = torch.arange(float(side))
    waves = torch.stack([torch.cos(2 * torch.pi * (a * k[:, None] + b * k) / side) for a, b in PLANTED_FREQUENCIES])
    y = torch.randint(2, (n,), generator=draw)
    x = 0.5 * torch.randn(n, 1, side, side, generator=draw) + size * waves[y][:, None]
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Flatten(), nn.Linear(side * side, 2))
    descend(torch.optim.Adam(net.parameters(), 1e-2), lambda: nn.functional.cross_entropy(net(x), y), 150)
    found = set(fourier_mask(net, (x, y), sparsity_weight=2.0, epochs=40).frequencies())
    both = len(found & set(PLANTED_FREQUENCIES))
    return [both / max(len(found), 1), both / len(PLANTED_FREQUENCIES)]


observed = partial(measure, size=1.0)  # The classes differ by waves of amplitude one in the images.
control = partial(measure, size=0.0)  # Control: the images contain no waves, so the network memorizes noise.

CLAIM = Claim(
    id="fourier-mask-attribution",
    question="Which frequencies does a network use?",
    equation=r"M^* = \arg\min \sum_x e^{[L(\Phi(\bar x),y)-L(\Phi(x),y)]^2} + \lambda\|M\|_p",
    axes=("precision, then recall", "share of frequencies"),
    source=Source("observed", "karantzas2022understanding"),
    premises=(Premise("the planted frequencies carry the classes"), Premise("the network is frozen")),
    parameters={"side": 12, "n": 300},
    full={"side": 16, "n": 2000},
    judge=equals(within=0.1, because="precision and recall of at least 0.9, as the statement says"),
)
