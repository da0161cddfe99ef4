"""A digit classifier that is right on new digits fails on rotated ones, and is overconfident there.

    accuracy(turned by 45 degrees) - accuracy(new) <= -0.65,   error of calibration(new) - (turned) <= -0.5       (1)

The calibration error is the mean confidence minus the accuracy. Reference: [geirhos2020shortcut].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, at_most


def predicted():
    """Equation (1)."""
    return [-0.65, -0.5]


def rotate_images(images, degrees):
    """Returns images (n, 8, 8) rotated about their center, by linear interpolation."""
    from scipy.ndimage import rotate

    return rotate(images, degrees, axes=(1, 2), reshape=False, order=1)


def losses(learned, repetitions, steps, seed):
    """The differences of (1) for networks trained on digits rotated by each of the ``learned`` angles."""
    from gnomon.data import digits

    rows = []
    for k in range(repetitions):
        split = digits(800, 900, seed=seed + k)
        x, z = (t.double().numpy().reshape(len(t), 8, 8) for t in (split.x, split.x_test))
        torch.manual_seed(seed + k)
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).double()
        images = torch.from_numpy(np.concatenate([rotate_images(x, degrees) for degrees in learned]))
        labels = split.y.repeat(len(learned))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
        measured = []
        for degrees in (45, 0):
            with torch.no_grad():
                sure, decided = net(torch.from_numpy(rotate_images(z, degrees))).softmax(1).max(1)
            accuracy = float((decided == split.y_test).double().mean())
            measured.append((accuracy, float(sure.mean()) - accuracy))
        rows.append([measured[0][0] - measured[1][0], measured[1][1] - measured[0][1]])
    return rows


observed = partial(losses, learned=(0,))  # Trained on upright digits.
# Trained on digits rotated by 0 and 45 degrees, so the test is no longer out of distribution.
control = partial(losses, learned=(0, 45))

CLAIM = Claim(
    id="ood-failure",
    question="Does good test accuracy carry over to rotated images?",
    equation=r"\text{accuracy} - \text{accuracy}_{45^\circ} \ge 0.65",
    axes=("accuracy difference, then calibration difference", "accuracy; calibration error"),
    source=Source("observed", "geirhos2020shortcut"),
    premises=(Premise("the network has not seen rotated digits"),),
    parameters={"repetitions": 6, "steps": 60},
    full={"repetitions": 10, "steps": 300},
    judge=at_most(confidence=0.99),
)
