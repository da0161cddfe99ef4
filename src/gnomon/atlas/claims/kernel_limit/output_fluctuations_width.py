"""Wide networks' trained outputs differ between random initializations by an amount of order width^-1/2.

The trained output is a smooth function of the initial tangent kernel, which is a mean over m independent units, so

    std over initializations of F(x) = O(m^-1/2)                                                             (1)

The part of the test error that comes from the random initialization is of order 1/m. Reference: [geiger2020scaling].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -1/2, the exponent of the width in the standard deviation of trained outputs."""
    return -0.5


def output_deviation(groups, nets, widths, centered, time=3.0, step=0.15):
    """Returns the standard deviation of trained outputs over the networks of each group, at each width."""
    x, y, test = torch.randn(5, 3), torch.randn(5, 1), torch.randn(4, 3)
    found = []
    for m in widths:
        w, v = torch.randn(groups * nets, m, 3), torch.randn(groups * nets, m, 1)
        start, begin = (torch.tanh(part @ w.mT) @ v * centered for part in (x, test))
        for _ in range(round(time / step)):
            h = torch.tanh(x @ w.mT)
            r = (y * m**0.5 - (h @ v - start)) / m
            w, v = w + step * (r * (1 - h**2) * v.mT).mT @ x, v + step * h.mT @ r
        out = (torch.tanh(test @ w.mT) @ v - begin) / m**0.5
        found.append(out.reshape(groups, nets, 4).var(1).mean(1).sqrt())
    return widths, torch.stack(found, 1)


observed = partial(output_deviation, centered=1.0, time=3.0, step=0.15)  # The initial output is subtracted.
# Control: the initial output, which is random and differs between networks, is not subtracted.
control = partial(output_deviation, centered=0.0, time=3.0, step=0.15)

CLAIM = Claim(
    id="output-fluctuations-width",
    question="How much do trained networks differ between initializations?",
    equation=r"std F(x) = O(m^{-1/2})",
    axes=("width m", "standard deviation of the output"),
    source=Source("observed", "geiger2020scaling"),
    premises=(Premise("the initial output is subtracted"), Premise("the network is wide")),
    parameters={"groups": 16, "nets": 8, "widths": (48, 144, 432)},
    full={"groups": 20, "nets": 20, "widths": (32, 128, 512, 2048)},
    judge=rate_is(confidence=0.999, within=0.05, because="the next order is about a third of 48^-1/2", label="width"),
)
