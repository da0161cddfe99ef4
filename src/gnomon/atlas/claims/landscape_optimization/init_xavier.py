"""Xavier's variance 2/(n + m) scales squared signals by 2n/(n + m) and gradients by 2m/(n + m), 1 on average.

A layer from n to m features with weight variance v multiplies the mean square of the signal by n v and gradient by m v:

    n v = 2 n / (n + m),    m v = 2 m / (n + m),    with the mean 1                                      (1)

Both are 1 for n = m. Reference: [glorot2010understanding], equation 12.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, mean_equals

LAYER_SHAPES = ((64, 64), (32, 96), (120, 40))


def predicted():
    """Returns the predicted factors of squared signal and gradient, for three layer shapes."""
    return [2 * side / (n + m) for n, m in LAYER_SHAPES for side in (n, m)]


def factors(fill, nets):
    """Returns the measured factors of squared signal and gradient, for each network and shape."""
    rows = []
    for _ in range(nets):
        row = []
        for n, m in LAYER_SHAPES:
            layer = nn.Linear(n, m, bias=False)
            fill(layer.weight)
            x, g = torch.randn(n, requires_grad=True), torch.randn(m)
            y = layer(x)
            back = torch.autograd.grad(y, x, g)[0]
            row += [y.square().mean() / x.square().mean(), back.square().mean() / g.square().mean()]
        rows.append(torch.stack(row).detach())
    return torch.stack(rows)


observed = partial(factors, fill=nn.init.xavier_normal_)  # torch's xavier_normal_.
control = partial(factors, fill=lambda w: nn.init.normal_(w, std=0.01))  # Control: weights of standard deviation 0.01.

CLAIM = Claim(
    id="init-xavier",
    question="What does Xavier initialization preserve?",
    equation=r"n v = \frac{2 n}{n + m}, \quad m v = \frac{2 m}{n + m}",
    axes=("signal and gradient, for three layer shapes", "factor of the mean square"),
    source=Source("theorem", "glorot2010understanding", "equation 12"),
    premises=(Premise("the weights have variance 2 / (inputs + outputs)"),),
    parameters={"nets": 150},
    full={"nets": 3000},
    judge=mean_equals(confidence=0.9999),
    remark="Some notes use this name for 1 / inputs. That it lowers the complexity of the model is not shown.",
)
