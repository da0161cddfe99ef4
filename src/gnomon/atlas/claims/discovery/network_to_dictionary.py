"""A convolution trained on advection and diffusion can be written as these two differential operators.

    argmin_c sum_i |f(x_i) - sum_j c_j theta_j(x_i)|^2,  few c_j nonzero                                     (1)

f is the layer, theta_j are the terms of the dictionary and c_j their coefficients.
"""

from functools import partial

import torch
from torch import nn

from gnomon.discovery import TermLibrary, distill_equation
from gnomon.lab import Claim, Premise, Source, equals


def predicted(advection, diffusion):
    """Returns ratio 1 of both coefficients to the truth, 0 other terms, and 1: the equation fits the layer to 98 %."""
    return [1.0, 1.0, 0.0, 1.0]


def measure(n, advection, diffusion, seed, steps):
    """Returns the equation written from a trained filter of seven taps, compared with the true coefficients."""
    draw = torch.Generator().manual_seed(seed)
    k, h = torch.arange(1, 9), 0.2
    x = torch.arange(n) * h
    size, phase = torch.randn(60, 1, 8, generator=draw) / k, 6 * torch.rand(60, 1, 8, generator=draw)
    inner = 0.3 * k * x[:, None] + phase
    u = (size * torch.sin(inner)).sum(2)
    slope, bend = (size * 0.3 * k * torch.cos(inner)).sum(2), -(size * (0.3 * k) ** 2 * torch.sin(inner)).sum(2)
    layer = nn.Conv1d(1, 1, 7, padding=3, bias=False)
    if steps:
        optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=steps, line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            goal = -advection * slope + diffusion * bend
            loss = (layer(u[:, None])[:, 0, 8:-8] - goal[:, 8:-8]).square().mean()
            loss.backward()
            return loss

        optimizer.step(closure)
    found = distill_equation(layer, TermLibrary(degree=2, order=3), u[:, None], dx=h)
    law = found.equation
    others = float(len(set(law.terms) - {"u_x", "u_xx"}))
    return [-law.coefficient("u_x") / advection, law.coefficient("u_xx") / diffusion, others, found.fidelity >= 0.98]


observed = partial(measure, steps=100)  # After 100 iterations.
control = partial(measure, steps=0)  # Untrained.

CLAIM = Claim(
    id="network-to-dictionary",
    question="Can a trained layer be read as differential operators?",
    equation=r"\arg\min_\alpha \sum_i \|\phi_W(x_i) - (\{\partial_x,\dots\}\alpha)(x_i)\|^2 + \|\alpha\|_0",
    axes=("advection, diffusion, extra terms, fidelity check", "ratio to the truth; count; 1 if true"),
    source=Source("observed", "cranmer2020discovering"),
    premises=(Premise("the layer has learned the operator"),),
    parameters={"n": 96, "advection": 0.7, "diffusion": 0.2},
    full={"n": 256},
    covers=("filters-not-interpretable",),
    judge=equals(within=0.05, because="5 % of the coefficients, as the statement says"),
)
