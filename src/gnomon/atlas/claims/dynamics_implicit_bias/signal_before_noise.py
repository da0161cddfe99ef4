"""If training stops at the right time, a network fits most correct labels and less than half of the wrong ones.

20 percent of the labels of handwritten digits are replaced by other ones. At the best validation error

    accuracy (wrong labels) < 1/2 < accuracy (true labels),    both on the training set                      (1)

At the end of training both are fitted. Reference: [arpit2017closer].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, in_order


def problem(n, seed):
    """Returns digits with 20 % wrong labels for training, which labels are wrong, and digits for validation."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(labels), generator=draw)
    x, y = torch.tensor(images, dtype=torch.float32)[order] / 16, torch.tensor(labels)[order]
    wrong = torch.rand(n, generator=draw) < 0.2
    shift = torch.randint(1, 10, (n,), generator=draw)
    return x[:n], torch.where(wrong, (y[:n] + shift) % 10, y[:n]), wrong, x[n : n + 500], y[n : n + 500]


def predicted():
    """Returns the names of both accuracies and of one half, from the smallest to the largest."""
    return ("wrong labels", "one half", "true labels")


def accuracies(stop, n, nets, width, steps, seed):
    """Returns training accuracies on wrong and on true labels, at the best validation error or at the end."""
    found = {name: [] for name in predicted()}
    for k in range(nets):
        x, y, wrong, check, truth = problem(n, 1000 * seed + k)
        net = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
        optimizer, best, kept = torch.optim.Adam(net.parameters(), lr=0.01), 2.0, ()
        for step in range(steps):
            output = net(x)
            fits = (output.argmax(1) == y).float()
            if step % 5 == 0:
                with torch.no_grad():
                    error = float((net(check).argmax(1) != truth).float().mean())
                if error < best or not stop:
                    best, kept = error, (fits[wrong].mean(), 0.5, fits[~wrong].mean())
            optimizer.zero_grad()
            nn.functional.cross_entropy(output, y).backward()
            optimizer.step()
        for name, value in zip(found, kept, strict=True):
            found[name].append(float(value))
    return found


observed = partial(accuracies, stop=True)  # The test stops training at the best validation error.
control = partial(accuracies, stop=False)  # Control: training goes on until all labels, also wrong ones, are fitted.

CLAIM = Claim(
    id="signal-before-noise",
    question="Are correct labels learned before wrong ones?",
    equation=r"A_{wrong} < \tfrac12 < A_{true}",
    axes=("training labels, compared with one half", "accuracy"),
    source=Source("observed", "arpit2017closer"),
    premises=(
        Premise("training stops at the best validation error"),
        Premise("the network can fit all labels", lambda n, width: width >= n / 4),
    ),
    parameters={"n": 200, "nets": 8, "width": 100, "steps": 100},
    full={"n": 400, "nets": 6, "width": 200, "steps": 200},
    judge=in_order(confidence=0.999),
)
