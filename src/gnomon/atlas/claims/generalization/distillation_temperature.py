"""At high temperature T, the gradient of the distillation loss is proportional to student minus teacher logits.

    dl/dG = (softmax(G / T) - softmax(F / T)) / T  ->  (G - F) / (k T^2)   for centered logits                      (1)

F and G are the logits of teacher and student, k the number of classes, l the loss. Reference: [hinton2015distilling].
"""

from functools import partial

import torch

from gnomon.decisions.temperature import distillation_loss
from gnomon.lab import Claim, Premise, Source, equals


def problem(classes, seed):
    """Returns random logits of teacher and student, each with mean zero."""
    f, g = torch.randn(2, 1, classes, generator=torch.Generator().manual_seed(seed)).double()
    return f - f.mean(), g - g.mean()


def predicted(classes, seed):
    """Returns the difference of the student's and the teacher's logits: the scaled gradient at high temperature."""
    f, g = problem(classes, seed)
    return (g - f)[0]


def scaled_gradient(classes, t, seed):
    """Returns the gradient of the distillation loss by automatic differentiation, times k T^2."""
    f, g = problem(classes, seed)
    g = g.requires_grad_()
    (found,) = torch.autograd.grad(distillation_loss(g, f, t), g)
    return classes * t**2 * found[0]


observed = scaled_gradient  # At high temperature.
control = partial(scaled_gradient, t=1.0)  # Control: temperature 1, as in training without distillation.

CLAIM = Claim(
    id="distillation-temperature",
    question="What does distillation match at high temperature?",
    equation=r"\partial\ell/\partial G = (G - F)/(kT^2)",
    axes=("class", "gradient x k T^2"),
    source=Source("theorem", "hinton2015distilling"),
    premises=(Premise("the temperature is high: 750 or more", lambda t: t >= 750), Premise("logits are centered")),
    parameters={"classes": 10, "t": 1000.0},
    judge=equals(within=0.005, because="the next order is |G|^2 / (2 T), about 9 / 2000 at the largest logits"),
    remark="Often printed with the opposite sign, and called a difference of logits at every temperature.",
)
