"""A deep sigmoid network trains with batch normalization, and does not train without it.

Ten sigmoid layers shrink gradients by about 4^-10, so training stays at the loss of guessing, log 10 = 2.30:

    loss (with batch normalization) < 1 < 2 < loss (without)                                             (1)

after the same number of steps from the same initialization rule. Reference: [ioffe2015batch], Section 4.
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of networks and fixed levels, from the smallest loss to the largest."""
    return ("normalized", "one", "two", "plain")


def losses(normalized, nets, depth, width, steps):
    """Returns the final training losses on 300 handwritten digits, for several initializations."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images[:300] / 16, dtype=torch.float32), torch.tensor(labels[:300])
    finals = []
    for _ in range(nets):
        layers = []
        for k in range(depth):
            layers.append(nn.Linear(64 if k == 0 else width, width))
            layers += [nn.BatchNorm1d(width)] if normalized else []
            layers.append(nn.Sigmoid())
        net = nn.Sequential(*layers, nn.Linear(width, 10))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
        finals.append(float(loss.detach()))
    return finals


def observed(nets, depth, width, steps):
    """Returns the final losses with and without batch normalization, and the fixed levels."""
    with_norm, without = (losses(kind, nets, depth, width, steps) for kind in (True, False))
    return {"normalized": with_norm, "one": [1.0] * nets, "two": [2.0] * nets, "plain": without}


def control(nets, depth, width, steps):
    """Returns the final losses if both networks train without batch normalization."""
    first, second = (losses(False, nets, depth, width, steps) for _ in range(2))
    return {"normalized": first, "one": [1.0] * nets, "two": [2.0] * nets, "plain": second}


CLAIM = Claim(
    id="batchnorm-advantages-list",
    question="Can batch normalization train networks that do not train without it?",
    equation=r"L_{\mathrm{BN}} < 1 < 2 < L_{\mathrm{plain}} \approx \log 10",
    axes=("network, compared with fixed levels", "final training loss"),
    source=Source("observed", "ioffe2015batch", "Section 4"),
    premises=(
        Premise("one of the two networks is normalized after every layer"),
        Premise("the networks are deep", lambda depth: depth >= 8),
    ),
    parameters={"nets": 3, "depth": 10, "width": 32, "steps": 40},
    full={"nets": 5, "depth": 10, "width": 32, "steps": 80},
    judge=in_order(),
    remark="Of the list of advantages this measures deeper networks, other activations and faster training.",
)
