"""If outputs are divided by the width m, trained networks approach one limit, a flow of neurons, at the rate m^(-1/2).

In f = (1/m) sum_i v_i tanh(w_i x), trained at rate m, the velocity of neuron i depends only on (v_i, w_i) and f: it is
minus the gradient of the first variation of the risk at the distribution mu_t of all neurons,

    d mu_t / dt = -div(v_t mu_t),       f = integral v tanh(w x) d mu_t                                      (1)

m neurons are a sample of mu, so outputs differ from the limit by m^-1/2. Reference: [mei2018mean]; [chizat2018global].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns -1/2, the exponent of the width in the distance to the infinitely wide network."""
    return -0.5


def outputs(x, y, test, nets, m, power, time=2.0, step=0.05):
    """Returns the test outputs of trained networks whose outputs are the sum over neurons times width^-power."""
    w, v, c = torch.randn(nets, m, 3), torch.randn(nets, m, 1), m**-power
    for _ in range(round(time / step)):
        h = torch.tanh(x @ w.mT)
        r = (y - c * h @ v) / (m * c)
        w, v = w + step * (r * (1 - h**2) * v.mT).mT @ x, v + step * h.mT @ r
    return (c * torch.tanh(test @ w.mT) @ v)[..., 0]


def on_sphere(n):
    """Returns random points of length sqrt(dimension); longer points make training unstable."""
    return 3**0.5 * nn.functional.normalize(torch.randn(n, 3))


def distances(nets, widths, reference, power):
    """Returns RMS distances between outputs of networks and of a much wider network, for groups of 10 networks."""
    x, y, test = on_sphere(5), 2 * torch.rand(5, 1) - 1, on_sphere(10)
    target = outputs(x, y, test, 2, reference, power).mean(0)
    apart = [(outputs(x, y, test, nets, m, power) - target).square() for m in widths]
    rows = [squares.reshape(nets // 10, -1).mean(1).sqrt() for squares in apart]
    return widths, torch.stack(rows, 1)


observed = partial(distances, power=1.0)  # The output is the sum over neurons divided by the width.
control = partial(distances, power=0.5)  # Control: divided by sqrt(width), the initial output stays random.

CLAIM = Claim(
    id="mean-field-flow",
    question="What is the infinite-width limit if the output is divided by the width?",
    equation=r"\partial_t \mu_t = -div(v_t \mu_t), \quad |f_m - f_\mu| = O(m^{-1/2})",
    axes=("width m", "distance to a very wide network"),
    source=Source("theorem", "mei2018mean", "Theorem 3"),
    premises=(
        Premise("the output is a sum over units divided by the width"),
        Premise("networks come in at least two groups of 10", lambda nets: nets >= 20 and nets % 10 == 0),
    ),
    parameters={"nets": 240, "widths": (32, 128, 512), "reference": 16384},
    full={"nets": 120, "widths": (32, 128, 512, 2048), "reference": 131072},
    judge=rate_is(confidence=0.999, within=0.03, because="the reference is 1/8 of the distance off", label="width"),
)
