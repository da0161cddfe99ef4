"""Three small convolutional classifiers of MNIST: plain, adversarially trained, and one whose gradients are zero.

They are trained once and kept in build/, which git ignores.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build"
NAMES = ("plain", "adversarial", "masking")


class Rounding(nn.Module):
    """Pixels rounded to eighths: decisions change little, and every gradient is zero."""

    def forward(self, x):
        return (x * 8).round() / 8


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 4, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 4, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def mnist(shared, n, part, start=0):
    with np.load(Path(shared) / "data" / "mnist.npz") as file:
        x, y = (file[f"{name}_{part}"][start : start + n] for name in "xy")
    return torch.from_numpy(x).float().reshape(-1, 1, 28, 28) / 255, torch.from_numpy(y).long()


def moved(net, x, y, eps, steps=5):
    """Projected gradient ascent by hand, so that training uses nothing of what is measured."""
    z = (x + (torch.rand_like(x) * 2 - 1) * eps).clamp(0, 1)
    for _ in range(steps):
        z.requires_grad_()
        (g,) = torch.autograd.grad(nn.functional.cross_entropy(net(z), y), z)
        z = torch.minimum(torch.maximum(z.detach() + eps / 3 * g.sign(), x - eps), x + eps).clamp(0, 1)
    return z


def trained(shared, eps, epochs, seed):
    torch.manual_seed(seed)
    net, (x, y) = network(), mnist(shared, 20_000, "train")
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    total, step = epochs * (len(x) // 128), 0
    for _ in range(epochs):
        for part in torch.randperm(len(x)).split(128)[:-1]:
            step += 1
            a, b = x[part], y[part]
            if eps:
                a = moved(net, a, b, eps * min(1.0, 2 * step / total))
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(a), b).backward()
            optimizer.step()
    return net.eval()


def states(shared, seed):
    """The weights of the plain and of the adversarially trained network, from the disk where they are there."""
    kept = KEPT / ("mnist_classifiers.pt" if seed == 0 else f"mnist_classifiers_{seed}.pt")
    if not kept.exists():
        KEPT.mkdir(exist_ok=True)
        made = {"plain": trained(shared, 0.0, 3, seed), "adversarial": trained(shared, 0.3, 6, seed)}
        torch.save({name: net.state_dict() for name, net in made.items()}, kept)
    return torch.load(kept, weights_only=True)


def classifier(name, shared, seed=0):
    net = network()
    net.load_state_dict(states(shared, seed)["adversarial" if name == "adversarial" else "plain"])
    return (nn.Sequential(Rounding(), net) if name == "masking" else net).eval()
