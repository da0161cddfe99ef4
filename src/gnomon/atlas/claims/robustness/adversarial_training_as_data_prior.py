"""Adversarial training makes the loss gradient with respect to the input image smoother.

    TV(dl / dx, trained against attacks) < TV(dl / dx, trained plainly),    TV of the gradient over its length     (1)

TV is the total variation of the gradient over the image, divided by its norm; l is the loss and x the input.
Reference: [tsipras2019robustness], Section 3.
"""

import torch

from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, in_order


def forward(weights, x):
    """Returns the outputs (networks, n, 10) of all networks, each for its own inputs."""
    first, shift, last, bias = weights
    return torch.relu(x.flatten(2) @ first + shift) @ last + bias


def losses(weights, x, y):
    """Returns the cross-entropy of each network and example."""
    return torch.nn.functional.cross_entropy(forward(weights, x).flatten(0, 1), y.flatten(), reduction="none")


def train(eps, width, x, y):
    """Returns networks trained on inputs that are moved by eps times the sign of the loss gradient."""
    shapes = ((64, width, 64), (1, width, 64), (width, 10, width), (1, 10, width))  # per tensor: rows, columns, fan_in
    weights = [(2 * torch.rand(len(x), a, b) - 1) / inputs**0.5 for a, b, inputs in shapes]
    optimizer = torch.optim.Adam([w.requires_grad_() for w in weights], 0.01)
    for _ in range(60):
        moved = x.clone().requires_grad_()
        (g,) = torch.autograd.grad(losses(weights, moved, y).sum(), moved)
        optimizer.zero_grad()
        (losses(weights, (x + eps * g.sign()).clamp(0, 1), y).sum() / y.shape[1]).backward()
        optimizer.step()
    return weights


def variation(weights, x, y):
    """Returns the mean total variation of the input gradient divided by its norm, for each network."""
    x = x.clone().requires_grad_()
    (g,) = torch.autograd.grad(losses(weights, x, y).sum(), x)
    rough = g.diff(dim=3).abs().sum((2, 3, 4)) + g.diff(dim=4).abs().sum((2, 3, 4))
    return (rough / g.flatten(2).norm(dim=2).clamp_min(1e-12)).mean(1)


def predicted():
    """Returns the names of both kinds of training, the one with the smoother input gradient first."""
    return ("against attacks", "plain")


def variations_of_both(eps, width, networks, seed):
    """Returns the total variations of the input gradient with and without adversarial training, from the same start."""
    splits = [digits(300, 200, seed=seed + i) for i in range(networks)]
    parts = ("x", "y", "x_test", "y_test")
    x, y, x_test, y_test = (torch.stack([getattr(split, part) for split in splits]) for part in parts)
    rows = {}
    for name, size in (("against attacks", eps), ("plain", 0.0)):
        torch.manual_seed(seed)
        rows[name] = variation(train(size, width, x, y), x_test, y_test)
    return rows


observed = variations_of_both  # The tested networks are trained on adversarial inputs, changed by eps.


def control(eps, width, networks, seed):
    """Returns the variations if training inputs are moved in the helpful direction, to a smaller loss."""
    return variations_of_both(-eps, width, networks, seed)


CLAIM = Claim(
    id="adversarial-training-as-data-prior",
    question="What does adversarial training do to input gradients?",
    equation=r"\mathrm{TV}(\nabla_x \ell_{\mathrm{robust}}) < \mathrm{TV}(\nabla_x \ell_{\mathrm{plain}})",
    axes=("training", "total variation of the input gradient / its norm"),
    source=Source("observed", "tsipras2019robustness"),
    premises=(Premise("inputs are moved against the network"),),
    parameters={"eps": 0.2, "width": 32, "networks": 16},
    full={"eps": 0.2, "width": 128, "networks": 20},
    judge=in_order(),
)
