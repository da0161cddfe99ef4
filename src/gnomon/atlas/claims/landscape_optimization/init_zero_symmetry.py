"""Hidden units that start with equal weights stay equal forever, so their layer keeps rank 1.

Two units with equal incoming weights W_i and outgoing weights v_i have equal activations and gradients, hence equal
weights after every step t:

    W_i(0) = W_j(0), v_i(0) = v_j(0)  =>  W_i(t) = W_j(t), v_i(t) = v_j(t)                               (1)

In floating point, sums of different units differ by rounding. If the loss curves downward between equal units, the
difference grows with every step, so the statement holds to rounding for about a hundred steps.
"""

from functools import partial

import torch

from gnomon.atlas.descent import descend
from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns 0, the difference between units, and 1, the rank of the first layer."""
    return [0.0, 1.0]


def train(spread, n, width, steps):
    """Returns the largest difference between units and the rank after descent; ``spread`` adds random weights."""
    x, y = torch.randn(n, 3, dtype=torch.float64), torch.randn(n, 1, dtype=torch.float64)
    net = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.Tanh(), torch.nn.Linear(width, 1)).double()
    for p in net.parameters():
        p.data = 0.3 + spread * torch.randn_like(p)
    rate = 0.8 / width  # equal units add up their curvature, so the largest stable rate is about 1 / width
    descend(torch.optim.SGD(net.parameters(), lr=rate), lambda: (net(x) - y).square().mean(), steps)
    w = net[0].weight.detach()
    return [float((w - w[:1]).abs().max()), float(torch.linalg.matrix_rank(w, rtol=1e-6))]


observed = partial(train, spread=0.0)  # Constant weights.
control = partial(train, spread=0.3)  # Random weights.

CLAIM = Claim(
    id="init-zero-symmetry",
    question="Why must weights be initialized at random?",
    equation=r"W_i(0) = W_j(0) \Rightarrow W_i(t) = W_j(t)",
    axes=("largest difference between units, then rank", "difference; rank"),
    source=Source("derived"),
    premises=(Premise("all hidden units start equal"),),
    parameters={"n": 20, "width": 8, "steps": 100},
    full={"n": 200, "width": 64, "steps": 100},
    judge=equals(
        within=3e-10, because="100 steps of eps each, which curvature of -1 multiplies by up to 1.1^100 = 1e4"
    ),
)
