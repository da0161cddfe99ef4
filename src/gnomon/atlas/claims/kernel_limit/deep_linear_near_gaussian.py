"""A deep linear network of width m has a nearly Gaussian output, with kurtosis 3 (1 + 2/m)^(L-1) for L layers.

Given the last hidden layer h, the output is f ~ N(0, |h|^2 / m), so E f^4 = 3 E|h|^4 / m^2. Each hidden layer
multiplies E|h|^4 / (E|h|^2)^2 by 1 + 2/m. L layers of weights have L - 1 hidden layers:

    E f^4 / (E f^2)^2 = 3 (1 + 2/m)^(L-1)                                                                    (1)

f^4 has long tails, so each network has 16 outputs whose fourth powers are averaged.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(width):
    """Returns the predicted mean of f^4 for the output f, 3 (1 + 2/m)^(L-1), for L = 2 and L = 3 layers."""
    return [3 * (1 + 2 / width), 3 * (1 + 2 / width) ** 2]


def fourth_powers(width, draws, middle, outputs=16):
    """Returns the mean of f^4 over networks with one and two hidden layers; their output f has variance 1."""
    h = torch.randn(draws, 1, width)
    last = torch.randn(draws, width, outputs) / width**0.5
    return torch.stack([(x @ last)[:, 0].double().pow(4).mean(1) for x in (h, h @ middle(draws, width))], 1)


observed = partial(fourth_powers, middle=lambda k, n: torch.randn(k, n, n) / n**0.5, outputs=16)  # variance 1/fan_in
# Control: a rotation as the middle layer keeps the length of h, so it adds nothing to the kurtosis.
control = partial(fourth_powers, middle=lambda k, n: torch.linalg.qr(torch.randn(n, n))[0], outputs=16)

CLAIM = Claim(
    id="deep-linear-near-gaussian",
    question="How close to Gaussian is the output of a deep linear network?",
    equation=r"E f^4 / (E f^2)^2 = 3 (1 + 2/m)^{L-1}",
    axes=("one hidden layer, then two", "fourth moment of the output"),
    source=Source("derived"),
    premises=(Premise("all weights are independent Gaussians"), Premise("L - 1 hidden layers of m units")),
    parameters={"width": 6, "draws": 40_000},
    full={"draws": 400_000},
    judge=mean_equals(confidence=0.9995),
)
