"""Gradient descent on a linearized network ends at the initial output plus a kernel regression.

With J the Jacobian on the data, K = J J^T and r = y - f_0, descent from b = 0 stays in the span of the rows of J. So it
ends at the solution of J b = r with the smallest norm, b = J^T K^-1 r, and

    f(x) = f_0(x) + k(x)^T K^-1 (y - f_0)                                                                    (1)

k(x) is the kernel between x and the data, f_0 the initial output. Reference: [lee2019wide], equations 10 and 11.
"""

import math
from functools import partial

import torch
from torch import nn
from torch.func import functional_call, jacrev

from gnomon.forecast.predict import predict
from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, width, seed):
    """Returns a tanh network, n Gaussian points with Gaussian labels, and three test points."""
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(d, width), nn.Tanh(), nn.Linear(width, 1)).double()
    return net, torch.randn(n, d).double(), torch.randn(n, 1).double(), torch.randn(3, d).double()


def predicted(n, d, width, seed):
    """Returns the test outputs of the tangent kernel's regression, by gnomon.predict at infinite time."""
    net, x, y, test = problem(n, d, width, seed)
    return predict(net, (x, y), test=test, times=[math.inf]).test[-1].flatten()


def descent(n, d, width, seed, start):
    """Returns the linearized network's test outputs after gradient descent to exp(-25) of the initial error."""
    net, x, y, test = problem(n, d, width, seed)
    w = {name: p.detach() for name, p in net.named_parameters()}
    rows = jacrev(lambda p: functional_call(net, p, torch.cat((x, test))).flatten())(w)
    jacobian = torch.cat([part.flatten(1) for part in rows.values()], 1)
    f0 = net(torch.cat((x, test))).detach().flatten()
    j, r = jacobian[:n], y.flatten() - f0[:n]
    rates = torch.linalg.svdvals(j) ** 2
    b = start * torch.randn(j.shape[1]).double()
    for _ in range(int(25 * rates[0] / rates[-1])):
        b -= j.T @ (j @ b - r) / rates[0]
    return f0[n:] + jacobian[n:] @ b


observed = partial(descent, start=0.0)  # Descent starts at the point of linearization.
control = partial(descent, start=1.0)  # Control: from another start, the part outside the gradients' span remains.

CLAIM = Claim(
    id="linearised-closed-form",
    question="Where does training of the tangent model end?",
    equation=r"f(x) = f_0(x) + k(x)^T K^{-1} (y - f_0)",
    axes=("test point", "output"),
    source=Source("theorem", "lee2019wide", "equations 10 and 11"),
    premises=(Premise("descent starts at the point of expansion"), Premise("the kernel matrix is invertible")),
    parameters={"n": 6, "d": 10, "width": 32},
    full={"n": 20, "d": 40, "width": 256},
    judge=equals(within=1e-8, because="descent stops at exp(-25) = 1e-11 of its slowest error, times |k K^-1|"),
    remark="Often printed without f_0(x). The solution is unique only within the span of the gradients.",
)
