"""With few examples of shifted digits, a CNN with shared weights beats an MLP with as many parameters.

    K^2 c_in c_out parameters instead of (H W)^2:   accuracy of the CNN > accuracy of the MLP                 (1)

K is the side of the kernel, c_in and c_out are channels, and H x W is the size of the image.
Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the two networks, the one with the lower test accuracy first."""
    return ("mlp", "cnn")


def place_at_random(x, generator):
    """Returns each 8 x 8 digit at a random position of a 13 x 13 image."""
    out = torch.zeros(len(x), 1, 13, 13)
    for image, (i, j) in zip(enumerate(x), torch.randint(6, (len(x), 2), generator=generator).tolist(), strict=True):
        out[image[0], :, i : i + 8, j : j + 8] = image[1].reshape(1, 8, 8)
    return out


def accuracy(net, train, test, steps):
    """Returns the test accuracy after training with Adam on all training examples."""
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(net(train[0]), train[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return float((net(test[0]).argmax(1) == test[1]).double().mean())


def accuracies(mixed, examples, steps, repeats, seed):
    """Returns the test accuracies of an MLP and a CNN with about 1,500 parameters; ``mixed`` permutes the pixels."""
    found = {"mlp": [], "cnn": []}
    for i in range(repeats):
        torch.manual_seed(seed + i)
        generator = torch.Generator().manual_seed(seed + i)
        data = digits(examples, 300, seed=i)
        order = torch.randperm(169, generator=generator) if mixed else torch.arange(169)
        x, t = (
            place_at_random(a, generator).flatten(1)[:, order].reshape(-1, 1, 13, 13) for a in (data.x, data.x_test)
        )
        mlp = nn.Sequential(nn.Flatten(), nn.Linear(169, 8), nn.ReLU(), nn.Linear(8, 10))
        cnn = nn.Sequential(
            nn.Conv2d(1, 12, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 12, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(1),
            nn.Flatten(), nn.Linear(12, 10),
        )  # fmt: skip
        for name, model in (("mlp", mlp), ("cnn", cnn)):
            found[name].append(accuracy(model, (x, data.y), (t, data.y_test), steps))
    return {name: np.array(values) for name, values in found.items()}


observed = partial(accuracies, mixed=False)  # Shifted digits.
control = partial(accuracies, mixed=True)  # Control: one random shuffle of pixels for all images removes neighborhoods.

CLAIM = Claim(
    id="weight-sharing-efficiency",
    question="Why do convolutions need fewer examples?",
    equation=r"K^2 C_{in} C_{out} \ll (H W)^2",
    axes=("network", "test accuracy"),
    source=Source("observed", "lecun1998gradient"),
    premises=(Premise("neighbors in the image are neighbors in the input"),),
    parameters={"examples": 100, "steps": 60, "repeats": 5},
    full={"examples": 100, "steps": 300, "repeats": 8},
    judge=in_order(),
)
