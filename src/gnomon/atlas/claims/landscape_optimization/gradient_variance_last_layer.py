"""A ReLU unit's squared derivative by one of its weights is on average half the mean square of its inputs.

dF_j / dW_jk = 1[z_j > 0] F_k and dF_j / dB_j = 1[z_j > 0]. The sign of the preactivation z_j flips with row j of the
weights, independent of the inputs F_k:

    E (dF_j / dW_jk)^2 = E F_k^2 / 2,    E (dF_j / dB_j)^2 = 1/2                                         (1)
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted():
    """Returns the predicted mean squared derivatives: 1.125 for weights, then 1/2 for biases."""
    return [1.125 / 2, 0.5]


def moments(mean, nets, width):
    """Returns the squared derivatives of one unit by its weights and its bias, for many random networks."""
    x = torch.randn(nets, width, 1)
    w, v = torch.randn(2, nets, width, width) * (2 / width) ** 0.5
    b, c = torch.randn(2, nets, width, 1) / 2 + mean
    v.requires_grad_(), c.requires_grad_()
    f = torch.relu(v @ torch.relu(w @ x + b - mean) + c)[:, 0]
    by_weights, by_biases = torch.autograd.grad(f.sum(), (v, c))
    return torch.stack([by_weights[:, 0].square().mean(1), by_biases[:, 0, 0].square()], 1)


observed = partial(moments, mean=0.0)  # The biases have mean zero, so half of the units are on.
control = partial(moments, mean=1.0)  # Control: positive biases in the second layer switch more units on.

CLAIM = Claim(
    id="gradient-variance-last-layer",
    question="How large is the gradient of a ReLU unit with respect to its weights?",
    equation=r"E (\partial F_j / \partial W_{jk})^2 = \tfrac12 E F_k^2, E (\partial F_j / \partial B_j)^2 = \tfrac12",
    axes=("weight, then bias", "mean squared derivative"),
    source=Source("derived"),
    premises=(Premise("weights and biases are symmetric around zero"),),
    parameters={"nets": 6000, "width": 16},
    full={"nets": 50_000, "width": 50},
    judge=mean_equals(confidence=0.9999, resolution=0.1),
)
