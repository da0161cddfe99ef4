"""An ensemble's squared error is the mean squared error of its members minus the members' variance.

For outputs F_k of K networks with mean F on n points with targets y,

    |F - y|^2 / n = (1/K) sum_k |F_k - y|^2 / n - (1/K) sum_k |F_k - F|^2 / n                                (1)

So the gain is the variance of the members. Reference: [geiger2020scaling] for the spread of networks.
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def problem(members, width, steps, seed):
    """Returns the outputs of networks trained on a noisy sine at new points, and the true values."""
    torch.manual_seed(seed)
    x = torch.rand(30, 1) * 6
    y, test = x.sin() + 0.3 * torch.randn(30, 1), torch.linspace(0, 6, 50)[:, None]
    outs = []
    for _ in range(members):
        net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))
        optimizer = torch.optim.Adam(net.parameters(), 0.05)
        for _ in range(steps):
            optimizer.zero_grad()
            ((net(x) - y) ** 2).mean().backward()
            optimizer.step()
        outs.append(net(test).detach()[:, 0].double())
    return torch.stack(outs), test.sin()[:, 0].double()


def predicted(members, width, steps, seed):
    """Returns the mean squared error of the members minus their variance."""
    f, y = problem(members, width, steps, seed)
    return ((f - y) ** 2).mean() - ((f - f.mean(0)) ** 2).mean()


def observed(members, width, steps, seed):
    """Returns the squared error of the ensemble, whose output is the mean of its members' outputs."""
    f, y = problem(members, width, steps, seed)
    return ((f.mean(0) - y) ** 2).mean()


def control(members, width, steps, seed):
    """Returns the ensemble's squared mean absolute error, for which the statement is false."""
    f, y = problem(members, width, steps, seed)
    return (f.mean(0) - y).abs().mean() ** 2


CLAIM = Claim(
    id="ensemble-averaging-gain",
    question="How much does averaging an ensemble reduce the error?",
    equation=r"\|\bar F - y\|^2 = \langle \|F_k - y\|^2 \rangle - \langle \|F_k - \bar F\|^2 \rangle",
    axes=("one ensemble", "mean squared error of the ensemble mean"),
    source=Source("definition"),
    premises=(Premise("the error is a mean of squares"),),
    parameters={"members": 3, "width": 20, "steps": 40},
    full={"members": 10, "width": 100, "steps": 500},
    judge=equals(rounding=1000),
)
