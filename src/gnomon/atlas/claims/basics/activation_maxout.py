"""A maxout unit is convex, and it can represent the ReLU and the absolute value.

A maximum of linear functions lies below its chords: for 0 <= t <= 1

    t f(x) + (1 - t) f(y) - f(t x + (1 - t) y) >= 0,    f(x) = max_j (<w_j, x> + b_j)                    (1)

w_j and b_j are the weights and biases of the unit. max(<w, x> + b, 0) is the ReLU, max(x, -x) the absolute value.
Reference: [goodfellow2013maxout].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Returns 0, the smallest gap between chord and function, minus the rounding error of numbers up to about 30."""
    return -1e-13


def gaps(points, d, difference):
    """Returns gaps between chords and function on random segments, then minus the errors of ReLU and |x| as maxouts."""
    w, b = torch.randn(2, 2, d, dtype=torch.float64), torch.randn(2, 2, dtype=torch.float64)
    x, y = torch.randn(2, points, d, dtype=torch.float64)
    t = torch.rand(points, dtype=torch.float64)

    def f(z):
        first, second = ((z @ w[k].mT + b[k]).amax(-1) for k in range(2))
        return first - difference * second

    jensen = t * f(x) + (1 - t) * f(y) - f(t[:, None] * x + (1 - t)[:, None] * y)  # (1)
    z = x[:, 0]
    relu = torch.stack([z, 0 * z]).amax(0) - z.relu()
    absolute = torch.stack([z, -z]).amax(0) - z.abs()
    return torch.cat([jensen, -relu.abs(), -absolute.abs()])


observed = partial(gaps, difference=0.0)  # Maxout units.
control = partial(gaps, difference=1.0)  # Control: the difference of two maxout units, which need not be convex.

CLAIM = Claim(
    id="activation-maxout",
    question="Which functions can one maxout unit represent?",
    equation=r"f(tx + (1-t)y) \le t f(x) + (1-t) f(y), \quad f(x) = \max_j (w_j^T x + b_j)",
    axes=("random segment (then ReLU, then absolute value)", "height of the chord above the function"),
    source=Source("theorem", "goodfellow2013maxout"),
    premises=(Premise("the unit takes a single maximum, not a difference of maxima"),),
    parameters={"points": 5000, "d": 5},
    full={"points": 1_000_000, "d": 5},
    judge=bounded_by("below"),
    loose_because="the theorem's bound is zero, which linear pieces reach; the prediction is the rounding error.",
)
