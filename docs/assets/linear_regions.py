"""Draw docs/assets/linear-regions.png: all linear regions of a network, before and after training on two half circles.

python docs/assets/linear_regions.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import torch
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection
from torch import nn

import gnomon
from gnomon.robustness import regions_in_plane
from gnomon.training import Adam

RADIUS = 2.0


def half_circles(n):
    """Points near two half circles, and which."""
    t, y = torch.pi * torch.rand(n), torch.arange(n) % 2
    upper = torch.stack([t.cos(), t.sin()], 1)
    lower = torch.stack([1 - t.cos(), 0.5 - t.sin()], 1)
    return torch.where(y[:, None] == 0, upper, lower) + 0.1 * torch.randn(n, 2), y


def draw(axis, net, x, y, title):
    """The regions of a network in the plane of its inputs, over its probability, and the examples."""
    center = x.double().mean(0)
    found = regions_in_plane(net, center, torch.eye(2).double(), radius=RADIUS)
    left, right, low, high = (float(c) + side for c in center for side in (-RADIUS, RADIUS))
    grid = torch.cartesian_prod(torch.linspace(low, high, 300), torch.linspace(left, right, 300)).flip(1)
    with torch.no_grad():
        scores = net(grid).softmax(1)[:, 1].reshape(300, 300)
    extent = (left, right, low, high)
    shades = axis.imshow(scores, origin="lower", extent=extent, cmap="RdBu_r", clim=(0, 1), alpha=0.6)
    axis.contour(scores, levels=[0.5], extent=extent, colors="black", linewidths=1.6)
    outlines = [(cell + center).numpy() for cell in found.cells]
    axis.add_collection(PolyCollection(outlines, facecolors="none", edgecolors="0.2", linewidths=0.4))
    for label, color in ((0, "#123a6b"), (1, "#7a1020")):
        axis.scatter(*x[y == label].T, s=9, color=color, edgecolors="white", linewidths=0.3, zorder=3)
    axis.set(xlim=(left, right), ylim=(low, high), aspect="equal", xlabel="first input")
    axis.set_title(f"{title}: {found.count} regions", fontsize=11)
    return shades


def main():
    """Train and draw."""
    torch.manual_seed(0)
    x, y = half_circles(200)
    net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
    trained = gnomon.train(net, (x, y), optimizer=Adam(0.02), steps=250).model
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 4.4), layout="constrained")
    draw(axes[0], net, x, y, "At the start")
    shades = draw(axes[1], trained, x, y, "Trained")
    axes[0].set_ylabel("second input")
    figure.colorbar(shades, ax=axes, label="probability of the second class", shrink=0.85)
    figure.savefig(Path(__file__).with_name("linear-regions.png"), dpi=110)


if __name__ == "__main__":
    main()
