"""Second differences of a network's loss give its Hessian, which is symmetric.

J(x + t v) = J + t <grad J, v> + (t^2 / 2) v^T H v + ... for weights x and direction v, so

    (J(x + t v) - 2 J(x) + J(x - t v)) / t^2 = v^T H v + O(t^2)                                          (1)

and the mixed difference over u and v is u^T H v = v^T H u. Reference: [pearlmutter1994fast], for products with H.
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals

STEP_LENGTH = 1e-3


def problem(n, width, seed):
    """Returns a tanh network's loss as a function of one weight vector, a point, and two directions."""
    torch.manual_seed(seed)
    x, y = torch.randn(n, 3, dtype=torch.float64), torch.randn(n, dtype=torch.float64)
    place, u, v = torch.randn(3, 4 * width, dtype=torch.float64)

    def loss(w):
        return (torch.tanh(x @ w[: 3 * width].view(3, width)) @ w[3 * width :] / width**0.5 - y).square().mean()

    return loss, place, u / u.norm(), v / v.norm()


def predicted(n, width, seed):
    """Returns v^T H v, u^T H v and v^T H u for the Hessian H and two directions, by autograd."""
    loss, place, u, v = problem(n, width, seed)
    hu, hv = (torch.autograd.functional.hvp(loss, place, d)[1] for d in (u, v))
    return torch.stack([v @ hv, u @ hv, v @ hu])


def differences(loss, place, u, v):
    """Returns v^T H v, u^T H v and v^T H u for the Hessian H, by differences of the loss."""
    t = STEP_LENGTH
    along = (loss(place + t * v) - 2 * loss(place) + loss(place - t * v)) / t**2
    ends = (loss(place + t * (a * u + b * v)) * a * b for a in (1, -1) for b in (1, -1))
    mixed = sum(ends) / (4 * t**2)
    return torch.stack([along, mixed, mixed])


def observed(n, width, seed):
    """Returns v^T H v, u^T H v and v^T H u by differences, for the network's smooth loss with Hessian H."""
    return differences(*problem(n, width, seed))


def control(n, width, seed):
    """Returns the three differences for a loss with a kink at the point, which has no second derivative."""
    loss, place, u, v = problem(n, width, seed)
    return differences(lambda w: loss(w) + 0.1 * ((w - place) @ v).abs(), place, u, v)


CLAIM = Claim(
    id="hessian-curvature",
    question="How can the Hessian be measured from values of the loss?",
    equation=r"J(\theta + t v) = J + t \nabla J^T v + \tfrac{t^2}{2} v^T H v + \dots",
    axes=("along v, mixed u v, mixed v u", "second derivative"),
    source=Source("derived", "pearlmutter1994fast"),
    premises=(Premise("the loss is twice differentiable"),),
    parameters={"n": 30, "width": 8},
    full={"n": 1000, "width": 100},
    judge=equals(
        within=1e-4, because="t^2 = 1e-6 times fourth derivatives of order 10, and rounding 1e-16 / t^2 = 1e-10"
    ),
)
