"""DeepFool finds closer adversarial examples of a trained network than the best single step along the gradient.

    mean distance of DeepFool  <=  mean distance of the best single step along the gradient                   (1)

Often misprinted: the loop ends if f_j > f_i for another class j (not f_i > f_i), and the network is linearized at the
current point x + e (not at x). Reference: [moosavi2016deepfool].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.atlas.descent import descend
from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, in_order
from gnomon.robustness.attacks import DeepFool, minimal_distance


def problem(width, seed):
    """Returns a network trained on digits, and the test digits that it classifies correctly."""
    torch.manual_seed(seed)
    split = digits(600, 60, seed=seed)
    x, z = split.x.double(), split.x_test.double()
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.Tanh(), nn.Linear(width, 10)).double()
    descend(torch.optim.Adam(net.parameters(), 0.02), lambda: nn.functional.cross_entropy(net(x), split.y), 60)
    with torch.no_grad():
        right = net(z).argmax(1) == split.y_test
    return net, z[right], split.y_test[right]


def predicted():
    """Returns the names of the attacks, the one with the smaller distance first."""
    return ("DeepFool", "one step")


def one_step(net, x, y):
    """Returns the shortest step along the gradient that changes each decision, from a grid; 4 if none does."""
    leaf = x.clone().requires_grad_()
    (g,) = torch.autograd.grad(nn.functional.cross_entropy(net(leaf), y, reduction="sum"), leaf)
    g = g / g.flatten(1).norm(dim=1)[:, None, None, None]
    found = torch.full((len(x),), 4.0, dtype=torch.float64)
    with torch.no_grad():
        for length in np.linspace(4.0, 0.02, 200):
            found[net(x + length * g).argmax(1) != y] = length
    return found


def distances(method, width, seed):
    """Returns the distance of each digit for both attacks; 4 if the decision never changes."""
    net, x, y = problem(width, seed)
    found = minimal_distance(net, (x, y), norm="2", bounds=(-9, 9), method=method).above
    return {"DeepFool": torch.where(found.isfinite(), found, 4.0), "one step": one_step(net, x, y)}


observed = partial(distances, method=DeepFool(overshoot=0.01))  # DeepFool linearizes the network again at every step.
control = partial(distances, method=DeepFool(steps=1, overshoot=0.01))  # Control: DeepFool linearizes only once.

CLAIM = Claim(
    id="deepfool",
    question="Does DeepFool find closer adversarial examples than one gradient step?",
    equation=r"E \|\eta_{\mathrm{DeepFool}}\| \le E \|\eta_{\mathrm{one\ step}}\|",
    axes=("attack", "distance to the adversarial example"),
    source=Source("observed", "moosavi2016deepfool"),
    premises=(Premise("the network is linearized again at every point"),),
    parameters={"width": 30},
    full={"width": 100},
    judge=in_order(),
    remark="Often misprinted: the stopping test compares f_i with itself, and the linearization stays at x.",
)
