"""A tent map composed k times, a network of depth k, has 2^k linear pieces; one hidden layer needs 2^k - 1 units.

    pieces(k layers of width 2) = 2^k                                                                         (1)

Each of the k layers has two ReLU units. One layer of m units has at most m + 1 pieces. Reference: [montufar2014number].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted(depth):
    """Returns the number of linear pieces, 2^k, for each depth k."""
    return 2.0 ** np.arange(1, depth + 1)


def pieces(function):
    """Returns the number of linear pieces of a function on [0, 1]: changes of slope on a fine grid, plus one."""
    x = torch.linspace(0, 1, 2**14 + 1, dtype=torch.float64)
    slopes = torch.diff(function(x)) * 2**14
    return float((torch.diff(slopes).abs() > 1e-6).sum() + 1)


def tent(x):
    """Returns the tent map, which rises from 0 to 1 and falls back to 0, as a sum of two ReLU units."""
    return 2 * torch.relu(x) - 4 * torch.relu(x - 0.5)


def observed(depth):
    """Returns the number of linear pieces of the tent map composed with itself, for each depth."""
    found, f = [], tent
    for _ in range(depth):
        found.append(pieces(f))
        f = (lambda inner: lambda x: tent(inner(x)))(f)
    return np.array(found)


def control(depth):
    """Returns the number of linear pieces of a single hidden layer with the same total number of units."""
    found = []
    for k in range(1, depth + 1):
        places = torch.arange(2 * k, dtype=torch.float64) / (2 * k)
        found.append(pieces(lambda x, p=places: torch.relu(x[:, None] - p).sum(1)))
    return np.array(found)


CLAIM = Claim(
    id="depth-separation-eldan-shamir",
    question="How many more units does a shallow network need than a deep one?",
    equation=r"\text{pieces}(t \circ \dots \circ t) = 2^k",
    axes=("depth k", "number of linear pieces"),
    source=Source("theorem", "montufar2014number"),
    premises=(Premise("layers are composed"),),
    parameters={"depth": 7},
    covers=("width-vs-depth-no-bound",),
    judge=equals(rounding=0),
    remark="Eldan and Shamir prove a separation for radial functions in high dimension, which is not tested here.",
)
