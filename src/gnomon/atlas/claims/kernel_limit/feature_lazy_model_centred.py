"""At all large output scales alpha, a network trains in the same way if f starts at 0 and the loss has 1 / alpha^2.

F = alpha (f - f_0) is zero at the start, and the loss (1 / (alpha^2 n)) sum_i (F_i - y_i)^2 / 2 gives

    F' = -(1/n) Theta(t) (F - y),       Theta(t) = Theta(0) + O(1/alpha)                                     (1)

Theta is the tangent kernel. For large alpha the curves F(t) converge to the curve of the initial kernel.
Reference: [geiger2020disentangling].
"""

from functools import partial

import torch
from torch import nn

from gnomon.forecast.predict import predict
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.training import SGD


def problem(n, width, seed):
    """Returns a network with two hidden tanh layers, points and labels."""
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
    return net.double(), torch.randn(n, 4).double(), torch.randn(n, 1).double()


def predicted(n, width, seed, lr, steps):
    """Returns the outputs at three times, predicted by the initial tangent kernel, for both output scales."""
    net, x, y = problem(n, width, seed)
    run = predict(net, (x, y), optimizer=SGD(lr), times=[0.0, lr * steps / 2, lr * steps], f0=torch.zeros_like(y))
    return torch.stack([run.train[..., 0]] * 2)


def curves(n, width, seed, lr, steps, power):
    """Returns the outputs at three times of gradient descent, for output scales alpha = 50 and 100."""
    found = []
    for alpha in (50.0, 100.0):
        net, x, y = problem(n, width, seed)
        start, parameters, rows = net(x).detach(), list(net.parameters()), []
        for k in range(steps + 1):
            out = alpha * (net(x) - start)
            if k in (0, steps // 2, steps):
                rows.append(out.detach()[:, 0])
            slopes = torch.autograd.grad(((out - y) ** 2).sum() / (2 * n * alpha**power), parameters)
            with torch.no_grad():
                for p, g in zip(parameters, slopes, strict=True):
                    p -= lr * g
        found.append(torch.stack(rows))
    return torch.stack(found)


observed = partial(curves, power=2)  # The test divides the loss by the square of the output scale.
control = partial(curves, power=2.5)  # Control: the loss is divided by alpha^2.5, so a larger alpha trains more slowly.

CLAIM = Claim(
    id="feature-lazy-model-centred",
    question="What happens to training as the output scale grows?",
    equation=r"F = \alpha (f - f_0), \quad F' = -\frac{1}{n} \Theta_0 (F - y) + O(1/\alpha)",
    axes=("training point at three times, for alpha = 50 and 100", "output F"),
    source=Source("theorem", "geiger2020disentangling", "Section 2"),
    premises=(Premise("the loss is divided by the square of the scale"), Premise("the output scale is large")),
    parameters={"n": 6, "width": 50, "lr": 0.05, "steps": 100},
    full={"n": 20, "width": 200, "steps": 400},
    judge=equals(within=0.05, because="the theorem's order 1/alpha = 0.02, times |y| of up to 2.5"),
    remark="Some texts divide F by alpha^2 inside the loss, which is another problem.",
)
