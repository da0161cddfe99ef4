"""A tent map composed k times, a network of depth k, has 2^k linear pieces; one hidden layer needs 2^k - 1 units.

    pieces(k layers of width 2) = 2^k                                                                         (1)

Each of the k layers has two ReLU units. One layer of m units has at most m + 1 pieces. Reference: [montufar2014number].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted(depth):
    """Returns the number of linear pieces, 2^k, for each depth k: of the composed map, and of one hidden layer."""
    return [2.0 ** np.arange(1, depth + 1)] * 2


def pieces(function):
    """Returns the number of linear pieces of a function on [0, 1]: changes of slope on a fine grid, plus one."""
    x = torch.linspace(0, 1, 2**14 + 1, dtype=torch.float64)
    slopes = torch.diff(function(x)) * 2**14
    return float((torch.diff(slopes).abs() > 1e-6).sum() + 1)


def tent(x):
    """Returns the tent map, which rises from 0 to 1 and falls back to 0, as a sum of two ReLU units."""
    return 2 * torch.relu(x) - 4 * torch.relu(x - 0.5)


def counts(units, depth):
    """Returns the pieces of the composed tent map, and of one hidden layer with random weights, for each depth k."""
    found, f = [], tent
    for k in range(1, depth + 1):
        knots = torch.arange(1, units(k) + 1, dtype=torch.float64) / 2 ** (depth + 1)
        layer = pieces(lambda x, p=knots: torch.relu(x[:, None] - p) @ torch.randn(len(p), dtype=torch.float64))
        found.append([pieces(f), layer])
        f = (lambda inner: lambda x: tent(inner(x)))(f)
    return np.array(found).T


observed = partial(counts, units=lambda k: 2**k - 1)  # The single hidden layer has 2^k - 1 units.
control = partial(counts, units=lambda k: 2 * k)  # Control: it has as many units as the deep network, 2 k.


CLAIM = Claim(
    id="depth-separation-eldan-shamir",
    question="How many more units does a shallow network need than a deep one?",
    equation=r"\text{pieces}(t \circ \dots \circ t) = 2^k",
    axes=("depth k (deep network, then one hidden layer)", "number of linear pieces"),
    source=Source("theorem", "montufar2014number"),
    premises=(Premise("the single hidden layer has 2^k - 1 units"), Premise("layers are composed")),
    parameters={"depth": 7},
    covers=("width-vs-depth-no-bound",),
    judge=equals(rounding=0),
    remark="Eldan and Shamir prove a separation for radial functions in high dimension, which is not tested here.",
)
