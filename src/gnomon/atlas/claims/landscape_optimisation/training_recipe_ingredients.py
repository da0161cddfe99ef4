"""The usual recipe for training (normalization, shifted images, dropout, a falling learning rate) helps as a whole.

On few handwritten digits, each moved by up to two pixels in the test as well as by augmentation in training,

    test error (whole recipe) < mean test error (recipe without one ingredient) < test error (none)           (1)

over the four ingredients; which of them matters most depends on the problem. Reference: [he2019bag].
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, ordered

LABELS = "the shifts of augmentation keep the label"
INGREDIENTS = ("normalization", "augmentation", "dropout", "schedule")


def predicted():
    """From small to large, equation (1)."""
    return ("whole recipe", "without one", "none")


def moved(images, reach):
    """Images on a canvas of 12 x 12, each moved by up to ``reach`` pixels."""
    canvas = torch.zeros(len(images), 12, 12)
    places = torch.randint(2 - reach, 3 + reach, (len(images), 2))
    for image, target, (i, j) in zip(images, canvas, places.tolist(), strict=True):
        target[i : i + 8, j : j + 8] = image
    return canvas


def error(used, keep, draw, n, steps):
    """The test error of a network of two hidden layers trained with some ingredients."""
    from sklearn.datasets import load_digits

    torch.manual_seed(draw)
    digits = load_digits()
    order = torch.randperm(len(digits.target))
    x, y = torch.tensor(digits.images / 16, dtype=torch.float32)[order], torch.tensor(digits.target)[order]
    test, plain, centered = moved(x[n : n + 600], 2), moved(x[:n], 2), moved(x[:n], 0)
    layers = []
    for inputs in (144, 64):
        layers += [nn.Linear(inputs, 64), *([nn.BatchNorm1d(64)] if "normalization" in used else []), nn.ReLU()]
        layers += [nn.Dropout(0.1)] if "dropout" in used else []
    net = nn.Sequential(*layers, nn.Linear(64, 10))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(steps):
        if "schedule" in used:
            optimizer.param_groups[0]["lr"] = 0.01 * (1 - step / steps)
        shift = torch.randint(-2, 3, (2,)).tolist()
        seen = centered.roll(shift, (1, 2)) if "augmentation" in used else plain
        if "augmentation" in used and not keep:
            seen = seen.flip(1, 2)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(seen.flatten(1)), y[:n]).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        return float((net(test.flatten(1)).argmax(1) != y[n : n + 600]).float().mean())


def errors(keep, nets, n, steps, seed):
    """Errors of the whole, of leaving each out, and of none, on the same data."""
    rows = {name: [] for name in predicted()}
    for draw in range(100 * seed, 100 * seed + nets):
        rows["whole recipe"].append(error(INGREDIENTS, keep, draw, n, steps))
        rest = [error([i for i in INGREDIENTS if i != out], keep, draw, n, steps) for out in INGREDIENTS]
        rows["without one"].append(sum(rest) / 4)
        rows["none"].append(error((), keep, draw, n, steps))
    return rows


def observed(nets, n, steps, seed):
    """Shifts."""
    return errors(True, nets, n, steps, seed)


def control(nets, n, steps, seed):
    """Shifts and a half turn, which makes a 6 a 9."""
    return errors(False, nets, n, steps, seed)


CLAIM = Claim(
    id="training-recipe-ingredients",
    title="The usual recipe for training is better than the recipe without one ingredient, and than none",
    equation=r"E_{whole} < \bar E_{without\ one} < E_{none}",
    source=Source("observed", "he2019bag"),
    premises=(Premise(LABELS), Premise("there are few examples", lambda n: n <= 500)),
    breaks=LABELS,
    parameters={"nets": 4, "n": 100, "steps": 50},
    full={"nets": 8, "n": 200, "steps": 150},
    judge=ordered(),
    predicted=predicted,
    observed=observed,
    control=control,
)
