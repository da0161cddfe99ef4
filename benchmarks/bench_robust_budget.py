"""Robust accuracy with the time of PGD of 40 steps as its budget, on three networks that no attack was tuned on.

    PYTHONPATH=. python benchmarks/bench_robust_budget.py

PGD is a plain loop: one random start, steps of a tenth of eps, cross-entropy. `robust_accuracy(budget=)` gets the wall
time that this loop took a moment before, its checks of assumptions included; the smallest of three runs of the loop
counts. Lower is better. The networks are trained for seconds on bundled digits, with and without attacks.
"""

import time

import torch
from measure import record
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812

from gnomon.robustness import robust_accuracy

EPS, STEPS, STEP = 0.15, 40, 0.1
EXAMPLES = 400


class Mixer(nn.Module):
    """A transformer over the eight rows of an image."""

    def __init__(self, width=48):
        super().__init__()
        self.embed, self.head = nn.Linear(8, width), nn.Linear(8 * width, 10)
        self.position = nn.Parameter(0.02 * torch.randn(1, 8, width))
        self.layer = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, "gelu", batch_first=True, norm_first=True)

    def forward(self, x):
        return self.head(self.layer(self.embed(x.squeeze(1)) + self.position).flatten(1))


NETWORKS = {
    "CNN with batch norm, trained against attacks": lambda: nn.Sequential(
        nn.Conv2d(1, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.Conv2d(48, 96, 3, stride=2, padding=1),
        nn.BatchNorm2d(96), nn.ReLU(), nn.Flatten(), nn.Linear(96 * 16, 10)),
    "perceptron, trained against attacks": lambda: nn.Sequential(
        nn.Flatten(), nn.Linear(64, 400), nn.GELU(), nn.Linear(400, 400), nn.GELU(), nn.Linear(400, 10)),
    "transformer over rows, trained against weak attacks": Mixer,
}  # fmt: skip


def moved(net, x, y, eps, steps, step, generator=None):
    """Plain projected gradient ascent from a random start."""
    z = (x + (2 * torch.rand(x.shape, generator=generator) - 1) * eps).clamp(0, 1)
    for _ in range(steps):
        z.requires_grad_()
        (g,) = torch.autograd.grad(F.cross_entropy(net(z), y), z)
        z = torch.minimum(torch.maximum(z.detach() + step * eps * g.sign(), x - eps), x + eps).clamp(0, 1)
    return z


def train(net, x, y, eps):
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for _ in range(12):
        for part in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            F.cross_entropy(net(moved(net, x[part], y[part], eps, 4, 0.4)), y[part]).backward()
            optimizer.step()
    return net.eval()


def main() -> None:
    x, y = (torch.tensor(part) for part in load_digits(return_X_y=True))
    x, rows = (x / 16).float().view(-1, 1, 8, 8), []
    for seed, (name, build) in enumerate(NETWORKS.items()):
        torch.manual_seed(seed)
        net = train(build(), x[:-EXAMPLES], y[:-EXAMPLES], EPS if "weak" not in name else EPS / 3)
        a, b = x[-EXAMPLES:], y[-EXAMPLES:]
        with torch.no_grad():
            clean = float((net(a).argmax(1) == b).double().mean())
        taken, left = [], 1.0
        for repetition in range(3):
            start = time.perf_counter()
            z = moved(net, a, b, EPS, STEPS, STEP, torch.Generator().manual_seed(repetition))
            taken.append(time.perf_counter() - start)
            with torch.no_grad():
                left = min(left, float((net(z).argmax(1) == b).double().mean()))
        start = time.perf_counter()
        found = robust_accuracy(net, (a, b), eps=EPS, budget=min(taken))
        own = time.perf_counter() - start
        whole = robust_accuracy(net, (a, b), eps=EPS)
        rows.append([name, f"{clean:.1%}", f"{left:.1%}", f"{min(taken):.2f} s", f"{found.value:.1%}", f"{own:.2f} s",
                     f"{whole.value:.1%}", "yes" if found.value <= left else "no"])  # fmt: skip
        print(" | ".join(rows[-1]), flush=True)
    columns = ["network", "clean", "PGD-40", "its time", "with this budget", "time", "all attacks", "at least as low"]
    note = f"{EXAMPLES} digits, inf norm {EPS}; PGD-40: the lowest of three random starts, each of the time shown."
    record("attacks", "Robust accuracy in the time of PGD-40", columns, rows, note)


if __name__ == "__main__":
    main()
