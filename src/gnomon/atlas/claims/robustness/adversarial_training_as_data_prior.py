"""Training against attacks makes the gradient of the loss in the input smoother than plain training does.

    TV(dl / dx, trained against attacks) < TV(dl / dx, trained plainly),    TV of the gradient over its length     (1)

Reference: [tsipras2019robustness], Section 3.
"""

import torch

from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, in_order


def forward(weights, x):
    """Outputs of all networks, each for its own inputs: (networks, n, 10)."""
    first, shift, last, bias = weights
    return torch.relu(x.flatten(2) @ first + shift) @ last + bias


def losses(weights, x, y):
    """Cross-entropy of each network and example."""
    return torch.nn.functional.cross_entropy(forward(weights, x).flatten(0, 1), y.flatten(), reduction="none")


def trained(eps, width, x, y):
    """One network for each split, its inputs moved at every step by eps times the sign of the gradient."""
    shapes = ((64, width, 64), (1, width, 64), (width, 10, width), (1, 10, width))  # rows, columns and inputs
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
    """Mean total variation of the gradient in the input, over its length, for each network."""
    x = x.clone().requires_grad_()
    (g,) = torch.autograd.grad(losses(weights, x, y).sum(), x)
    rough = g.diff(dim=3).abs().sum((2, 3, 4)) + g.diff(dim=4).abs().sum((2, 3, 4))
    return (rough / g.flatten(2).norm(dim=2).clamp_min(1e-12)).mean(1)


def predicted():
    """From the smoothest to the roughest."""
    return ("against attacks", "plain")


def both(eps, width, networks, seed):
    """Total variations of both kinds of network, from one start each."""
    splits = [digits(300, 200, seed=seed + i) for i in range(networks)]
    x, y, x_test, y_test = (
        torch.stack([getattr(split, part) for split in splits]) for part in ("x", "y", "x_test", "y_test")
    )
    rows = {}
    for name, size in (("against attacks", eps), ("plain", 0.0)):
        torch.manual_seed(seed)
        rows[name] = variation(trained(size, width, x, y), x_test, y_test)
    return rows


observed = both  # Attacks of size eps.


def control(eps, width, networks, seed):
    """Moved as far in favor of the network, to where its loss is smaller."""
    return both(-eps, width, networks, seed)


CLAIM = Claim(
    id="adversarial-training-as-data-prior",
    title="Training against attacks makes gradients in the input smoother",
    equation=r"\mathrm{TV}(\nabla_x \ell_{\mathrm{robust}}) < \mathrm{TV}(\nabla_x \ell_{\mathrm{plain}})",
    source=Source("observed", "tsipras2019robustness"),
    premises=(Premise("inputs are moved against the network"),),
    parameters={"eps": 0.2, "width": 32, "networks": 16},
    full={"eps": 0.2, "width": 128, "networks": 20},
    judge=in_order(),
)
