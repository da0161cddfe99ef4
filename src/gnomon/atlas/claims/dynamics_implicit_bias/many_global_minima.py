"""At weights that fit n examples exactly, the loss is curved in only n directions and flat in all others.

At zero squared error the Hessian is (2/n) J^T J with J the n-by-p Jacobian of the outputs, because residuals multiply
all other terms. So its rank is the rank of J, n in general, and

    p - n directions are flat                                                                                (1)

p is the number of weights. The minima form a manifold: from far along a flat direction, training returns to zero error
at another minimum. Minima differ on new data: some have more than twice the test error of the first.
"""

from functools import partial

import torch
from torch.func import jacrev

from gnomon.lab import Claim, Premise, Source, equals

MOVE_COUNT = 10


def problem(n, hidden):
    """Returns residuals at n training and 200 test points as functions of all weights, and a small start."""
    x = torch.randn(n + 200, 2).double()
    y = torch.sin(x[:, 0]) + x[:, 1] / 2

    def residuals(w):
        first, bias, last = w[: 2 * hidden].view(hidden, 2), w[2 * hidden : 3 * hidden], w[3 * hidden :]
        return torch.tanh(x @ first.T + bias) @ last - y

    return lambda w: residuals(w)[:n], lambda w: residuals(w)[n:], 0.3 * torch.randn(4 * hidden).double()


def predicted(n, hidden):
    """Returns the number of curved directions, of flat directions, of minima found, and 1: a bad minimum exists."""
    return [n, 4 * hidden - n, MOVE_COUNT, 1]


def train_to_zero_error(train, w, steps):
    """Returns the weights after Gauss-Newton steps of smallest norm."""
    for k in range(steps):
        full = torch.linalg.lstsq(jacrev(train)(w), train(w)[:, None], driver="gelsd").solution[:, 0]
        w = w - min(1.0, 0.2 + k / 40) * full
    return w


def count_directions_and_minima(n, hidden, steps):
    """Returns the number of curved and flat directions after training, and of minima found along flat ones."""
    train, test, w = problem(n, hidden)
    w = train_to_zero_error(train, w, steps)
    curvature, axes = torch.linalg.eigh(jacrev(jacrev(lambda v: (train(v) ** 2).mean()))(w))
    curved = curvature.abs() > 1e-12 * curvature.abs().max()  # Smaller eigenvalues are rounding errors (about 4e-14).
    flat = axes[:, ~curved]
    others = []
    for _ in range(MOVE_COUNT):
        move = flat @ torch.randn(flat.shape[1]).double()
        others.append(train_to_zero_error(train, w + 2 * w.norm() * move / move.norm().clamp_min(1e-300), steps))
    fitted = sum(bool(train(v).abs().max() < 1e-9) for v in others)
    bad = any(bool((test(v) ** 2).mean() > 2 * (test(w) ** 2).mean()) for v in others)
    return [int(curved.sum()), flat.shape[1], fitted, int(bad)]


observed = count_directions_and_minima  # After training.
control = partial(count_directions_and_minima, steps=0)  # Before training.

CLAIM = Claim(
    id="many-global-minima",
    question="How many minima does an overparameterized network have?",
    equation=r"\mathrm{rank}\, H = n, \quad H = \tfrac{2}{n} J^T J",
    axes=("curved directions, flat directions, new minima, bad minima found", "count"),
    source=Source("derived"),
    premises=(
        Premise("all examples are fitted exactly"),
        Premise("more weights than examples", lambda n, hidden: 4 * hidden > n),
    ),
    parameters={"n": 10, "hidden": 16, "steps": 60},
    full={"n": 12, "hidden": 40, "steps": 100},
    judge=equals(rounding=1),
)
