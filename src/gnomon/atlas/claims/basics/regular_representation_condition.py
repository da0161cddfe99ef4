"""Images that a trained network represents similarly share a label more often than images with similar pixels.

For a representation F, the disagreement is

    P(labels of x and x' differ | |F(x) - F(x')| among the smallest 5 % of all pairs)                    (1)

With ten balanced classes a tenth of all pairs agree, so it can be zero. Reference: [mallat2016understanding].
"""

from functools import partial

import torch
from torch import nn
from torch.nn import functional

from gnomon import data
from gnomon.attribution.regularity import label_regularity
from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the two representations, the one with the smaller disagreement first."""
    return ("network", "pixels")


def disagreements(n, steps, repetitions, seed):
    """Returns how often close test images have different labels, by network outputs and by pixels, per split."""
    found = {"network": [], "pixels": []}
    for k in range(repetitions):
        split = data.digits(n, 400, seed=repetitions * seed + k)
        x, test = split.x.flatten(1), split.x_test.flatten(1)
        net = nn.Sequential(nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for _ in range(steps):
            optimizer.zero_grad()
            functional.cross_entropy(net(x), split.y).backward()
            optimizer.step()
        for name, features in (("network", net(test).softmax(1)), ("pixels", test)):
            found[name].append(label_regularity(features, split.y_test, bins=20).disagreement[0])
    return found


observed = disagreements  # A trained network.
control = partial(disagreements, steps=0)  # Control: the representation comes from an untrained network.

CLAIM = Claim(
    id="regular-representation-condition",
    question="Does a trained network put images of the same class close together?",
    equation=r"P(y \ne y' \mid |\Phi x - \Phi x'| \text{ small}) < P(y \ne y' \mid |x - x'| \text{ small})",
    axes=("representation", "share of close pairs with different labels"),
    source=Source("observed", "mallat2016understanding"),
    premises=(Premise("the representation was trained on the labels"),),
    parameters={"n": 500, "steps": 60, "repetitions": 5},
    full={"n": 1200, "steps": 400, "repetitions": 10},
    judge=in_order(confidence=0.999),
)
