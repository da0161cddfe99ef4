"""Alternating steps of both players bring a generator to its target.

after training: mean and standard deviation of G(z) are those of the data     (1)
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import GAN, train_gan
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.training import Adam

TARGET = 1.5, 0.5


class Quadratic(nn.Module):
    """A logit of degree two, the richest that two Gaussians need."""

    def __init__(self, fixed):
        super().__init__()
        self.layer, self.fixed = nn.Linear(2, 1), fixed

    def forward(self, x):
        """The logit."""
        weight, bias = self.layer.weight, self.layer.bias
        if self.fixed:  # its own gradient is zero; the generator's is not
            weight, bias = weight.detach() + 0 * weight, bias.detach() + 0 * bias
        return nn.functional.linear(torch.cat([x, x.square()], 1), weight, bias)


def predicted():
    """The target's."""
    return torch.tensor(TARGET)


def trained(steps, seed, fixed):
    """Mean and standard deviation of the generator's output, averaged over the second half of training."""
    torch.manual_seed(seed)
    x = TARGET[0] + TARGET[1] * torch.randn(2000, 1)
    model, told = GAN(nn.Linear(1, 1), Quadratic(fixed), latent=1, shape=(1,)), []
    for part in range(8):
        model = train_gan(model, x, steps=steps // 8, optimizer=Adam(0.03, b1=0.5), batch=64, seed=seed + part).model
        told.append([model.maker.bias.item(), model.maker.weight.abs().item()])
    return torch.tensor(told[4:]).mean(0)


observed = partial(trained, fixed=False)  # With a discriminator that learns.
# With one that keeps its first opinion: the generator runs after it, past the data.
control = partial(trained, fixed=True)

CLAIM = Claim(
    id="gan-training-loop",
    title="Alternating steps of both players bring a generator to its target",
    equation=r"\phi \leftarrow \phi + \eta\nabla_\phi V,\quad \theta \leftarrow \theta - \eta\nabla_\theta L_G",
    source=Source("observed", "goodfellow2014generative", "Algorithm 1"),
    premises=(
        Premise("the discriminator is trained between the generator's steps"),
        Premise("a target that the generator can reach"),
    ),
    parameters={"steps": 400},
    full={"steps": 8000},
    judge=equals(within=0.2, because="the game turns around its solution: 13 % of the mean, 40 % of the deviation"),
)
