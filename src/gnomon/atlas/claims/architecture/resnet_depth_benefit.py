"""A plain network with forty layers does not train, but the same network with skip connections does.

    loss of the plain network >= 12 x loss of the residual network, after the same training                   (1)

Both networks train on 200 digits with Adam. Reference: [he2016deep].
"""

from functools import partial

import numpy as np
import torch

from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Returns 12, the lower bound of equation (1) on the ratio of the losses."""
    return 12.0


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


def ratios(depth, width, steps, nets, seed):
    """Returns the final loss of the plain network divided by the loss of the residual network."""
    return np.divide(*(final_losses(skip, depth, width, steps, nets, seed) for skip in (0, 1)))


observed = ratios  # Deep networks.
control = partial(ratios, depth=1)  # Networks with one hidden layer, which train without skip connections.

CLAIM = Claim(
    id="resnet-depth-benefit",
    question="Why do very deep networks need skip connections?",
    equation=r"L_{\text{plain}} \ge 12\, L_{\text{residual}} \text{ at depth } 40",
    axes=("training run", "loss of the plain network / loss of the residual network"),
    source=Source("observed", "he2016deep"),
    premises=(Premise("the networks are deep", lambda depth: depth >= 30),),
    parameters={"depth": 40, "width": 32, "steps": 70, "nets": 3},
    full={"nets": 10},
    judge=bounded_by("below"),
    remark="Residual blocks are scaled by 1 / depth so that signals have the same size in both networks at the start.",
)
