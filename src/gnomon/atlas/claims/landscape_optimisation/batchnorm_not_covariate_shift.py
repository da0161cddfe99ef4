"""Batch normalization helps although it does not keep the statistics of activations still.

Normalized activations get noise whose mean and size are drawn anew in every step, which moves their statistics more
than training without normalization does; and still training is faster:

    loss (noisy normalized) / loss (plain)  <  1  <  drift (noisy normalized) / drift (plain)                (1)

with the drift the mean change per step of the mean and the standard deviation of the units of a layer.
Reference: [santurkar2018how], Section 2.
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, ordered

NORMALIZED = "the noisy network is normalized"


class Noise(nn.Module):
    """Multiplies and shifts each unit by numbers drawn anew in each call; keeps how far the statistics moved."""

    def __init__(self, size):
        super().__init__()
        self.size, self.last, self.drift = size, None, []

    def forward(self, x):
        """The noisy activations."""
        if self.size:
            scale, shift = 1 + self.size * torch.rand(x.shape[1]), self.size * (2 * torch.rand(x.shape[1]) - 1)
            x = x * scale + shift
        now = torch.stack([x.mean(0), x.std(0)]).detach()
        if self.last is not None:
            self.drift.append(float((now - self.last).abs().mean()))
        self.last = now
        return x


def predicted():
    """From small to large, equation (1)."""
    return ("ratio of losses", "one", "ratio of drifts")


def trained(normalized, noise, depth, steps):
    """The final loss on 300 handwritten digits, and the drift."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images[:300] / 16, dtype=torch.float32), torch.tensor(labels[:300])
    layers, meters = [], []
    for k in range(depth):
        meters.append(Noise(noise))
        layers += [nn.Linear(64 if k == 0 else 32, 32), *([nn.BatchNorm1d(32)] if normalized else []), meters[-1]]
        layers.append(nn.Sigmoid())
    net = nn.Sequential(*layers, nn.Linear(32, 10))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    drifts = [d for meter in meters for d in meter.drift]
    return float(loss.detach()), sum(drifts) / len(drifts)


def ratios(normalized, nets, depth, steps):
    """Loss and drift of the noisy network over those of the plain one."""
    losses, drifts = [], []
    for _ in range(nets):
        plain, noisy = trained(False, 0.0, depth, steps), trained(normalized, 0.6, depth, steps)
        losses.append(noisy[0] / plain[0])
        drifts.append(noisy[1] / plain[1])
    return {"ratio of losses": losses, "one": [1.0] * nets, "ratio of drifts": drifts}


def observed(nets, depth, steps):
    """Normalized, with noise."""
    return ratios(True, nets, depth, steps)


def control(nets, depth, steps):
    """The same noise without normalization."""
    return ratios(False, nets, depth, steps)


CLAIM = Claim(
    id="batchnorm-not-covariate-shift",
    title="Batch normalization helps although the statistics of its activations move more",
    equation=r"L_{noisy\ BN} / L_{plain} < 1 < D_{noisy\ BN} / D_{plain}",
    source=Source("observed", "santurkar2018how", "Section 2"),
    premises=(Premise(NORMALIZED), Premise("the network is deep", lambda depth: depth >= 5)),
    breaks=NORMALIZED,
    parameters={"nets": 6, "depth": 6, "steps": 25},
    full={"nets": 6, "depth": 8, "steps": 150},
    judge=ordered(),
    predicted=predicted,
    observed=observed,
    control=control,
)
