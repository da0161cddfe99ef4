"""At a large output scale, a trained convolutional network predicts new images as its initial linearization does.

Trained on alpha (f - f_0) with the loss |alpha (f - f_0) - y|^2 / (2 n alpha^2), the outputs on test images converge
for large alpha to the tangent model at the same time,

    alpha (f - f_0)(x, t) = k(x)^T K^-1 (1 - exp(-K t / n)) y + O(1/alpha)                                   (1)

K is the tangent kernel of the n training images, k(x) the kernel between x and them. Digits 0 to 4 against 5 to 9
replace the larger images of the original experiment. Reference: [chizat2019lazy], Section 3.
"""

from functools import partial

import torch
from torch import nn

from gnomon.data import digits
from gnomon.forecast.predict import predict
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.training import SGD


def problem(n, channels, seed):
    """Returns a small convolutional network, and digits with labels 1 and -1."""
    torch.manual_seed(seed)
    net = nn.Sequential(
        nn.Conv2d(1, channels, 3, stride=2), nn.Tanh(), nn.Conv2d(channels, channels, 3), nn.Tanh(),
        nn.Flatten(), nn.Linear(channels, 1),
    )  # fmt: skip
    split = digits(n, 100, seed=seed)
    return net, split.x, (split.y < 5).float()[:, None] * 2 - 1, split.x_test


def predicted(n, channels, lr, steps, seed):
    """Returns the test outputs of the linearized network (tangent model) after gradient descent."""
    net, x, y, test = problem(n, channels, seed)
    zero = torch.zeros(max(n, 100), 1)
    flow = predict(net, (x, y), test=test, optimizer=SGD(lr), times=[lr * steps], f0=zero[:n], f0_test=zero[:100])
    return flow.test[-1, :, 0]


def outputs_after_training(n, channels, lr, steps, seed, alpha):
    """Returns test outputs after gradient descent on the output scale alpha times (output minus initial output)."""
    net, x, y, test = problem(n, channels, seed)
    start, begin = net(x).detach(), net(test).detach()
    parameters = list(net.parameters())
    for _ in range(steps):
        loss = ((alpha * (net(x) - start) - y) ** 2).sum() / (2 * n * alpha**2)
        slopes = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, slopes, strict=True):
                p -= lr * g
    return (alpha * (net(test) - begin)).detach()[:, 0]


observed = partial(outputs_after_training, alpha=100.0)  # A large scale.
control = partial(outputs_after_training, alpha=1.0)  # The unscaled network.

CLAIM = Claim(
    id="lazy-cifar-experiments",
    question="Does a scaled-up convolutional network predict like its tangent model?",
    equation=r"\alpha (f - f_0)(x,t) \to k(x)^T K^{-1} (1 - e^{-K t / n}) y",
    axes=("test image", "output"),
    source=Source("observed", "chizat2019lazy", "Section 3"),
    premises=(Premise("the output scale is large"), Premise("the output starts at zero")),
    parameters={"n": 60, "channels": 16, "lr": 0.05, "steps": 50},
    full={"n": 600, "channels": 64, "steps": 300},
    judge=equals(within=0.01, because="the theorem's order is 1/alpha = 0.01"),
    remark="Digits take the place of the original's photographs.",
)
