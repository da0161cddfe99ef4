"""With skip connections and branches over sqrt(L), squared gradients grow by (1 + 1/L)^L, at most e, over L layers.

h' = h + W relu(h) / sqrt(L) in each of L layers, with weights of variance 2 / n at width n. Backward, the branch adds 1
/ L to the squared gradient on average and its cross term averages to zero, so

    E |g_0|^2 / |g_L|^2 = (1 + 1/L)^L -> e                                                               (1)

for wide layers, with g_l the gradient at layer l. Without the identity the factor is L^-L. Forward and backward use the
same weights, so width n has an error c / n; twice the ratio at n minus the ratio at n / 2 has error O(1 / n^2).
Reference: [zhang2019fixup].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(depth):
    """Returns the growth (1 + 1/L)^L of the squared gradient, for L layers."""
    return (1 + 1 / depth) ** depth


def ratios(skip, nets, width, depth):
    """Returns the ratio of first to last layer's squared gradients by autograd, for many networks."""
    first = torch.randn(nets, width, 1, dtype=torch.float64, requires_grad=True)
    h = first
    for _ in range(depth):
        w = torch.randn(nets, width, width, dtype=torch.float64) * (2 / width) ** 0.5
        h = skip * h + w @ torch.relu(h) / depth**0.5
    g = torch.randn(nets, width, 1, dtype=torch.float64)
    back = torch.autograd.grad(h, first, g)[0]
    return back.square().sum((1, 2)) / g.square().sum((1, 2))


def extrapolated(skip, nets, width, depth):
    """Returns the gradient ratios extrapolated to infinite width, from two widths."""
    return 2 * ratios(skip, nets, width, depth) - ratios(skip, nets, width // 2, depth)


observed = partial(extrapolated, skip=1.0)  # With skip connections.
control = partial(extrapolated, skip=0.0)  # Without skip connections.

CLAIM = Claim(
    id="skip-connections-smooth-gradients",
    question="How do skip connections keep gradients from vanishing?",
    equation=r"E \|g_0\|^2 / \|g_L\|^2 = (1 + 1/L)^L \to e",
    axes=("network", "squared gradient at the first layer / at the last"),
    source=Source("derived", "zhang2019fixup"),
    premises=(Premise("each layer adds to its input"), Premise("the layers are wide", lambda width: width >= 32)),
    parameters={"nets": 500, "width": 48, "depth": 20},
    full={"nets": 800, "width": 64, "depth": 30},
    judge=mean_equals(confidence=0.9999),
)
