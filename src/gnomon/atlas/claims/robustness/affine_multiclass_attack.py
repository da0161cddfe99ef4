"""A linear classifier's distance to the nearest other class is the smallest (score gap) / |weight difference|.

    r = min over j != i of (f_i(x) - f_j(x)) / |w_i - w_j|                                                    (1)

f_i is the largest score at x, w_i are the weights of class i, and r the distance.
Reference: [moosavi2016deepfool], equation 8.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.robustness.attacks import DeepFool, minimal_distance


def problem(d, classes, n, seed):
    """Returns an affine classifier, inputs, and its decisions."""
    torch.manual_seed(seed)
    net, x = torch.nn.Linear(d, classes).double(), torch.rand(n, d).double()
    return net, x, net(x).argmax(1)


def predicted(d, classes, n, seed):
    """Returns the distance to the nearest other class, for each input."""
    net, x, y = problem(d, classes, n, seed)
    w, f = net.weight.detach().numpy(), net(x).detach().numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = (f[np.arange(n), y][:, None] - f) / np.linalg.norm(w[y][:, None] - w[None], axis=2)
    return np.nanmin(ratios, axis=1)


def distance(bounds, d, classes, n, seed):
    """Returns the smallest distance at which a DeepFool attack changes the decision, for each input."""
    net, x, y = problem(d, classes, n, seed)
    return minimal_distance(net, (x, y), norm="2", bounds=bounds, method=DeepFool(overshoot=0.0)).above


observed = partial(distance, bounds=(-1e3, 1e3))  # Practically unbounded inputs.
control = partial(distance, bounds=(0.0, 1.0))  # Control: inputs must stay in [0, 1], which excludes some points.

CLAIM = Claim(
    id="affine-multiclass-attack",
    question="Which class is nearest to an input?",
    equation=r"r = \min_{j \ne i} \frac{f_i(x) - f_j(x)}{\|w_i - w_j\|}",
    axes=("input", "distance to the nearest other class"),
    source=Source("theorem", "moosavi2016deepfool", "equation 8"),
    premises=(Premise("inputs may have any value"),),
    parameters={"d": 10, "classes": 5, "n": 20},
    full={"d": 64, "classes": 10, "n": 300},
    judge=equals(within=2e-3, because="the attack ends a step of 1e-6 and 2^-12 beyond the boundary"),
)
