"""A classifier of digits that is right on new digits fails on turned ones, and is too sure of itself there.

    accuracy(turned by 45 degrees) - accuracy(new) <= -0.5,    error of calibration(new) - (turned) <= -0.2       (1)

The error of calibration is the mean confidence less the accuracy.

Reference: [geirhos2020shortcut].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, at_most


def predicted():
    """Equation (1)."""
    return [-0.5, -0.2]


def turned(images, degrees):
    """Images (n, 8, 8) turned about their middle, by linear interpolation."""
    from scipy.ndimage import rotate

    return rotate(images, degrees, axes=(1, 2), reshape=False, order=1)


def losses(learned, repetitions, steps, seed):
    """The differences of (1) for networks trained on upright digits, or on digits turned by every one of the angles."""
    from gnomon.data import digits

    rows = []
    for k in range(repetitions):
        split = digits(800, 900, seed=seed + k)
        x, z = (t.double().numpy().reshape(len(t), 8, 8) for t in (split.x, split.x_test))
        torch.manual_seed(seed + k)
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).double()
        images = torch.from_numpy(np.concatenate([turned(x, degrees) for degrees in learned]))
        labels = split.y.repeat(len(learned))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
        told = []
        for degrees in (45, 0):
            with torch.no_grad():
                sure, decided = net(torch.from_numpy(turned(z, degrees))).softmax(1).max(1)
            accuracy = float((decided == split.y_test).double().mean())
            told.append((accuracy, float(sure.mean()) - accuracy))
        rows.append([told[0][0] - told[1][0], told[1][1] - told[0][1]])
    return rows


observed = partial(losses, learned=(0,))  # Trained on upright digits.
# Trained on digits turned by 0 and by 45 degrees: the test is no longer of another law.
control = partial(losses, learned=(0, 45))

CLAIM = Claim(
    id="ood-failure",
    title="Accuracy on new examples of the same law says little about examples of another",
    equation=r"\text{accuracy} - \text{accuracy}_{45^\circ} \ge 0.5",
    source=Source("observed", "geirhos2020shortcut"),
    premises=(Premise("the network has seen no turned digits"),),
    parameters={"repetitions": 4, "steps": 60},
    full={"repetitions": 10, "steps": 300},
    judge=at_most(confidence=0.99),
)
