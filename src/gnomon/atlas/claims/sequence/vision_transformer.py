"""With few images a convolutional network learns more than a transformer of patches, which knows less of images.

    accuracy of the transformer < accuracy of the CNN at 200 images                                           (1)

Reference: [dosovitskiy2021image].
"""

import numpy as np
import torch
from torch import nn

from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, ordered
from gnomon.models import VisionTransformer

NEIGHBORS = "neighbors in the image are neighbors in the input"


def predicted():
    """From the lower accuracy to the higher."""
    return ("transformer", "cnn")


def accuracy(net, rate, train, test, steps):
    """After Adam with all images at each step."""
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(net(train[0]), train[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return float((net(test[0]).argmax(1) == test[1]).double().mean())


def accuracies(mixed, images, steps, repeats, seed):
    """Of both; ``mixed`` puts the pixels of all images in one other order."""
    found = {"transformer": [], "cnn": []}
    for i in range(repeats):
        torch.manual_seed(seed + i)
        data = digits(images, 700, seed=i)
        order = torch.randperm(64) if mixed else torch.arange(64)
        x, t = (a.flatten(1).float()[:, order].reshape(-1, 1, 8, 8) for a in (data.x, data.x_test))
        cnn = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(128, 10),
        )  # fmt: skip
        vit = VisionTransformer(side=8, patch=2, width=24, heads=2, depth=1)
        train, test = (x, data.y), (t, data.y_test)
        found["cnn"].append(accuracy(cnn, 1e-2, train, test, steps))
        found["transformer"].append(accuracy(vit, 5e-3, train, test, steps))
    return {name: np.array(values) for name, values in found.items()}


def observed(images, steps, repeats, seed):
    """Digits."""
    return accuracies(False, images, steps, repeats, seed)


def control(images, steps, repeats, seed):
    """Digits with their pixels in another order."""
    return accuracies(True, images, steps, repeats, seed)


CLAIM = Claim(
    id="vision-transformer",
    title="With few images a convolutional network learns more than a transformer of patches",
    equation=r"a_{ViT}(200) < a_{CNN}(200)",
    source=Source("observed", "dosovitskiy2021image"),
    premises=(Premise(NEIGHBORS),),
    breaks=NEIGHBORS,
    parameters={"images": 200, "steps": 50, "repeats": 3},
    full={"images": 200, "steps": 200, "repeats": 8},
    judge=ordered(),
    predicted=predicted,
    observed=observed,
    control=control,
)
