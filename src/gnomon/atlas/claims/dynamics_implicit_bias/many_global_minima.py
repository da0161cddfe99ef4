"""A network with more weights than examples has a whole manifold of minima: the Hessian there has rank n.

At zero squared error the Hessian is J^T J / n with J the n-by-p Jacobian of the outputs, for the residuals multiply all
other terms. So its rank is that of J, n in general, and

    p - n directions are flat                                                                                (1)
"""

import torch
from torch.func import hessian, jacrev

from gnomon.lab import Claim, Premise, Source, equals

FITTED = "all examples are fitted exactly"


def problem(n, hidden):
    """Examples, targets, and the outputs of a network with one hidden layer as a function of all its weights."""
    x, y = torch.randn(n, 2).double(), torch.randn(n).double()

    def outputs(w):
        first, bias, last = w[: 2 * hidden].view(hidden, 2), w[2 * hidden : 3 * hidden], w[3 * hidden :]
        return torch.tanh(x @ first.T + bias) @ last

    return outputs, y, torch.randn(4 * hidden).double()


def predicted(n, hidden):
    """The number of directions with curvature, and of flat ones, equation (1)."""
    return [n, 4 * hidden - n]


def directions(n, hidden, steps):
    """Curved and flat directions at the end of Gauss-Newton steps of the shortest length."""
    outputs, y, w = problem(n, hidden)
    for k in range(steps):
        w = w - min(1.0, 0.2 + k / 40) * torch.linalg.lstsq(jacrev(outputs)(w), (outputs(w) - y)[:, None],
                                                            driver="gelsd").solution[:, 0]  # fmt: skip
    curvature = torch.linalg.eigvalsh(hessian(lambda v: ((outputs(v) - y) ** 2).mean())(w)).abs()
    curved = int((curvature > 1e-9 * curvature.max()).sum())
    return [curved, 4 * hidden - curved]


def observed(n, hidden, steps):
    """After training."""
    return directions(n, hidden, steps)


def control(n, hidden):
    """At the start, before any training."""
    return directions(n, hidden, 0)


CLAIM = Claim(
    id="many-global-minima",
    title="Where n examples are fitted exactly, only n directions of the weights have curvature",
    equation=r"\mathrm{rank}\, H = n, \quad H = \tfrac{2}{n} J^T J",
    source=Source("derived"),
    premises=(Premise(FITTED), Premise("more weights than examples", lambda n, hidden: 4 * hidden > n)),
    breaks=FITTED,
    parameters={"n": 5, "hidden": 8, "steps": 60},
    full={"n": 10, "hidden": 30, "steps": 100},
    judge=equals(rounding=1),
    predicted=predicted,
    observed=observed,
    control=control,
)
