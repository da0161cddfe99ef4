"""A ReLU unit's squared derivative by a weight two layers back is on average E W^2 E F^2 / 4 (weights W, inputs F).

dF_j / dV_km = 1[z_j > 0] W_jk 1[z_k > 0] F_m. Both signs are symmetric and independent of the squares:

    E (dF_j / dV_km)^2 = E W^2 E F_m^2 / 4                                                               (1)

V and W are the weights of the two layers, F_m the inputs. With E W^2 = 2 / n the sum over the n units k is E F_m^2 / 2,
as for the last layer, so gradients do not grow with depth.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(widths):
    """Returns n times the predicted mean squared derivative for each width n, with E W^2 = 2 / n and E F_m^2 = 1."""
    return [0.5 for n in widths]


def moments(activation, nets, widths):
    """Returns the width times the mean squared derivative of one unit by autograd, for each network and width."""
    columns = []
    for n in widths:
        x = torch.randn(nets, n, 1)
        v, w = torch.randn(2, nets, n, n) * (2 / n) ** 0.5
        v.requires_grad_()
        f = activation(w @ activation(v @ x))[:, 0]
        columns.append(n * torch.autograd.grad(f.sum(), v)[0].square().mean((1, 2)))
    return torch.stack(columns, 1)


observed = partial(moments, activation=torch.relu)  # ReLU.
control = partial(moments, activation=lambda z: z)  # Control: without ReLUs the variance is four times as large.

CLAIM = Claim(
    id="gradient-variance-two-layers",
    question="How large is the gradient with respect to weights two layers back?",
    equation=r"E (\partial F_j^{(\ell)} / \partial W_{km}^{(\ell-2)})^2 = \tfrac14 E W^2 \, E F_m^2",
    axes=("width n", "n x mean squared derivative", "widths"),
    source=Source("derived"),
    premises=(Premise("the activation is a ReLU"), Premise("the weights are symmetric around zero")),
    parameters={"nets": 3000, "widths": (8, 24)},
    full={"nets": 20_000, "widths": (16, 64)},
    judge=mean_equals(confidence=0.9999, resolution=0.15),
    remark="Lecture notes end the inner sum at n_{l-1}; it runs over the n_{l-2} features F_m.",
)
