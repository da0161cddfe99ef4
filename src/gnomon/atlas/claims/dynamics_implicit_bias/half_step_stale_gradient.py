"""Gradient descent follows a modified loss, whose gradient is the loss gradient half a step earlier.

w + (r/2) g is the point half a step earlier, with g the gradient of the loss C. By Taylor, g(w + (r/2) g) = g + (r/2) H
g + O(r^2), and H g is half the gradient of |g|^2, so

    g(w + (r/2) g(w)) = grad [ C + (r/4)|g|^2 ](w) + O(r^2)                                                    (1)
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 2, the exponent of the step size in the difference of modified and earlier gradient."""
    return 2.0


def gap(points, d, rates, age):
    """Returns the difference of the modified loss's gradient and the gradient ``age`` steps earlier, per step size."""
    b, c = torch.randn(2 * d, d).double() / d**0.5, torch.randn(2 * d).double()
    loss = lambda w: (w**2).sum() / 2 + torch.cos(w @ b.T + c).sum()  # noqa: E731
    gradient = lambda w: torch.autograd.grad(loss(w), w, create_graph=True)[0]  # noqa: E731
    w = torch.randn(points, d).double().requires_grad_()
    g = gradient(w)
    turn = torch.autograd.grad((g**2).sum(), w, retain_graph=True)[0]
    errors = [(gradient(w + age * r * g) - g - r / 4 * turn).norm(dim=1).detach() for r in rates]
    return rates, torch.stack(errors, 1)


observed = partial(gap, age=0.5)  # The test uses the loss gradient from half a step earlier.
control = partial(gap, age=1.0)  # Control: the loss gradient from a whole step earlier is used.

CLAIM = Claim(
    id="half-step-stale-gradient",
    question="What is the gradient of the modified loss of gradient descent?",
    equation=r"\nabla C(w + \tfrac{r}{2} \nabla C) = \nabla C + \tfrac{r}{4} \nabla \|\nabla C\|^2 + O(r^2)",
    axes=("step size r", "error of the identity"),
    source=Source("derived", "barrett2021implicit"),
    premises=(Premise("the gradient is half a step old"), Premise("the loss is smooth")),
    parameters={"points": 10, "d": 5, "rates": (0.001, 0.002, 0.004, 0.008)},
    full={"points": 100, "d": 20, "rates": (0.0005, 0.001, 0.002, 0.004, 0.008)},
    judge=rate_is(confidence=0.999, next_order=1.0, label="step size"),
)
