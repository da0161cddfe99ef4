"""What a layer has kept of an image falls with depth where layers pool, and not where they are invertible.

PSNR(layer 1) > PSNR(layer 2) > PSNR(layer 3)                                                            (1)
"""

import torch
from torch import nn

from gnomon.attribution import invert_layer
from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, ordered

POOLS = "layers pool"


def predicted():
    """The layers from the least kept to the most."""
    return ("third", "second", "first")


def measure(steps, draws, seed, stages):
    """The signal-to-noise ratios of inputs reconstructed from each of three stages, for several networks and inputs."""
    found = {"first": [], "second": [], "third": []}
    for draw in range(draws):
        torch.manual_seed(seed * 1000 + draw)
        x = digits(20, 20, seed=seed * 1000 + draw).x[:6]
        net = nn.Sequential(*stages())
        for i, name in enumerate(found):
            found[name].append(invert_layer(net, str(i), x, steps=steps).psnr)
    return found


def observed(steps, draws, seed):
    """Convolution, ReLU and pooling."""

    def stages():
        for a, b in ((1, 8), (8, 8), (8, 8)):
            yield nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2))

    return measure(steps, draws, seed, stages)


def control(steps, draws, seed):
    """Rotations of the pixels: nothing is lost."""

    def stages():
        for i in range(3):
            linear = nn.Linear(64, 64)
            nn.init.orthogonal_(linear.weight)
            yield nn.Sequential(nn.Flatten(), linear) if i == 0 else linear

    return measure(steps, draws, seed, stages)


CLAIM = Claim(
    id="representation-inversion",
    title="Images come back the worse, the deeper the pooled layer they come from",
    equation=r"PSNR_1 > PSNR_2 > PSNR_3",
    source=Source("observed", "mahendran2015understanding"),
    premises=(Premise(POOLS),),
    breaks=POOLS,
    parameters={"steps": 100, "draws": 16},
    full={"steps": 1000, "draws": 30},
    judge=ordered(),
)
