"""Batch normalization helps although noise makes its outputs drift more than those of a plain network.

After every normalization the activations get a random shift and scale, drawn anew for each step. They then drift more
from step to step than the plain network's, yet the network trains and the plain one does not:

    drift (plain) / drift (noisy) <= 1,    loss (noisy) / loss (plain) <= 1/2                            (1)

so that a steadier distribution of inputs cannot be the reason. Reference: [santurkar2018how], Section 2.1.
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, at_most

NORMALIZED = "the noise comes after a normalization"


def predicted():
    """Bounds of equation (1)."""
    return [1.0, 0.5]


def train(normalized, noise, depth, width, steps):
    """Mean drift of the second layer's means from step to step in units of their spread, and the final loss."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images[:300] / 16, dtype=torch.float32), torch.tensor(labels[:300])
    linear = nn.ModuleList(nn.Linear(64 if k == 0 else width, width) for k in range(depth))
    norms = nn.ModuleList(nn.BatchNorm1d(width) if normalized else nn.Identity() for _ in range(depth))
    last = nn.Linear(width, 10)
    optimizer = torch.optim.Adam([*linear.parameters(), *norms.parameters(), *last.parameters()], lr=0.02)
    drifts, before = [], None
    for _ in range(steps):
        h = x
        for k in range(depth):
            z = norms[k](linear[k](h))
            z = z * (1 + noise * torch.randn(width)) + noise * torch.randn(width)
            if k == 1:
                now = z.detach()
                drifts += (
                    [] if before is None else [float(((now - before).mean(0) / (before.std(0) + 1e-6)).abs().mean())]
                )
                before = now
            h = torch.sigmoid(z)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(last(h), y)
        loss.backward()
        optimizer.step()
    return sum(drifts) / len(drifts), float(loss.detach())


def ratios(normalized, nets, depth, width, steps):
    """Both ratios for several initializations."""
    rows = []
    for _ in range(nets):
        (drift, loss), (calm, stuck) = (
            train(normalized, 0.2, depth, width, steps),
            train(False, 0.0, depth, width, steps),
        )
        rows.append([calm / drift, loss / stuck])
    return rows


def observed(nets, depth, width, steps):
    """Noise after batch normalization."""
    return ratios(True, nets, depth, width, steps)


def control(nets, depth, width, steps):
    """Noise without normalization."""
    return ratios(False, nets, depth, width, steps)


CLAIM = Claim(
    id="batchnorm-not-covariate-shift",
    title="Batch normalization helps although noise makes its outputs drift more than those of a plain network",
    equation=r"\mathrm{drift}_{\mathrm{plain}} \le \mathrm{drift}_{\mathrm{noisy}}, \;"
    r" L_{\mathrm{noisy}} \le \tfrac12 L_{\mathrm{plain}}",
    source=Source("observed", "santurkar2018how", "Section 2.1"),
    premises=(Premise(NORMALIZED), Premise("the networks are deep", lambda depth: depth >= 6)),
    breaks=NORMALIZED,
    parameters={"nets": 3, "depth": 7, "width": 32, "steps": 40},
    full={"nets": 6, "depth": 8, "width": 64, "steps": 150},
    judge=at_most(confidence=0.99),
    predicted=predicted,
    observed=observed,
    control=control,
)
