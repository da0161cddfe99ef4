"""With weights of variance 1 / fan_in and a rescaled softplus, all layers start with outputs of mean square one.

z_1 = W_0 x / sqrt(d), z_(l+1) = W_l s(z_l) / sqrt(m), f = W_L s(z_L) / sqrt(m), with standard Gaussian weights W_l,
|x|^2 = d, width m and s(z) = a softplus(5 z) / 5. If E s(z)^2 = 1 for z ~ N(0, 1), which a = 1.404 achieves,

    E z_l^2 = 1 in every layer,    E f^2 = 1,    at every width                                              (1)
Reference: [geiger2020disentangling], Section 2.
"""

from functools import partial

import torch
from torch.nn.functional import softplus

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(depth, widths):
    """Returns 1, the mean square of each layer's and the network's output, at each width."""
    return [1.0] * (depth + 1) * len(widths)


def variances(nets, depth, widths, factor, d=10):
    """Returns the mean square of the activations of each layer and of the output, per network and width."""
    columns = []
    for m in widths:
        x = torch.randn(nets, d, 1)
        z = torch.randn(nets, m, d) @ (x / x.norm(dim=1, keepdim=True))
        columns.append((z**2).mean((1, 2)))
        for _ in range(depth - 1):
            z = torch.randn(nets, m, m) @ (factor * softplus(z, beta=5)) / m**0.5
            columns.append((z**2).mean((1, 2)))
        columns.append(factor**2 * (softplus(z, beta=5) ** 2).mean((1, 2)))  # mean square output over random weights
    return torch.stack(columns, 1)


observed = partial(variances, factor=1.404, d=10)  # a = 1.404.
control = partial(variances, factor=1.0, d=10)  # Control: the softplus without its rescaling factor a.

CLAIM = Claim(
    id="feature-lazy-architecture",
    question="How can every layer start with variance one?",
    equation=r"E z_l^2 = E f^2 = 1",
    axes=("layer, for each width", "mean square"),
    source=Source("theorem", "geiger2020disentangling", "Section 2"),
    premises=(Premise("the activation keeps E s(z)^2 = 1"), Premise("weights have variance 1 / fan_in")),
    parameters={"nets": 250, "depth": 3, "widths": (40, 120)},
    full={"nets": 400, "widths": (50, 150, 500)},
    judge=mean_equals(confidence=0.9995, within=0.03, because="1.404 has four digits, and 1/width is 0.025"),
)
