"""An SGD step with weight decay multiplies the weights by 1 - rate * decay and then follows the gradient.

The gradient of J + (a/2)|w|^2 is grad J + a w, hence

    w <- (1 - r a) w - r grad J                                                                               (1)

J is the loss, r the rate, a the decay.
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns random inputs, targets and weights of a linear regression."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)


def predicted(n, d, steps, rate, decay, seed):
    """Returns the weights after each step of descent with weight decay."""
    x, y, w = problem(n, d, seed)
    weights = []
    for _ in range(steps):
        w = (1 - rate * decay) * w - rate * x.T @ (x @ w - y) / n
        weights.append(w)
    return np.stack(weights)


def path(n, d, steps, seed, optimizer):
    """Returns the weights after each step of a torch optimizer."""
    x, y, w = (torch.from_numpy(v) for v in problem(n, d, seed))
    w.requires_grad_()
    rule = optimizer([w])
    rows = []
    for _ in range(steps):
        rule.zero_grad()
        (0.5 * ((x @ w - y) ** 2).mean()).backward()
        rule.step()
        rows.append(w.detach().clone())
    return torch.stack(rows)


def observed(n, d, steps, rate, decay, seed):
    """Returns the weights after each step of torch.optim.SGD with weight decay."""
    return path(n, d, steps, seed, lambda w: torch.optim.SGD(w, lr=rate, weight_decay=decay))


def control(n, d, steps, rate, decay, seed):
    """Returns the weights after each step of torch.optim.Adam with the same rate and weight decay."""
    return path(n, d, steps, seed, lambda w: torch.optim.Adam(w, lr=rate, weight_decay=decay))


CLAIM = Claim(
    id="weight-decay-update",
    question="What does weight decay do in one step of SGD?",
    equation=r"w \leftarrow (1 - r \alpha) w - r \nabla J(w)",
    axes=("weight after each of the steps", "weight"),
    source=Source("definition"),
    premises=(Premise("the optimizer is SGD"),),
    parameters={"n": 30, "d": 6, "steps": 10, "rate": 0.1, "decay": 0.5},
    full={"n": 1000, "d": 100, "steps": 100},
    judge=equals(rounding=100_000),  # tolerance: 100 steps with sums of 1000 terms accumulate rounding errors
    remark="Sometimes printed with the wrong sign of the decay, or without the rate in front of the gradient.",
)
