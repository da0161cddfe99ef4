"""Weights of variance 1 / inputs (LeCun) keep the mean square of a signal through linear layers.

E (W x)_i^2 = n Var(w) mean(x^2), so with Var(w) = 1 / n

    E |x_L|^2 / |x_0|^2 = 1    at every depth L                                                          (1)

x_L is the signal after L layers of width n. Reference: [lecun1998efficient], Section 4.6.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(depth):
    """Returns 1, the relative mean square of the signal, for each layer."""
    return [1.0] * depth


def sizes(draw, nets, width, depth):
    """Returns the mean square of the signal after each layer divided by the initial one, for many networks."""
    x = torch.randn(nets, width, 1, dtype=torch.float64)
    start, rows = x.square().mean((1, 2)), []
    for _ in range(depth):
        x = draw(nets, width) @ x
        rows.append(x.square().mean((1, 2)) / start)
    return torch.stack(rows, 1)


observed = partial(sizes, draw=lambda m, n: torch.randn(m, n, n, dtype=torch.float64) / n**0.5)  # Gaussian weights.
# Control: torch's default weights, uniform on +-1 / sqrt(width), have variance 1 / (3 width).
control = partial(sizes, draw=lambda m, n: (2 * torch.rand(m, n, n, dtype=torch.float64) - 1) / n**0.5)

CLAIM = Claim(
    id="init-lecun",
    question="Which weight variance keeps signals through linear layers?",
    equation=r"\mathrm{Var}(w) = 1/n \Rightarrow E \|W x\|^2 = \|x\|^2",
    axes=("layer", "relative mean square of the signal"),
    source=Source("theorem", "lecun1998efficient", "Section 4.6"),
    premises=(Premise("the weights have variance 1 / inputs"),),
    parameters={"nets": 500, "width": 40, "depth": 6},
    full={"nets": 300, "width": 150, "depth": 16},
    judge=mean_equals(confidence=0.9999),
    remark="1 / inputs is the variance, and its root the standard deviation; notes use one symbol for both.",
)
