"""In ReLU networks the mean square obeys a linear recursion: r times the layer before, plus half of E bias^2.

F' = relu(W F + B) at width n with symmetric independent weights W and biases B: E F'^2 = E (W F + B)^2 / 2, so

    E F_l^2 = r E F_{l-1}^2 + E B^2 / 2                                                                  (1)
Reference: [he2015delving], Section 2.2, without biases.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals

VARIANCE_RATIOS = (0.8, 1.0, 1.2)


def predicted(depth, bias):
    """Returns the mean squares predicted by the recursion after the last layer, for each factor r."""
    return [r**depth + bias**2 / 2 * sum(r**k for k in range(depth)) for r in VARIANCE_RATIOS]


def squares(shift, nets, width, depth, bias):
    """Returns measured mean squares of the last layer, for each network and r; ``shift`` is the biases' mean."""
    columns = []
    for r in VARIANCE_RATIOS:
        f = torch.randn(nets, width, 1, dtype=torch.float64)
        for _ in range(depth):
            w = torch.randn(nets, width, width, dtype=torch.float64) * (2 * r / width) ** 0.5
            f = torch.relu(w @ f + bias * torch.randn(nets, width, 1, dtype=torch.float64) + shift)
        columns.append(f.square().mean((1, 2)))
    return torch.stack(columns, 1)


observed = partial(squares, shift=0.0)  # Symmetric biases.


def control(nets, width, depth, bias):
    """Returns the mean squares if the biases have a positive mean."""
    return squares(bias, nets, width, depth, bias)


CLAIM = Claim(
    id="variance-recursion-relu",
    question="How does the size of signals change from layer to layer?",
    equation=r"E F_\ell^2 = \rho E F_{\ell-1}^2 + \tfrac12 E B^2, \quad \rho = \tfrac n2 E W^2",
    axes=("variance factor r = 0.8, 1, 1.2", "mean square of the last layer"),
    source=Source("theorem", "he2015delving", "Section 2.2"),
    premises=(Premise("weights and biases are symmetric around zero"),),
    parameters={"nets": 700, "width": 40, "depth": 5, "bias": 0.5},
    full={"nets": 600, "width": 64, "depth": 8},
    judge=mean_equals(confidence=0.9999),
    remark="Often called the variance; it is the second moment, because the mean of a ReLU layer is not zero.",
)
