"""If few inputs matter, training both layers of a wide network is 5 points better than training the output layer.

On separable data a wide network with one hidden ReLU layer tends to the largest margin in the variation norm F_1 if
both layers are trained, and in the norm F_2 of a fixed kernel if only the output layer is. For labels that depend on
two of d inputs, F_1 does not suffer from the other inputs:

    test error (both layers) + 0.05 < test error (output layer)                                              (1)
Reference: [chizat2020implicit].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, in_order


def problem(n, d, few, seed):
    """Returns points of a cube; labels are the sign of a product of two inputs, or of |x|^2 - d / 3."""
    draw = torch.Generator().manual_seed(seed)
    x = 2 * torch.rand(n, d, generator=draw, dtype=torch.float64) - 1
    return x, torch.sign(x[:, 0] * x[:, 1] if few else x.square().sum(1) - d / 3)  # d / 3 is the mean of |x|^2


def predicted():
    """Returns the names of both ways of training, the one with the smaller test error first."""
    return ("both layers and 5 points", "output layer")


def error(both, x, y, test, truth, width, steps):
    """Returns the test error after descent on ln(loss) over both layers, or over the output layer only."""
    ones = lambda z: torch.cat([z, torch.ones(len(z), 1, dtype=z.dtype)], 1)  # noqa: E731
    x, test = ones(x), ones(test)
    w = torch.randn(width, x.shape[1], dtype=torch.float64) / x.shape[1] ** 0.5
    v = torch.randn(width, dtype=torch.float64).sign()
    for k in range(steps):
        hidden = (x @ w.T).relu()
        m = y * (hidden @ v) / width
        pull = torch.softmax(-m, 0) * y
        rate = 0.1 if both else 20.0 / (1 + k) ** 0.5
        slope = ((pull[:, None] * (hidden > 0)) * v).T @ x
        v, w = v + rate * pull @ hidden, w + rate * slope if both else w
    return float(((test @ w.T).relu() @ v * truth <= 0).double().mean())


def errors(few, sets, n, d, width, steps, seed):
    """Returns the test errors of training both layers and of training the output layer, on the same data."""
    found = {"both layers and 5 points": [], "output layer": []}
    for k in range(sets):
        x, y = problem(n + 500, d, few, 100 * seed + k)
        parts = x[:n], y[:n], x[n:], y[n:], width, steps
        found["both layers and 5 points"].append(0.05 + error(True, *parts))
        found["output layer"].append(error(False, *parts))
    return found


observed = partial(errors, few=True)  # In the test, labels depend on two inputs only.
control = partial(errors, few=False)  # Control: labels depend on all inputs equally.

CLAIM = Claim(
    id="wide-two-layer-logistic-bias",
    question="Why does it help to train the hidden layer?",
    equation=r"E_{both\ layers} + 0.05 < E_{output\ layer}",
    axes=("trained layers", "test error"),
    source=Source("observed", "chizat2020implicit"),
    premises=(
        Premise("the labels depend on few directions"),
        Premise("the network is wide", lambda width, d: width >= 5 * d),
    ),
    parameters={"sets": 4, "n": 256, "d": 12, "width": 100, "steps": 200},
    full={"sets": 8, "n": 300, "d": 15, "width": 200, "steps": 400},
    judge=in_order(),
)
