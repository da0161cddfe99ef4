"""A network with more weights than examples has a whole manifold of minima: the Hessian there has rank n.

At zero squared error the Hessian is J^T J / n with J the n-by-p Jacobian of the outputs, for the residuals multiply all
other terms. So its rank is that of J, n in general, and

    p - n directions are flat                                                                                (1)

They belong to a manifold: from far along any of them there is a way back to zero error, to another minimum. Minima
differ in what they say elsewhere: among ten so found, some have more than twice the test error of the trained one.
"""

from functools import partial

import torch
from torch.func import jacrev

from gnomon.lab import Claim, Premise, Source, equals

MOVES = 10


def problem(n, hidden):
    """Residuals at n examples and at 200 others as functions of all weights of a hidden layer, and a small start."""
    x = torch.randn(n + 200, 2).double()
    y = torch.sin(x[:, 0]) + x[:, 1] / 2

    def residuals(w):
        first, bias, last = w[: 2 * hidden].view(hidden, 2), w[2 * hidden : 3 * hidden], w[3 * hidden :]
        return torch.tanh(x @ first.T + bias) @ last - y

    return lambda w: residuals(w)[:n], lambda w: residuals(w)[n:], 0.3 * torch.randn(4 * hidden).double()


def predicted(n, hidden):
    """Directions with curvature and flat ones, equation (1); minima at the end of ten moves; one or more are bad."""
    return [n, 4 * hidden - n, MOVES, 1]


def trained(train, w, steps):
    """The end of Gauss-Newton steps of the shortest length."""
    for k in range(steps):
        full = torch.linalg.lstsq(jacrev(train)(w), train(w)[:, None], driver="gelsd").solution[:, 0]
        w = w - min(1.0, 0.2 + k / 40) * full
    return w


def directions(n, hidden, steps):
    """Curved and flat directions where training ends; where it ends after moves of twice |w| along flat ones."""
    train, test, w = problem(n, hidden)
    w = trained(train, w, steps)
    curvature, axes = torch.linalg.eigh(jacrev(jacrev(lambda v: (train(v) ** 2).mean()))(w))
    curved = curvature.abs() > 1e-12 * curvature.abs().max()  # eigenvalues err by 160 roundings, 4e-14 of the largest
    flat = axes[:, ~curved]
    others = []
    for _ in range(MOVES):
        move = flat @ torch.randn(flat.shape[1]).double()
        others.append(trained(train, w + 2 * w.norm() * move / move.norm().clamp_min(1e-300), steps))
    fitted = sum(bool(train(v).abs().max() < 1e-9) for v in others)
    bad = any(bool((test(v) ** 2).mean() > 2 * (test(w) ** 2).mean()) for v in others)
    return [int(curved.sum()), flat.shape[1], fitted, int(bad)]


observed = directions  # After training.
control = partial(directions, steps=0)  # At the start, before any training.

CLAIM = Claim(
    id="many-global-minima",
    title="Where n examples are fitted exactly, only n directions of the weights have curvature",
    equation=r"\mathrm{rank}\, H = n, \quad H = \tfrac{2}{n} J^T J",
    source=Source("derived"),
    premises=(
        Premise("all examples are fitted exactly"),
        Premise("more weights than examples", lambda n, hidden: 4 * hidden > n),
    ),
    parameters={"n": 10, "hidden": 16, "steps": 60},
    full={"n": 12, "hidden": 40, "steps": 100},
    judge=equals(rounding=1),
)
