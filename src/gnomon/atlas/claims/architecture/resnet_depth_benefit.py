"""A plain network with forty layers does not train, but the same network with skip connections does.

    loss(residual) < log(10) / 2 < loss(plain)    after the same training                                     (1)

log(10) is the loss of guessing ten classes. Both networks train on 200 digits with Adam. Reference: [he2016deep].
"""

from functools import partial

import numpy as np
import torch

from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of both networks and of half the loss of guessing, from the smallest loss to the largest."""
    return ("residual", "half of guessing", "plain")


def final_losses(skip, depth, width, steps, nets, seed):
    """Trains several networks with Adam on 200 digits and returns their final training losses."""
    torch.manual_seed(seed)
    data = digits(200, 10, seed=0)
    x, y = data.x.flatten(1).float().expand(nets, -1, -1), data.y.expand(nets, -1)
    sizes = [(x.shape[2], width, 1 / 3), *[(width, width, 2.0)] * depth, (width, 10, 1 / 3)]
    weights = [(torch.randn(nets, a, b) * (c / a) ** 0.5).requires_grad_() for a, b, c in sizes]
    biases = [torch.zeros(nets, 1, b, requires_grad=True) for _, b, _ in sizes]
    optimizer = torch.optim.Adam(weights + biases, lr=3e-3)
    scale = 1 / depth if skip else 1.0
    for _ in range(steps):
        h = torch.baddbmm(biases[0], x, weights[0])
        for w, b in zip(weights[1:-1], biases[1:-1], strict=True):
            h = skip * h + scale * torch.relu(torch.baddbmm(b, h, w))
        out = torch.baddbmm(biases[-1], h, weights[-1])
        losses = torch.nn.functional.cross_entropy(out.mT, y, reduction="none").mean(1)
        optimizer.zero_grad()
        losses.sum().backward()
        optimizer.step()
    return losses.detach().double().numpy()


def losses_of_both(depth, width, steps, nets, seed):
    """Returns the final losses of residual and plain networks, and half the loss of guessing."""
    plain, residual = (final_losses(skip, depth, width, steps, nets, seed) for skip in (0, 1))
    return {"residual": residual, "half of guessing": np.full(nets, np.log(10) / 2), "plain": plain}


observed = losses_of_both  # Deep networks.
control = partial(losses_of_both, depth=1)  # Control: networks of one hidden layer also train without skip connections.

CLAIM = Claim(
    id="resnet-depth-benefit",
    question="Why do very deep networks need skip connections?",
    equation=r"L_{\text{residual}} < \tfrac12 \ln 10 < L_{\text{plain}} \text{ at depth } 40",
    axes=("network, compared with half the loss of guessing", "final training loss"),
    source=Source("observed", "he2016deep"),
    premises=(Premise("the networks are deep", lambda depth: depth >= 30),),
    parameters={"depth": 40, "width": 32, "steps": 45, "nets": 8},
    full={"nets": 30},
    judge=in_order(),
    remark="Residual blocks are scaled by 1 / depth so that signals have the same size in both networks at the start.",
)
