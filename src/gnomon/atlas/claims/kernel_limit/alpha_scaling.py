"""If a network's output starts at zero, its laziness number kappa falls as 1 / alpha with the output scale alpha.

With the loss L(w) = |alpha f(w) - y|^2 / (2 alpha^2) and initial weights w_0, the laziness number is

    kappa(alpha) = (1/alpha) |alpha f(w_0) - y| |D^2 f| / |D f|^2                                            (1)

D f and D^2 f are the first and second derivatives. If f(w_0) = 0, kappa falls as 1/alpha; otherwise it has the floor
|f(w_0)| |D^2 f| / |D f|^2. Reference: [chizat2019lazy], equation 4.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.tangent import laziness_criterion


def predicted(scales):
    """Returns 1, the rescaled laziness number alpha kappa(alpha) / kappa(1), at each output scale alpha."""
    return [1.0] * len(scales)


def numbers(width, scales, centered):
    """Returns the measured alpha kappa(alpha) / kappa(1) of one network, at each output scale alpha."""
    net = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 1)).double()
    with torch.no_grad():
        net[2].bias.add_(1.0)
    x, y = torch.randn(4, 3).double(), torch.randn(4, 1).double()
    measure = partial(laziness_criterion, net, (x, y), centered=centered, starts=1, iterations=2)
    found = [measure(alpha=a).value for a in (1.0, *scales)]
    return [a * k / found[0] for a, k in zip(scales, found[1:], strict=True)]


observed = partial(numbers, centered=True)  # The test trains the network's output minus its initial output.
control = partial(numbers, centered=False)  # Control: the network's output, which does not start at zero.

CLAIM = Claim(
    id="alpha-scaling",
    question="How does the laziness number depend on the output scale?",
    equation=r"\kappa_\alpha = \frac{1}{\alpha} \|\alpha f(w_0) - y\| \, \|D^2 f\| / \|D f\|^2",
    axes=("output scale alpha", "alpha x kappa(alpha) / kappa(1)", "scales"),
    source=Source("theorem", "chizat2019lazy", "equation 4"),
    premises=(Premise("the output starts at zero"),),
    parameters={"width": 32, "scales": (8.0, 64.0)},
    full={"width": 128, "scales": (4.0, 16.0, 64.0, 256.0)},
    judge=equals(rounding=10_000),
)
