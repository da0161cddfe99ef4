"""The smoothed margin (log-sum-exp) of n examples is below the true margin by at most ln n / |w|^L.

For the summed exponential loss e^{-min m} <= sum_i e^{-m_i} <= n e^{-min m}. Taking -ln and dividing by |w|^L,

    g - ln n / |w|^L  <=  g~ = -ln(sum_i e^{-m_i}) / |w|^L  <=  g = min_i m_i / |w|^L                          (1)

m_i are the margins of the n examples, w the weights, L the degree of homogeneity, g the margin and g~ the smoothed one.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, d, width, draws, seed):
    """Returns examples, labels, and the weights of many two-layer ReLU networks, homogeneous of degree 2."""
    rng = np.random.default_rng(seed)
    size = np.exp(rng.normal(size=(draws, 1, 1)))
    w, v = size * rng.normal(size=(draws, width, d)), size * rng.normal(size=(draws, width, 1))
    return rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n), w, v


def predicted(n, d, width, draws, seed):
    """Returns the upper bounds on the smoothed margin, and on the margin minus the smoothed margin."""
    x, y, w, v = problem(n, d, width, draws, seed)
    margins = np.stack([y * (np.maximum(x @ a.T, 0) @ b)[:, 0] for a, b in zip(w, v, strict=True)])
    norm = (w**2).sum((1, 2)) + (v**2).sum((1, 2))
    return np.stack([margins.min(1) / norm, np.log(n) / norm])


def smoothed_margins(n, d, width, draws, seed, reduce):
    """Returns the smoothed margin, and the margin minus the smoothed margin, from outputs of torch."""
    x, y, w, v = (torch.from_numpy(a) for a in problem(n, d, width, draws, seed))
    margins = y * (torch.relu(x @ w.mT) @ v)[..., 0]
    norm = w.flatten(1).norm(dim=1) ** 2 + v.flatten(1).norm(dim=1) ** 2
    value = -reduce(margins) / norm
    return torch.stack([value, margins.amin(1) / norm - value])


observed = partial(smoothed_margins, reduce=lambda m: torch.logsumexp(-m, 1))  # log of the summed exponentials e^-m


def control(n, d, width, draws, seed):
    """Returns smoothed margin and gap if exponentials are averaged over examples instead of summed."""
    return smoothed_margins(n, d, width, draws, seed, lambda m: torch.logsumexp(-m, 1) - np.log(n))


CLAIM = Claim(
    id="smooth-margin-sandwich",
    question="How far is the smoothed margin from the true margin?",
    equation=r"\gamma - \ln n / \|w\|^L \le \tilde\gamma \le \gamma",
    axes=("network (upper bound, then gap)", "smoothed margin; gap to the margin"),
    source=Source("derived", "lyu2020gradient"),
    premises=(Premise("the loss is summed over the examples"), Premise("the network is homogeneous in its weights")),
    parameters={"n": 10, "d": 4, "width": 5, "draws": 2000},
    full={"n": 50, "width": 20, "draws": 10_000},
    judge=bounded_by("above", rounding=10_000),
)
