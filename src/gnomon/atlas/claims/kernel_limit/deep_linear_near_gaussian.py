"""The output of a deep linear network is nearly Gaussian: its kurtosis is 3 (1 + 2/m)^(L-1).

Given the last hidden layer h, f ~ N(0, |h|^2 / m), so E f^4 = 3 E|h|^4 / m^2. Each hidden layer of width m multiplies
E|h|^4 / (E|h|^2)^2 by 1 + 2/m, the fourth moment of a Gaussian vector. L layers of weights have L - 1 hidden layers:

    E f^4 / (E f^2)^2 = 3 (1 + 2/m)^(L-1)                                                                    (1)

Single outputs f^4 have long tails. Each network therefore has 16 outputs, whose fourth powers are averaged.
"""

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(width):
    """Equation (1) for L = 2 and L = 3."""
    return [3 * (1 + 2 / width), 3 * (1 + 2 / width) ** 2]


def fourth_powers(width, draws, middle, outputs=16):
    """Mean f^4 of networks with one and with two hidden layers and an input of length 1; every f has variance 1."""
    h = torch.randn(draws, 1, width)
    last = torch.randn(draws, width, outputs) / width**0.5
    return torch.stack([(x @ last)[:, 0].double().pow(4).mean(1) for x in (h, h @ middle(draws))], 1)


def observed(width, draws):
    """Gaussian weights of variance 1 / fan_in."""
    return fourth_powers(width, draws, lambda k: torch.randn(k, width, width) / width**0.5)


def control(width, draws):
    """The middle layer is a rotation, which keeps |h| and adds nothing to the kurtosis."""
    turn = torch.linalg.qr(torch.randn(width, width))[0]
    return fourth_powers(width, draws, lambda k: turn)


CLAIM = Claim(
    id="deep-linear-near-gaussian",
    title="A deep linear network is nearly Gaussian, with a known excess of its fourth moment",
    equation=r"E f^4 / (E f^2)^2 = 3 (1 + 2/m)^{L-1}",
    source=Source("derived"),
    premises=(
        Premise("all weights are independent Gaussians"),
        Premise("L - 1 hidden layers of m units"),
    ),
    parameters={"width": 6, "draws": 40_000},
    full={"draws": 400_000},
    judge=mean_equals(confidence=0.9995),
)
