"""Draws the pictures of docs/topics/bounds.md and symmetry.md: `python docs/assets/generalization.py`."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import torch
from matplotlib import pyplot as plt
from torch import nn

import gnomon
from gnomon.bounds import learning_curve
from gnomon.checks import suspect_labels
from gnomon.symmetry import OrbitAverage, accuracy_by_strength, equivariance, quarter_turns, rotations
from gnomon.training import Adam

FOLDER = Path(__file__).parent
BLUE, ORANGE, GRAY = "#2a6fb0", "#d9822b", "#777777"


def labels_and_curve() -> None:
    """Suspected labels among digits with planted errors, and a learning curve beside refits."""
    split = gnomon.data.digits(1797, 0)
    g = torch.Generator().manual_seed(5)
    wrong = torch.rand(1797, generator=g) < 0.1
    y = torch.where(wrong, (split.y + torch.randint(1, 10, split.y.shape, generator=g)) % 10, split.y)
    found = suspect_labels((split.x, y))
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.1, 1))
    for place, i in zip(left.subplots(3, 6).flat, found.ranked[:18], strict=True):
        place.imshow(split.x[i].reshape(8, 8), cmap="gray_r")
        place.set_title(f"{int(y[i])}, not {int(found.votes[i])}?", fontsize=9, color=BLUE if wrong[i] else ORANGE)
        place.set_xticks([])
        place.set_yticks([])
    hits = int(wrong[list(found.ranked[:18])].sum())
    left.suptitle(f"The 18 most suspect labels; {hits} of them were made wrong", fontsize=11)
    x, t = split.x.flatten(1).double(), nn.functional.one_hot(split.y, 10).double()
    order = torch.randperm(1797, generator=g)
    pool, rest = order[:400], order[400:]
    scale = torch.cdist(x[pool], x[pool]).mean()

    def kernel(a, b):
        return torch.exp(-torch.cdist(a, b) / scale)

    sizes = [25, 50, 100, 200, 400, 800, 1200]
    curve = learning_curve(kernel(x[pool], x[pool]), t[pool], sizes=sizes, ridge=0.1)
    seen = []
    for size in sizes:
        errors = []
        for _ in range(4):
            mixed = rest[torch.randperm(len(rest), generator=g)]
            rows, held = (mixed[:size], mixed[size:]) if size < len(mixed) - 150 else (mixed[:-150], mixed[-150:])
            center = t[rows].mean(0)
            k = kernel(x[rows], x[rows]) + 0.1 * torch.eye(len(rows)).double()
            made = kernel(x[held], x[rows]) @ torch.linalg.solve(k, t[rows] - center) + center
            errors.append(float((made - t[held]).square().sum(1).mean()))
        seen.append(sum(errors) / 4)
    axes = right.subplots()
    axes.loglog(curve.sizes, curve.predicted, color=BLUE, label="predicted from 400 rows")
    axes.loglog(sizes, seen, "o", color=ORANGE, label="measured on other rows")
    axes.axvline(400, color=GRAY, linestyle=":")
    axes.set(xlabel="examples", ylabel="mean squared error", title="A learning curve without training again")
    axes.set_xticks(sizes, [str(s) for s in sizes])
    axes.minorticks_off()
    axes.legend()
    figure.savefig(FOLDER / "generalization.png", dpi=110)


def turns() -> None:
    """Accuracy against rotation, plain and averaged over quarter turns, and the errors of layers."""
    split = gnomon.data.digits(1400, 397)
    x, z = split.x.reshape(-1, 1, 8, 8).float(), split.x_test.reshape(-1, 1, 8, 8).float()
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 10)
    )  # fmt: skip
    plain = gnomon.train(net, (x, split.y), optimizer=Adam(3e-3), steps=300, batch=64, record=300).model
    averaged = gnomon.train(
        OrbitAverage(net, quarter_turns()), (x, split.y), optimizer=Adam(3e-3), steps=300, batch=64, record=300
    ).model
    figure, (a, b) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
    angles = torch.linspace(0, torch.pi, 25).tolist()
    for module, name, color in ((plain, "plain", BLUE), (averaged, "averaged over quarter turns", ORANGE)):
        curve = accuracy_by_strength(module, (z, split.y_test), rotations().flow, angles)
        degrees = [57.29578 * t for t in curve.strengths]
        a.plot(degrees, curve.accuracy, color=color, label=name)
        a.fill_between(
            degrees, [i.low for i in curve.intervals], [i.high for i in curve.intervals], color=color, alpha=0.2
        )
    a.set(xlabel="degrees", ylabel="accuracy on test digits", title="Digits that are turned", ylim=(0, 1))
    a.set_xticks([0, 45, 90, 135, 180])
    a.legend()
    found = equivariance(plain, z, quarter_turns())
    names = [f"{layer.name}: {type(plain[int(layer.name)]).__name__}" for layer in found.layers[:-1]] + ["output"]
    places = torch.arange(len(names)).numpy()
    b.barh(places + 0.2, [layer.invariance for layer in found.layers], 0.36, color=GRAY, label="invariance")
    moves = [layer.equivariance if layer.equivariance is not None else 0.0 for layer in found.layers]
    b.barh(places - 0.2, moves, 0.36, color=BLUE, label="equivariance")
    b.set_yticks(places, names)
    b.invert_yaxis()
    b.set(xlabel="relative error", title=f"Quarter turns: '{found.breaks}' is the first layer that does not follow")
    b.legend()
    figure.savefig(FOLDER / "symmetry.png", dpi=110)


if __name__ == "__main__":
    labels_and_curve()
    turns()
