"""A digit classifier, accurate on new digits, is wrong on most rotated ones at a mean confidence above one half.

    accuracy(turned by 45 degrees) < 1/2 < mean confidence(turned) < accuracy(new)                                 (1)

The confidence is the largest class probability. Reference: [geirhos2020shortcut].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of two accuracies, of 1/2 and of the mean confidence, from the smallest to the largest."""
    return ("accuracy, turned", "one half", "confidence, turned", "accuracy, new")


def rotate_images(images, degrees):
    """Returns images (n, 8, 8) rotated about their center, by linear interpolation."""
    from scipy.ndimage import rotate

    return rotate(images, degrees, axes=(1, 2), reshape=False, order=1)


def accuracies_and_confidence(learned, repetitions, steps, seed):
    """Returns accuracies and mean confidence of networks trained on digits rotated by the ``learned`` angles."""
    from gnomon.data import digits

    found = {name: [] for name in predicted()}
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
        with torch.no_grad():
            (sure, turned), (_, new) = (net(torch.from_numpy(rotate_images(z, a))).softmax(1).max(1) for a in (45, 0))
        shares = [float((decided == split.y_test).double().mean()) for decided in (turned, new)]
        for name, value in zip(found, (shares[0], 0.5, float(sure.mean()), shares[1]), strict=True):
            found[name].append(value)
    return found


observed = partial(accuracies_and_confidence, learned=(0,))  # The network was trained on upright digits only.
# Control: the training data contain digits rotated by 45 degrees, so the test is not out of distribution.
control = partial(accuracies_and_confidence, learned=(0, 45))

CLAIM = Claim(
    id="ood-failure",
    question="Does good test accuracy carry over to rotated images?",
    equation=r"\text{accuracy}_{45^\circ} < \tfrac12 < \text{confidence}_{45^\circ} < \text{accuracy}",
    axes=("accuracy and confidence on turned and on new digits", "share"),
    source=Source("observed", "geirhos2020shortcut"),
    premises=(Premise("the network has not seen rotated digits"),),
    parameters={"repetitions": 8, "steps": 60},
    full={"repetitions": 10, "steps": 300},
    judge=in_order(confidence=0.99),
)
