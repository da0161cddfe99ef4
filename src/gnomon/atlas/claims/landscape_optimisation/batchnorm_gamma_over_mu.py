"""The learned scale of batch normalization is said to matter more than its learned shift; before ReLU the shift does.

The saying, as an order of test losses of networks on handwritten digits that train only one of the two:

    loss (shift frozen at 0) < loss (scale frozen at 1)                                                      (1)

A positive scale before a ReLU can be moved into the weights of the next layer, so freezing it takes nothing away; the
shift is the threshold of the unit, and no other parameter replaces it. Reference: [ioffe2015batch].
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, ordered

FROZEN = "one of the two is frozen in each network"


def predicted():
    """The saying, from small to large."""
    return ("shift frozen", "scale frozen")


def loss(frozen, draw, width, steps):
    """The test loss of a network with two normalized hidden layers, of which the parameters so named do not train."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    torch.manual_seed(draw)
    order = torch.randperm(len(labels))
    x, y = torch.tensor(images / 16, dtype=torch.float32)[order], torch.tensor(labels)[order]
    layers = [part for inputs in (64, width) for part in (nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU())]
    net = nn.Sequential(*layers, nn.Linear(width, 10, bias=False))
    for k in (1, 4):
        for name, parameter in net[k].named_parameters():
            parameter.requires_grad_(name != frozen)
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.3, momentum=0.8)
    for step in range(steps):
        batch = torch.arange(64 * step, 64 * step + 64) % 600
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[batch]), y[batch]).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        return float(nn.functional.cross_entropy(net(x[600:]), y[600:]))


def losses(names, nets, width, steps, seed):
    """Test losses for both, from the same starts and data."""
    return {
        key: [loss(name, 100 * seed + k, width, steps) for k in range(nets)]
        for key, name in zip(("shift frozen", "scale frozen"), names, strict=True)
    }


def observed(nets, width, steps, seed):
    """One of the two frozen."""
    return losses(("bias", "weight"), nets, width, steps, seed)


def control(nets, width, steps, seed):
    """None frozen in either network."""
    return losses(("none", "none"), nets, width, steps, seed)


CLAIM = Claim(
    id="batchnorm-gamma-over-mu",
    title="Freezing the scale of batch normalization costs more than freezing its shift",
    equation=r"L_{\mu = 0} < L_{\gamma = 1}",
    source=Source("folklore", "ioffe2015batch"),
    premises=(Premise(FROZEN), Premise("ReLU follows the normalization")),
    breaks=FROZEN,
    parameters={"nets": 30, "width": 12, "steps": 40},
    full={"nets": 60, "width": 16, "steps": 80},
    expected="refuted",
    judge=ordered(),
    predicted=predicted,
    observed=observed,
    control=control,
    remark="Before a ReLU the next layer can take over the scale, and nothing can take over the shift.",
)
