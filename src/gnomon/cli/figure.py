"""The figure of the demo: a kernel seen as an image, and its spectrum."""

from pathlib import Path
from typing import Any

import matplotlib
from torch import Tensor
from torch.nn.functional import avg_pool2d

PIXELS = 200  # of the kernel's image along each side


def draw(gram: Tensor, labels: Tensor, eigenvalues: Any, accuracies: dict[str, float], folder: Path) -> Path:
    """Write the figure into ``folder`` and return its path."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt  # after the backend is chosen: a demo must run without a screen

    order = labels.argsort(stable=True)
    scale = gram.diagonal().sqrt()
    cosine = (gram / scale[:, None] / scale)[order][:, order]
    edges = labels[order].diff().nonzero().flatten() + 0.5
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    pixels = max(1, len(labels) // PIXELS)
    shown = avg_pool2d(cosine[None, None], pixels, ceil_mode=True)[0, 0]  # a screen has no more pixels than that
    whole = (-0.5, len(labels) - 0.5, len(labels) - 0.5, -0.5)
    image = left.imshow(shown, cmap="magma", interpolation="nearest", extent=whole)
    for edge in edges.tolist():
        left.axhline(edge, color="white", linewidth=0.4, alpha=0.7)
        left.axvline(edge, color="white", linewidth=0.4, alpha=0.7)
    bounds = [-0.5, *edges.tolist(), len(labels) - 0.5]
    middles = [(a + b) / 2 for a, b in zip(bounds, bounds[1:], strict=False)]
    left.set(xticks=middles, yticks=middles, xticklabels=range(len(middles)), yticklabels=range(len(middles)))
    left.set(title="NTK of the CNN (cosine), digits sorted by class", xlabel="digit", ylabel="digit")
    figure.colorbar(image, ax=left, shrink=0.85)
    values = sorted((float(v) for v in eigenvalues), reverse=True)
    right.loglog(range(1, len(values) + 1), values, color="#b5367a", linewidth=2)
    right.set(title="Its spectrum: large modes are learned first", xlabel="mode", ylabel="eigenvalue")
    right.grid(alpha=0.3)
    words = "\n".join(f"{name}: {100 * a:.1f} % correct" for name, a in accuracies.items())
    right.text(0.05, 0.06, f"kernel regression on unseen digits\n{words}", transform=right.transAxes, fontsize=10)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ntk.png"
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path
