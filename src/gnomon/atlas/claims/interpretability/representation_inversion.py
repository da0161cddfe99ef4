"""The deeper a layer of convolution and pooling, the worse an image can be reconstructed from its outputs.

    PSNR(layer 1) > PSNR(layer 2) > PSNR(layer 3)                                                            (1)

PSNR is the peak signal-to-noise ratio. Invertible layers lose nothing.
"""

import torch
from torch import nn

from gnomon.attribution import invert_layer
from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the layers, from the worst reconstruction to the best one."""
    return ("third", "second", "first")


def measure(steps, draws, seed, stages):
    """Returns the PSNR (image quality in decibels) of inputs reconstructed from each of three stages."""
    # Many networks run as groups of channels, so one inversion serves all. A rise below 0.01 dB counts as rounding.
    torch.manual_seed(seed)
    images = digits(3 * draws, seed=seed).x
    x, net = images.reshape(draws, 3, 8, 8).transpose(0, 1), nn.Sequential(*stages(draws))  # (3, draws, 8, 8)
    found = {}
    for i, name in enumerate(("first", "second", "third")):
        apart = invert_layer(net, str(i), x, iterations=steps).reconstruction - x
        found[name] = (-10 * apart.square().mean((0, 2, 3)).log10()).round(decimals=2)
    return found


def observed(steps, draws, seed):
    """Returns the reconstruction PSNR for stages of convolution, ReLU and pooling."""

    def stages(groups):
        for a, b in ((1, 8), (8, 8), (8, 8)):
            convolution = nn.Conv2d(a * groups, b * groups, 3, padding=1, groups=groups)
            yield nn.Sequential(convolution, nn.ReLU(), nn.AvgPool2d(2))

    return measure(steps, draws, seed, stages)


def control(steps, draws, seed):
    """Returns the reconstruction PSNR for rotations of the pixels, which lose nothing."""

    def stages(groups):
        for i in range(3):
            rotation = nn.Conv1d(64 * groups, 64 * groups, 1, groups=groups)
            for block in rotation.weight.data.split(64):
                nn.init.orthogonal_(block)
            yield nn.Sequential(nn.Flatten(), nn.Unflatten(1, (64 * groups, 1)), rotation) if i == 0 else rotation

    return measure(steps, draws, seed, stages)


CLAIM = Claim(
    id="representation-inversion",
    question="How much of an image does each layer keep?",
    equation=r"PSNR_1 > PSNR_2 > PSNR_3",
    axes=("layer", "reconstruction quality (PSNR, dB)"),
    source=Source("observed", "mahendran2015understanding"),
    premises=(Premise("layers pool"),),
    parameters={"steps": 100, "draws": 36},
    full={"steps": 1000, "draws": 60},
    judge=in_order(),
)
