"""Features of a network that fits its training digits without error still serve other digits.

    error of a linear probe on digits 5 to 9:  features learned on 0 to 4 < random features                         (1)

Reference: [zeiler2014visualizing].
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, ordered

TRAINED = "the features were trained on other digits"


def probe(features, x, y, z, t):
    """The error of ridge regression on features."""
    with torch.no_grad():
        a, b = features(x).double().numpy(), features(z).double().numpy()
    center = a.mean(0)
    a, b = a - center, b - center
    scale = 1e-3 * (a**2).sum() / a.shape[1]
    w = np.linalg.solve(a.T @ a + scale * np.eye(a.shape[1]), a.T @ (np.eye(10)[y] - 0.2))
    return float(((b @ w).argmax(1) != t).mean())


def errors(steps, width, seed):
    """Of trained and of random features."""
    from gnomon.data import digits

    split = digits(1200, 590, seed=seed)
    x, y = split.x.flatten(1), split.y
    torch.manual_seed(seed)
    body = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
    head = nn.Linear(width, 5)
    low, high = y < 5, y >= 5
    rule = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=5e-3)
    new = split.y_test >= 5
    few = high.nonzero()[:, 0][:100]
    parts = (x[few], y[few].numpy(), split.x_test.flatten(1)[new], split.y_test[new].numpy())
    random = probe(body, *parts)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(head(body(x[low])), y[low])
        rule.zero_grad()
        loss.backward()
        rule.step()
    return probe(body, *parts), random


def predicted():
    """The order (1)."""
    return ("learned", "random")


def observed(steps, width, repetitions, seed):
    """Trained until all are right."""
    rows = [errors(steps, width, seed + k) for k in range(repetitions)]
    return {"learned": [a for a, _ in rows], "random": [b for _, b in rows]}


def control(steps, width, repetitions, seed):
    """Not trained at all."""
    rows = [errors(0 * steps, width, seed + k) for k in range(repetitions)]
    return {"learned": [a for a, _ in rows], "random": [b for _, b in rows]}


CLAIM = Claim(
    id="overfitting-yet-useful",
    title="Features of a network that fits its training data without error serve other classes",
    equation=r"\text{error}_{\text{learned}} < \text{error}_{\text{random}}",
    source=Source("observed", "zeiler2014visualizing"),
    premises=(Premise(TRAINED),),
    breaks=TRAINED,
    parameters={"steps": 50, "width": 16, "repetitions": 5},
    full={"steps": 300, "repetitions": 10},
    judge=ordered(confidence=0.95),
    predicted=predicted,
    observed=observed,
    control=control,
)
