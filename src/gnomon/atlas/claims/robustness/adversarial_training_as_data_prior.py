"""Training against attacks makes the gradient of the loss in the input smoother than plain training does.

    TV(dl / dx, trained against attacks) < TV(dl / dx, trained plainly),    TV of the gradient over its length     (1)

Reference: [tsipras2019robustness], Section 3.
"""

import torch

from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, ordered

AGAINST = "inputs are moved against the network"


def trained(eps, width, split):
    """A network, its inputs moved at every step by eps times the sign of the gradient."""
    net = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 10)
    )
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(60):
        x = split.x.clone().requires_grad_()
        (g,) = torch.autograd.grad(torch.nn.functional.cross_entropy(net(x), split.y), x)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net((x.detach() + eps * g.sign()).clamp(0, 1)), split.y).backward()
        optimizer.step()
    return net


def variation(net, split):
    """Mean total variation of the gradient in the input, over its length."""
    x = split.x_test.clone().requires_grad_()
    (g,) = torch.autograd.grad(torch.nn.functional.cross_entropy(net(x), split.y_test, reduction="sum"), x)
    rough = g.diff(dim=2).abs().sum((1, 2, 3)) + g.diff(dim=3).abs().sum((1, 2, 3))
    return float((rough / g.flatten(1).norm(dim=1).clamp_min(1e-12)).mean())


def predicted():
    """From the smoothest to the roughest."""
    return ("against attacks", "plain")


def both(eps, width, networks, seed):
    """Total variations of both kinds of network, from one start each."""
    rows = {"against attacks": [], "plain": []}
    for i in range(networks):
        split = digits(300, 200, seed=seed + i)
        for name, size in (("against attacks", eps), ("plain", 0.0)):
            torch.manual_seed(seed + i)
            rows[name].append(variation(trained(size, width, split), split))
    return rows


def observed(eps, width, networks, seed):
    """Attacks of size eps."""
    return both(eps, width, networks, seed)


def control(eps, width, networks, seed):
    """Moved as far in favor of the network, to where its loss is smaller."""
    return both(-eps, width, networks, seed)


CLAIM = Claim(
    id="adversarial-training-as-data-prior",
    title="Training against attacks makes gradients in the input smoother",
    equation=r"\mathrm{TV}(\nabla_x \ell_{\mathrm{robust}}) < \mathrm{TV}(\nabla_x \ell_{\mathrm{plain}})",
    source=Source("observed", "tsipras2019robustness"),
    premises=(Premise(AGAINST),),
    breaks=AGAINST,
    parameters={"eps": 0.2, "width": 32, "networks": 6},
    full={"eps": 0.2, "width": 128, "networks": 10},
    judge=ordered(),
)
