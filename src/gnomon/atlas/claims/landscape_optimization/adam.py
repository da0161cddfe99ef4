"""Adam divides bias-corrected averages; without the correction its first step would be 3.16 times as long.

With weights w_s = (1 - b) b^(t-s) / (1 - b^t) and v_s = (1 - a) a^(t-s) / (1 - a^t), both of sum one, gradients g_s,
learning rate lr and a small constant delta,

    x_t = x_{t-1} - lr sum_s w_s g_s / (sqrt(sum_s v_s g_s^2) + delta)                                   (1)

Without the correction the first step is (1 - b) / sqrt(1 - a) = 3.16 times as long at b = 0.9, a = 0.999.
Reference: [kingma2015adam], Algorithm 1.
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals

MEAN_DECAY = 0.9  # b
SQUARE_DECAY = 0.999  # a
DELTA = 1e-8


def problem(steps, seed):
    """Returns random gradients of three weights, for all steps."""
    return np.random.default_rng(seed).normal(size=(steps, 3)) * [0.01, 1, 100]


def predicted(lr, steps, seed):
    """Returns Adam's steps, then the first step without bias correction divided by the one with correction."""
    g, rows = problem(steps, seed), []
    for t in range(1, steps + 1):
        w, v = ((1 - c) * c ** np.arange(t - 1, -1, -1) / (1 - c**t) for c in (MEAN_DECAY, SQUARE_DECAY))
        rows.append(-lr * (w @ g[:t]) / (np.sqrt(v @ g[:t] ** 2) + DELTA))
    return np.r_[np.ravel(rows), (1 - MEAN_DECAY) / np.sqrt(1 - SQUARE_DECAY)]


def uncorrected_steps(lr, steps, seed):
    """Returns the steps of Adam without bias correction."""
    mean, square, rows = 0.0, 0.0, []
    for g in problem(steps, seed):
        mean, square = MEAN_DECAY * mean + (1 - MEAN_DECAY) * g, SQUARE_DECAY * square + (1 - SQUARE_DECAY) * g**2
        rows.append(-lr * mean / (np.sqrt(square) + DELTA))
    return np.array(rows)


def observed(lr, steps, seed):
    """Returns the steps of torch.optim.Adam, then the first uncorrected step divided by torch's."""
    x, rows = torch.zeros(3, dtype=torch.float64, requires_grad=True), []
    optimizer = torch.optim.Adam([x], lr=lr, betas=(MEAN_DECAY, SQUARE_DECAY), eps=DELTA)
    for g in torch.from_numpy(problem(steps, seed)):
        before, x.grad = x.detach().clone(), g.clone()
        optimizer.step()
        rows.append((x.detach() - before).numpy())
    return np.r_[np.ravel(rows), uncorrected_steps(lr, steps, seed)[0, 2] / rows[0][2]]


def control(lr, steps, seed):
    """Returns Adam's steps without bias correction, then the ratio 1."""
    return np.r_[np.ravel(uncorrected_steps(lr, steps, seed)), 1.0]


CLAIM = Claim(
    id="adam",
    question="Why does Adam correct its running means?",
    equation=r"\theta_t = \theta_{t-1} - \eta \frac{g_t / (1 - \beta^t)}{\sqrt{\gamma_t / (1 - \alpha^t)} + \delta}",
    axes=("step, for three coordinates, then ratio of first steps", "step; ratio"),
    source=Source("theorem", "kingma2015adam", "Algorithm 1"),
    premises=(Premise("both means are corrected for their start at zero"),),
    parameters={"lr": 0.1, "steps": 50},
    full={"steps": 1000},
    judge=equals(within=1e-6, because="delta is 1e-8 of gradients of order 1 before the correction, 3e-7 after it"),
    remark="Lecture notes often leave out the corrections, and the learning rate.",
)
