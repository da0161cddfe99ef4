"""With few images, a convolutional network is more accurate than a vision transformer.

    accuracy(transformer) < accuracy(CNN)   after the same training on 150 digits                             (1)

The convolutional network has neighborhoods built in; the transformer must learn them. Kernels of one pixel, averaged
over all positions, have no neighborhoods and are less accurate than the transformer. Reference: [dosovitskiy2021image].
"""

from functools import partial

import torch
from torch import nn

from gnomon.atlas.descent import descend
from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, in_order
from gnomon.models import VisionTransformer


def predicted():
    """Returns the names of the networks, the one with the lower accuracy first."""
    return ("transformer", "CNN")


def accuracy(net, split, steps):
    """Returns the accuracy on new digits after training with Adam on all training examples."""
    x, z = split.x, split.x_test
    descend(torch.optim.Adam(net.parameters(), lr=3e-3), lambda: nn.functional.cross_entropy(net(x), split.y), steps)
    with torch.no_grad():
        return float((net(z).argmax(1) == split.y_test).float().mean())


def accuracies(kernel, examples, steps, repeats, seed):
    """Returns both networks' accuracies on several splits, with convolution kernels of ``kernel`` pixels."""
    found = {"transformer": [], "CNN": []}
    for k in range(repeats):
        torch.manual_seed(1000 * seed + k)
        split = digits(examples, 800, seed=repeats * seed + k)
        cnn = nn.Sequential(
            nn.Conv2d(1, 16, kernel, padding=kernel // 2), nn.ReLU(), nn.MaxPool2d(2) if kernel > 1 else nn.Identity(),
            nn.Conv2d(16, 24, kernel, padding=kernel // 2), nn.ReLU(),
            nn.MaxPool2d(2) if kernel > 1 else nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LazyLinear(10),
        )  # fmt: skip
        transformer = VisionTransformer(side=8, patch=2, width=24, heads=2, depth=2, outputs=10)
        cnn(split.x[:1])  # A first forward pass sets the input size of the CNN's lazy last layer.
        for name, net in (("transformer", transformer), ("CNN", cnn)):
            found[name].append(accuracy(net, split, steps))
    return found


observed = partial(accuracies, kernel=3)  # The CNN's convolution kernels have 3 x 3 pixels.
control = partial(accuracies, kernel=1)  # Control: convolution kernels of one pixel do not see neighborhoods.

CLAIM = Claim(
    id="vision-transformer-few-images",
    question="Do vision transformers need more data than convolutional networks?",
    equation=r"\mathrm{acc}_{ViT} < \mathrm{acc}_{CNN} \text{ for few images}",
    axes=("network", "test accuracy"),
    source=Source("observed", "dosovitskiy2021image"),
    premises=(Premise("the convolutions see neighborhoods"),),
    parameters={"examples": 150, "steps": 50, "repeats": 8},
    full={"examples": 150, "steps": 200, "repeats": 12},
    covers=("vision-transformer",),
    judge=in_order(),
)
