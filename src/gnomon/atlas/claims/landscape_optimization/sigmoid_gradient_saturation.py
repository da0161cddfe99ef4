"""Each sigmoid layer multiplies gradients by at most a quarter of its weights' norm, so they vanish with depth.

sigmoid' = s (1 - s) <= 1/4, so the gradient of a loss J by the preactivations z_l falls through L layers at least as

    |dJ / dz_1| <= prod_l (|W_l| / 4) |dJ / dz_L|                                                        (1)

W_l are the weights of layer l. A chain of single units at preactivation zero reaches equality. With Xavier weights of
norm about 2 the factor is 2^-L. Reference: [glorot2010understanding].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(nets, width, depth, seed):
    """Returns weights of networks with Xavier initialization; the first network is a chain of units with weight 2."""
    torch.manual_seed(seed)
    chain = [torch.full((1, 1), 2.0, dtype=torch.float64) for _ in range(depth)]
    rest = [[torch.randn(width, width).double() * width**-0.5 for _ in range(depth)] for _ in range(nets)]
    return [chain, *rest]


def predicted(nets, width, depth, seed):
    """Returns the bound on the gradient ratio for each network: the product of weight norms divided by 4."""
    drawn = problem(nets, width, depth, seed)
    return [torch.stack([torch.linalg.matrix_norm(w, 2) / 4 for w in net]).prod() for net in drawn]


def ratios(activation, nets, width, depth, seed):
    """Returns the ratio of first to last layer's gradient by autograd, for each network."""
    rows = []
    for net in problem(nets, width, depth, seed):
        n = len(net[0])
        z = first = torch.zeros(n, dtype=torch.float64, requires_grad=True)
        for w in net:
            h = activation(z)
            z = w @ h - (w @ h).detach() + (0.0 if n == 1 else torch.randn(n, dtype=torch.float64))
        g = torch.randn(n, dtype=torch.float64)
        rows.append(torch.autograd.grad(z, first, g)[0].norm() / g.norm())
    return torch.stack(rows)


observed = partial(ratios, activation=torch.sigmoid)  # Sigmoid.
control = partial(ratios, activation=torch.tanh)  # Control: tanh, whose slope at zero is 1 instead of 1/4.

CLAIM = Claim(
    id="sigmoid-gradient-saturation",
    question="Why do gradients vanish in sigmoid networks?",
    equation=r"\|\partial J / \partial z_1\| \le \prod_\ell (\|W_\ell\| / 4) \, \|\partial J / \partial z_L\|",
    axes=("network", "gradient at the first layer / gradient at the last"),
    source=Source("derived", "glorot2010understanding"),
    premises=(Premise("the activation is the sigmoid"),),
    parameters={"nets": 20, "width": 20, "depth": 10},
    full={"nets": 100, "width": 100, "depth": 20},
    judge=bounded_by("above", rounding=1000, tight=1 - 1e-12),
)
