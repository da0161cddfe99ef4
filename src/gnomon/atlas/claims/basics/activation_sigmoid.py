"""The largest slope of the sigmoid is 1/4 and the largest slope of tanh is 1, both at zero.

s(z) = 1 / (1 + e^{-z}) has the slope s (1 - s), and tanh the slope 1 - tanh^2. A product p (1 - p) is at most 1/4, so

    max s' = 1/4,    max |tanh'| = 1,    at z = 0                                                        (1)
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns the largest slopes of sigmoid and tanh and their places, then 0, the error of tanh(-z) = -tanh(z)."""
    return [1 / 4, 0.0, 1.0, 0.0, 0.0]


def slopes(points, gain):
    """Returns the largest slope of sigmoid and of tanh, their places, and the largest |tanh(z) + tanh(-z)|."""
    z = torch.linspace(-10, 10, 2 * points + 1, dtype=torch.float64, requires_grad=True)
    found = []
    for f in (torch.sigmoid, torch.tanh):
        (slope,) = torch.autograd.grad(f(gain * z).sum(), z)
        found += [slope.abs().max(), z[slope.abs().argmax()].detach()]
    return [float(v) for v in (*found, (torch.tanh(z) + torch.tanh(-z)).detach().abs().max())]


observed = partial(slopes, gain=1.0)  # Unscaled input.
control = partial(slopes, gain=2.0)  # Control: the input of the sigmoid is doubled, which doubles the slope.

CLAIM = Claim(
    id="activation-sigmoid",
    question="How steep are the sigmoid and tanh?",
    equation=r"\max \sigma' = 1/4, \quad \max \tanh' = 1",
    axes=("sigmoid and tanh (slope, place), then error of oddness", "slope; place; error"),
    source=Source("derived"),
    premises=(Premise("the input is not scaled"),),
    parameters={"points": 1000},
    full={"points": 1_000_000},
    judge=equals(rounding=10),
    covers=("activation-tanh",),
)
