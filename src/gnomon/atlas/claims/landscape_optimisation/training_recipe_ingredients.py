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


def shifted(images):
    """Images on a canvas of 12 x 12, in all 25 places: (25, n, 144)."""
    canvas = nn.functional.pad(images, (2, 2, 2, 2))
    return torch.stack([canvas.roll((i, j), (1, 2)).flatten(1) for i in range(-2, 3) for j in range(-2, 3)])


def moved(places):
    """Each image in one of its places, drawn at random."""
    n = places.shape[1]
    return places[torch.randint(25, (n,)), torch.arange(n)]


def error(used, keep, draw, n, steps):
    """The test error of a network of two hidden layers trained with some ingredients."""
    from sklearn.datasets import load_digits

    torch.manual_seed(draw)
    digits = load_digits()
    order = torch.randperm(len(digits.target))
    x, y = torch.tensor(digits.images / 16, dtype=torch.float32)[order], torch.tensor(digits.target)[order]
    places = shifted(x[:n])
    test, plain = moved(shifted(x[n : n + 600])), moved(places)
    layers = []
    for inputs in (144, 64):
        layers += [nn.Linear(inputs, 64), *([nn.BatchNorm1d(64)] if "normalization" in used else []), nn.ReLU()]
        layers += [nn.Dropout(0.1)] if "dropout" in used else []
    net = nn.Sequential(*layers, nn.Linear(64, 10))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(steps):
        if "schedule" in used:
            optimizer.param_groups[0]["lr"] = 0.01 * (1 - step / steps)
        seen = moved(places) if "augmentation" in used else plain
        if "augmentation" in used and not keep:
            seen = seen.flip(1)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(seen), y[:n]).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        return float((net(test).argmax(1) != y[n : n + 600]).float().mean())


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
    parameters={"nets": 7, "n": 100, "steps": 60},
    full={"nets": 8, "n": 200, "steps": 150},
    judge=ordered(),
    predicted=predicted,
    observed=observed,
    control=control,
)
