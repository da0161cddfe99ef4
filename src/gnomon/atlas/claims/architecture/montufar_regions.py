"""ReLU networks with L layers of m units can have (m + 1) m^(L - 1) linear pieces along a line.

    (m + 1) m^(L - 1)      pieces on a line, for L layers of m relu units that fold                           (1)

Some weights reach this number; most networks do not. Reference: [montufar2014number], Theorem 5.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.robustness import regions_on_line

SHIFT = 1.0
"""Added to the first unit of a fold and taken off after it, so that rounding at zero makes no further piece."""


def predicted(widths, depths):
    """Returns the number of linear pieces, (m + 1) m^(L - 1), for each width m and number of layers L."""
    return np.array([float((m + 1) * m ** (depth - 1)) for m in widths for depth in depths])


def pieces(folding, widths, depths, seed):
    """Returns the number of linear pieces on [0, 1] of networks with folding weights, or torch's default weights."""
    torch.manual_seed(seed)
    found = []
    for m in widths:
        folded = torch.tensor([[float(m)] + [(-1.0) ** i * 2 * m for i in range(1, m)]])
        for depth in depths:
            layers = []
            for level in range(depth):
                linear = torch.nn.Linear(1 if level == 0 else m, m).double()
                if folding:
                    with torch.no_grad():
                        linear.weight.copy_((torch.ones(1, 1) if level == 0 else folded).expand(m, -1))
                        linear.bias.copy_(-(torch.arange(m) + (0.5 if level == depth - 1 else 0.0)) / m)
                        linear.bias.sub_(m * SHIFT if level else 0.0)
                        linear.bias[0].add_(SHIFT if level < depth - 1 else 0.0)
                layers += [linear, torch.nn.ReLU()]
            net = torch.nn.Sequential(*layers, torch.nn.Linear(m, 1).double())
            found.append(float(regions_on_line(net, torch.zeros(1), torch.ones(1)).count))
    return np.array(found)


observed = partial(pieces, folding=True)  # Folding weights.
control = partial(pieces, folding=False)  # Control: PyTorch's random weights, which do not fold the input space.

CLAIM = Claim(
    id="montufar-regions",
    question="How many linear pieces can a deep ReLU network have?",
    equation=r"(m + 1)\, m^{L - 1}",
    axes=("combination of width and depth", "number of linear pieces"),
    source=Source("theorem", "montufar2014number", "Theorem 5"),
    premises=(Premise("every layer folds its input"),),
    parameters={"widths": (2, 3), "depths": (1, 2, 3, 4)},
    full={"widths": (2, 3, 4), "depths": (1, 2, 3, 4, 5, 6)},
    judge=equals(rounding=0),
    remark="Often worded as if every network had this many; PyTorch's random weights give one to three.",
)
