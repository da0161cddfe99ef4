"""AdaGrad's steps for a constant gradient fall as t^-1/2 at step t, whatever the gradient's size.

With G_t = g_1^2 + ... + g_t^2 for each coordinate, gradients g_t, learning rate lr and a small constant delta,

    x_t = x_0 - lr sum_{s <= t} g_s / (sqrt(G_s) + delta)                                                (1)

which for a constant gradient is a step lr t^-1/2. Reference: [duchi2011adaptive].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals

DELTA = 1e-10


def problem(steps, seed):
    """Returns gradients of four coordinates: a small and a large constant one, and random ones of two sizes."""
    g = np.random.default_rng(seed).normal(size=(steps, 4)) * [1, 1, 1e-3, 1e3]
    g[:, 0], g[:, 1] = 1e-3, 1e3
    return g


def predicted(lr, steps, seed):
    """Returns the positions after each Adagrad step."""
    g = problem(steps, seed)
    places = -np.cumsum(lr * g / (np.sqrt(np.cumsum(g**2, 0)) + DELTA), 0)
    places[:, :2] = -np.cumsum(lr / np.sqrt(np.arange(1, steps + 1)))[:, None]
    return places


def path(make, steps, seed):
    """Returns the positions after each step of a torch optimizer that gets the problem's gradients."""
    x = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    optimizer, places = make([x]), []
    for g in torch.from_numpy(problem(steps, seed)):
        x.grad = g.clone()
        optimizer.step()
        places.append(x.detach().clone())
    return torch.stack(places)


def observed(lr, steps, seed):
    """Returns the positions after each step of torch.optim.Adagrad."""
    return path(lambda p: torch.optim.Adagrad(p, lr=lr, eps=DELTA), steps, seed)


def control(lr, steps, seed):
    """Returns the positions after each step of RMSprop, which forgets earlier squared gradients."""
    return path(lambda p: torch.optim.RMSprop(p, lr=lr, eps=DELTA), steps, seed)


CLAIM = Claim(
    id="adagrad",
    question="How do AdaGrad's steps shrink over time?",
    equation=r"\theta_t = \theta_{t-1} - \eta g_t / (\sqrt{\textstyle\sum_{s \le t} g_s^2} + \delta)",
    axes=("step, for four coordinates", "position"),
    source=Source("theorem", "duchi2011adaptive"),
    premises=(Premise("all earlier squares are added up"),),
    parameters={"lr": 0.1, "steps": 100},
    full={"steps": 3000},
    judge=equals(within=1e-6, because="delta / 1e-3 = 1e-7 of the first step of the smallest gradient, times log t"),
)
