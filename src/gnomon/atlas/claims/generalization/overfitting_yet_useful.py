"""Features of a network that fits its training digits without error still help to classify other digit classes.

A network is trained on 300 digits 0 to 4 until none is wrong. Errors of a linear probe on digits 5 to 9:

    0 = training error < probe of the learned features < probe of the features at the start                         (1)

Fitting without error is not what makes them useful: the control fits shuffled labels, also without error.
Reference: [zeiler2014visualizing].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, in_order


def probe(features, x, y, z, t):
    """Returns the test error of ridge regression from features to labels."""
    with torch.no_grad():
        a, b = features(x).double().numpy(), features(z).double().numpy()
    center = a.mean(0)
    a, b = a - center, b - center
    scale = 1e-3 * (a**2).sum() / a.shape[1]
    w = np.linalg.solve(a.T @ a + scale * np.eye(a.shape[1]), a.T @ (np.eye(10)[y] - 0.2))
    return float(((b @ w).argmax(1) != t).mean())


def errors(shuffled, width, fitted, seed):
    """Returns the training error and the test errors of linear probes on learned and on random features."""
    from gnomon.data import digits

    split = digits(1200, 590, seed=seed)
    x, y = split.x.flatten(1), split.y
    torch.manual_seed(seed)
    body = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
    head = nn.Linear(width, 5)
    low, few = (y < 5).nonzero()[:fitted, 0], (y >= 5).nonzero()[:100, 0]
    labels = y[low][torch.randperm(len(low))] if shuffled else y[low]
    rule = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)
    new = split.y_test >= 5
    parts = (x[few], y[few].numpy(), split.x_test.flatten(1)[new], split.y_test[new].numpy())
    random = probe(body, *parts)
    for _ in range(1000):
        outputs = head(body(x[low]))
        wrong = float((outputs.argmax(1) != labels).double().mean())
        if wrong == 0:
            break
        rule.zero_grad()
        nn.functional.cross_entropy(outputs, labels).backward()
        rule.step()
    return wrong, probe(body, *parts), random


def predicted():
    """Returns the names of the training error and of both probe errors, from the smallest to the largest."""
    return ("training", "learned", "random")


def errors_of_networks(shuffled, width, fitted, repetitions, seed):
    """Returns the training error and both probes' test errors, for several networks."""
    found = zip(*(errors(shuffled, width, fitted, seed + k) for k in range(repetitions)), strict=True)
    return dict(zip(predicted(), found, strict=True))


observed = partial(errors_of_networks, shuffled=False)  # The networks are trained on the true labels.
control = partial(errors_of_networks, shuffled=True)  # Shuffled labels.

CLAIM = Claim(
    id="overfitting-yet-useful",
    question="Are features of an overfitted network still useful?",
    equation=r"0 = \text{error}_{\text{training}} < \text{error}_{\text{learned}} < \text{error}_{\text{random}}",
    axes=("features", "error (training, then linear probes)"),
    source=Source("observed", "zeiler2014visualizing"),
    premises=(Premise("the fitted labels belong to the digits"),),
    parameters={"width": 64, "fitted": 300, "repetitions": 8},
    full={"repetitions": 30},
    judge=in_order(confidence=0.95),
)
