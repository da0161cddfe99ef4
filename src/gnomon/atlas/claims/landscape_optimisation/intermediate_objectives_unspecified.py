"""Layers trained one after the other, each with a classifier of its own, come close to training all at once.

End-to-end training sets no goal for the layers between. Giving each layer the goal of the whole, with those before it
frozen, loses little on handwritten digits:

    accuracy (all at once) - accuracy (layer by layer) <= 0.03                                           (1)

Reference: [belilovsky2019greedy].
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, at_most

TRAINED = "every layer is trained towards the labels"


def predicted():
    """The largest loss of accuracy."""
    return 0.03


def fit(layers, head, x, y, steps):
    """Train layers and classifier together on the first 800; accuracy on the rest."""
    net = nn.Sequential(*layers, head)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[:800]), y[:800]).backward()
        optimizer.step()
    with torch.no_grad():
        return float((net(x[800:]).argmax(1) == y[800:]).float().mean())


def gaps(train_layers, nets, width, steps):
    """Accuracy of three layers trained at once minus that of three trained in turn, or left at random."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images / 16, dtype=torch.float32), torch.tensor(labels)
    rows = []
    for _ in range(nets):
        sizes = [64, width, width, width]
        blocks = [
            [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in zip(sizes, sizes[1:], strict=False)] for _ in "12"
        ]
        whole = fit(blocks[0], nn.Linear(width, 10), x, y, steps)
        h, single = x, 0.0
        for k, block in enumerate(blocks[1]):
            if train_layers or k == 2:
                single = fit(
                    [block] if train_layers else [],
                    nn.Linear(width, 10),
                    h if train_layers else block(h).detach(),
                    y,
                    steps,
                )
            h = block(h).detach()
        rows.append(whole - single)
    return rows


def observed(nets, width, steps):
    """Layer by layer."""
    return gaps(True, nets, width, steps)


def control(nets, width, steps):
    """Random layers under a trained classifier."""
    return gaps(False, nets, width, steps)


CLAIM = Claim(
    id="intermediate-objectives-unspecified",
    title="Layers trained one after the other come within 3 points of training all at once on digits",
    equation=r"\mathrm{acc}_{\mathrm{end\,to\,end}} - \mathrm{acc}_{\mathrm{greedy}} \le 0.03",
    source=Source("observed", "belilovsky2019greedy"),
    premises=(Premise(TRAINED),),
    breaks=TRAINED,
    parameters={"nets": 4, "width": 32, "steps": 60},
    full={"nets": 8, "width": 64, "steps": 300},
    judge=at_most(confidence=0.99),
    predicted=predicted,
    observed=observed,
    control=control,
)
