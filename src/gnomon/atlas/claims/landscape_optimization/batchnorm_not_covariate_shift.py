"""Batch normalization speeds up training even if added noise makes its activations' statistics change more.

Normalized activations get noise with a new random mean and size in every step. Their statistics change more than in
training without normalization, and training is still faster:

    log(loss (noisy normalized) / loss (plain))  <  0  <  log(drift (noisy normalized) / drift (plain))      (1)

The drift is the mean change per step of the mean and the standard deviation of the units of a layer.
Reference: [santurkar2018how], Section 2.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of both log ratios and of zero, from the smallest to the largest."""
    return ("logarithm of losses", "zero", "logarithm of drifts")


def digits():
    """Returns 200 handwritten digits and their labels."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return torch.tensor(images[:200] / 16, dtype=torch.float32), torch.tensor(labels[:200])


def losses_and_drifts(normalized, noise, nets, depth, steps, width=32):
    """Returns the final loss and the drift of the activations' statistics, for several networks."""
    x, y = digits()
    sizes = (64, *[width] * depth, 10)
    weights = [(2 * torch.rand(nets, a, b) - 1) / a**0.5 for a, b in zip(sizes, sizes[1:], strict=False)]
    biases = [(2 * torch.rand(nets, 1, b) - 1) / a**0.5 for a, b in zip(sizes, sizes[1:], strict=False)]
    optimizer = torch.optim.Adam([p.requires_grad_() for p in (*weights, *biases)], lr=0.02)
    last, drift = None, torch.zeros(nets)
    for _ in range(steps):
        h, now = x, []
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = h @ w + b
            if normalized:
                h = (h - h.mean(1, keepdim=True)) / (h.var(1, keepdim=True, correction=0) + 1e-5).sqrt()
            if noise:  # Fresh noise for each unit in each step makes the statistics change.
                h = h * (1 + noise * torch.rand(nets, 1, width)) + noise * (2 * torch.rand(nets, 1, width) - 1)
            now.append(torch.cat((h.mean(1), h.std(1)), 1).detach())
            h = torch.sigmoid(h)
        now = torch.stack(now)
        drift = drift if last is None else drift + (now - last).abs().mean((0, 2)) / (steps - 1)
        last = now
        loss = nn.functional.cross_entropy(
            (h @ weights[-1] + biases[-1]).mT, y.expand(nets, -1), reduction="none"
        ).mean(1)
        optimizer.zero_grad()
        loss.sum().backward()
        optimizer.step()
    return loss.detach(), drift


def ratios(normalized, nets, depth, steps):
    """Returns log ratios of losses and of drifts, between the noisy normalized and the plain network."""
    plain, noisy = (losses_and_drifts(*kind, nets, depth, steps) for kind in ((False, 0.0), (normalized, 0.6)))
    losses, drifts = ((a / b).log() for a, b in zip(noisy, plain, strict=True))
    return {"logarithm of losses": losses, "zero": torch.zeros(nets), "logarithm of drifts": drifts}


observed = partial(ratios, normalized=True)  # Normalized, with noise.
control = partial(ratios, normalized=False)  # Control: the same noise, but no batch normalization.

CLAIM = Claim(
    id="batchnorm-not-covariate-shift",
    question="Does batch normalization help because it stabilizes activations?",
    equation=r"L_{noisy\ BN} / L_{plain} < 1 < D_{noisy\ BN} / D_{plain}",
    axes=("quantity, compared with zero", "log of (noisy normalized / plain)"),
    source=Source("observed", "santurkar2018how", "Section 2"),
    premises=(Premise("the noisy network is normalized"), Premise("the network is deep", lambda depth: depth >= 5)),
    parameters={"nets": 6, "depth": 6, "steps": 25},
    full={"nets": 10, "depth": 8, "steps": 80},
    judge=in_order(),
)
