"""Forty plain layers do not train, but forty residual layers do.

    loss of the plain network >= 5 x loss of the residual network, after the same training                    (1)

Both networks train on 200 digits with Adam. Reference: [he2016deep].
"""

from functools import partial

import numpy as np
import torch

from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Equation (1)."""
    return 5.0


def final_loss(skip, depth, width, steps, seed):
    """Training loss on digits after Adam on all 200 examples; weights by He's rule."""
    torch.manual_seed(seed)
    data = digits(200, 10, seed=0)
    x, y = data.x.flatten(1).float(), data.y
    first, last = torch.nn.Linear(x.shape[1], width), torch.nn.Linear(width, 10)
    layers = [torch.nn.Linear(width, width) for _ in range(depth)]
    for layer in layers:
        torch.nn.init.kaiming_normal_(layer.weight)
    optimizer = torch.optim.Adam([p for m in (first, last, *layers) for p in m.parameters()], lr=3e-3)
    scale = 1 / depth if skip else 1.0
    for _ in range(steps):
        h = first(x)
        for layer in layers:
            h = skip * h + scale * torch.relu(layer(h))
        loss = torch.nn.functional.cross_entropy(last(h), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def ratios(depth, width, steps, seeds, seed):
    """Loss of the plain network divided by loss of the residual network."""
    pairs = [(final_loss(s, depth, width, steps, seed + i) for s in (0, 1)) for i in range(seeds)]
    return np.array([plain / residual for plain, residual in pairs])


observed = ratios  # Deep networks.
control = partial(ratios, depth=1)  # Networks with one such layer.

CLAIM = Claim(
    id="resnet-depth-benefit",
    question="Why do very deep networks need skip connections?",
    equation=r"L_{\text{plain}} \ge 5\, L_{\text{residual}} \text{ at depth } 40",
    axes=("training run", "loss of the plain network / loss of the residual network"),
    source=Source("observed", "he2016deep"),
    premises=(Premise("the networks are deep", lambda depth: depth >= 30),),
    parameters={"depth": 40, "width": 32, "steps": 100, "seeds": 1},
    full={"steps": 300, "seeds": 5},
    judge=bounded_by("below"),
    remark="Residual blocks are scaled by 1 / depth so that signals have the same size in both networks at the start.",
    loose_because="5 is the smallest benefit that the statement requires; after these steps it is about 70.",
)
