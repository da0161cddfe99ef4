"""A fixed shuffle of all pixels does not change an infinitely wide dense network; a CNN still fits shuffled images.

    f trained on P x, read at P x   =   f trained on x, read at x,   for kernels of <x, x'> and |x| alone           (1)

P is the shuffle, x the image, f the trained model. A wide dense network has a kernel of inner products and norms only.
A convolutional network loses its neighborhoods, but still fits all training examples.
Reference: [zhang2017understanding].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def kernel(a, b, local):
    """Returns the kernel of an infinitely wide dense network, or a kernel that compares only neighboring pixels."""
    if local:
        grid = [np.pad(v.reshape(-1, 8, 8), ((0, 0), (0, 1), (0, 1))) for v in (a, b)]
        a, b = [(g[:, :8, :8] * g[:, 1:, :8] + g[:, :8, :8] * g[:, :8, 1:]).reshape(-1, 64) for g in grid]
        return a @ b.T + 1e-3
    norms = np.sqrt(np.outer((a**2).sum(1), (b**2).sum(1)))
    cosine = np.clip(a @ b.T / norms, -1, 1)
    return norms * (np.sqrt(1 - cosine**2) + (np.pi - np.arccos(cosine)) * cosine) / np.pi


def predicted():
    """Returns 0, the change of the dense network's outputs, and 0, the share of training examples misclassified."""
    return [0.0, 0.0]


def difference(local, n, seed):
    """Returns the dense network's largest output change by the shuffle, then the share of examples a CNN misfits."""
    from gnomon.data import digits

    split = digits(n, 100, seed=seed)
    x, z = (t.double().numpy().reshape(len(t), -1) for t in (split.x, split.x_test))
    y = np.eye(10)[split.y.numpy()]
    order = np.random.default_rng(seed).permutation(64)
    outputs = []
    for places in (np.arange(64), order):
        a, b = x[:, places], z[:, places]
        k = kernel(a, a, local)
        outputs.append(kernel(b, a, local) @ np.linalg.solve(k + 1e-2 * np.trace(k) / n * np.eye(n), y))
    return [float(np.abs(outputs[0] - outputs[1]).max()), misfitted_share(split.x.flatten(1)[:, order], split.y)]


def misfitted_share(x, y, steps=80):
    """Returns the share of training examples that a trained convolutional network gets wrong."""
    net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 10))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    images = x.reshape(-1, 1, 8, 8).float()
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images), y).backward()
        optimizer.step()
    return float((net(images).argmax(1) != y).float().mean())


observed = partial(difference, local=False)  # The network is dense and infinitely wide.
control = partial(difference, local=True)  # Control: a convolutional kernel compares neighbors, so the order matters.

CLAIM = Claim(
    id="random-pixel-fitting",
    question="What does a network lose if all pixels are shuffled?",
    equation=r"f_{PX}(Px) = f_X(x)",
    axes=("change of the output, then share of misfitted examples", "change; share"),
    source=Source("theorem", "zhang2017understanding"),
    premises=(Premise("the model treats all pixels equally"),),
    parameters={"n": 200},
    judge=equals(within=1e-8, because="a linear system of condition 1e4"),
)
