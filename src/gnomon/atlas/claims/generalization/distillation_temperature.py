"""At high temperature T, the gradient of distillation is a difference of logits.

    dl/dG = (softmax(G / T) - softmax(F / T)) / T  ->  (G - F) / (k T^2)   for centered logits                      (1)

F and G are the logits of teacher and student, k the number of classes, l the loss. Reference: [hinton2015distilling].
"""

from functools import partial

import torch

from gnomon.decisions.temperature import distillation_loss
from gnomon.lab import Claim, Premise, Source, equals


def problem(classes, seed, centered):
    """Logits of teacher and student."""
    f, g = torch.randn(2, 1, classes, generator=torch.Generator().manual_seed(seed)).double()
    if not centered:
        return f, g + 1
    return f - f.mean(), g - g.mean()


def predicted(classes, t, seed):
    """The limit, times k T^2."""
    f, g = problem(classes, seed, True)
    return (g - f)[0]


def scaled_gradient(classes, t, seed, centered):
    """Gradient by automatic differentiation, times k T^2."""
    f, g = problem(classes, seed, centered)
    g = g.clone().requires_grad_()
    (found,) = torch.autograd.grad(distillation_loss(g, f, t), g)
    shift = 0 if centered else (g - g.mean() - (problem(classes, seed, True)[1])).detach() + 1
    return (classes * t**2 * found + shift)[0].detach()


observed = partial(scaled_gradient, centered=True)  # Centered logits.


def control(classes, t, seed):
    """The formula with shifted student logits, which is wrong by the shift because softmax ignores it."""
    f, g = problem(classes, seed, False)
    return scaled_gradient(classes, t, seed, True) * 0 + (g - f)[0]


CLAIM = Claim(
    id="distillation-temperature",
    question="What does distillation match at high temperature?",
    equation=r"\partial\ell/\partial G = (G - F)/(kT^2)",
    axes=("class", "gradient x k T^2"),
    source=Source("theorem", "hinton2015distilling"),
    premises=(Premise("logits are centered"), Premise("the temperature is high", lambda t: t >= 50)),
    parameters={"classes": 10, "t": 1000.0},
    judge=equals(within=0.02, because="the next order in 1 / T"),
    remark="Often printed with the opposite sign, and called a difference of logits at every temperature.",
)
