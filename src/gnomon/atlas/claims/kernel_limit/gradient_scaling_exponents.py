"""With NTK scaling, gradients of inner weights fall as 1/width, and of first and last ones as width^-1/2.

For f = W_2 s(W_1 s(W_0 x / sqrt d) / sqrt m) / sqrt m with weights of order one, the backward signal of each unit is
m^-1/2, and an inner weight has another factor m^-1/2:

    df/dW_0 = O(m^-1/2),     df/dW_1 = O(1/m),     df/dW_2 = O(m^-1/2)       for each entry                   (1)
Reference: [geiger2020disentangling], Section 4.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted():
    """Returns the exponents of the width in the gradients of first, inner and last layer."""
    return [-0.5, -1.0, -0.5]


def slopes(nets, widths, inside, d=5):
    """Returns the measured exponents of the width in the gradients of three layers, one row for each network.

    ``inside``: whether the factors 1 / sqrt(fan_in) are part of the weights.
    """
    x, rows = torch.randn(1, d), []
    for m in widths:
        shapes = ((d, m), (m, m), (m, 1))
        sizes = [1.0] * 3 if not inside else [shape[0] ** -0.5 for shape in shapes]
        p = [(torch.randn(nets, *s) * size).requires_grad_() for s, size in zip(shapes, sizes, strict=True)]
        c = [s[0] ** -0.5 if not inside else 1.0 for s in shapes]
        h = torch.tanh(torch.tanh(x @ p[0] * c[0]) @ p[1] * c[1])
        gradients = torch.autograd.grad((h @ p[2] * c[2]).sum(), p)
        rows.append(torch.stack([(g**2).mean((1, 2)).sqrt() for g in gradients], 1).log().numpy())
    u = np.log(widths) - np.mean(np.log(widths))
    return np.einsum("k,kil->il", u, np.stack(rows)) / (u @ u)


observed = partial(slopes, inside=False, d=5)  # The factors 1 / sqrt(fan_in) multiply the weights.
control = partial(slopes, inside=True, d=5)  # Control: the factors are part of the weights, as in PyTorch's layers.

CLAIM = Claim(
    id="gradient-scaling-exponents",
    question="How do gradients depend on the width?",
    equation=r"\partial f / \partial W_{0,1,2} = O(m^{-1/2}), O(m^{-1}), O(m^{-1/2})",
    axes=("layer (first, inner, last)", "power of the width in the gradient"),
    source=Source("theorem", "geiger2020disentangling", "Section 4"),
    premises=(Premise("factors 1 / sqrt(fan_in) are outside the weights"),),
    parameters={"nets": 30, "widths": (32, 64, 128, 256)},
    full={"nets": 40, "widths": (32, 64, 128, 256, 512, 1024)},
    judge=mean_equals(confidence=0.9995, resolution=0.15, within=0.03, because="corrections of order 1/32"),
)
