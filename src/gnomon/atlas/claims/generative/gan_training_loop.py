"""Alternating GAN training brings a linear generator to the mean and the standard deviation of the data.

    time average of mean and standard deviation of G(z) = mean and standard deviation of the data     (1)

G(z) is the output of the generator. The players circle around the solution, so the second half of training is averaged.
Without momentum, and with smaller and smaller steps, the circles are small.
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import GAN, train_gan
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.training import Adam

TARGET_MEAN_AND_STD = (1.5, 0.5)
PARTS = 16  # number of phases of training, each with its own learning rate


class Quadratic(nn.Module):
    """A discriminator with quadratic logit, which contains the best one for two Gaussians."""

    def __init__(self, fixed):
        super().__init__()
        self.layer, self.fixed = nn.Linear(2, 1), fixed

    def forward(self, x):
        """Returns the logit of the class "real"."""
        weight, bias = self.layer.weight, self.layer.bias
        if self.fixed:  # a fixed discriminator gets no gradient but passes one to the generator
            weight, bias = weight.detach() + 0 * weight, bias.detach() + 0 * bias
        return nn.functional.linear(torch.cat([x, x.square()], 1), weight, bias)


def predicted():
    """Returns the mean and the standard deviation of the data."""
    return torch.tensor(TARGET_MEAN_AND_STD)


def moments_of_generator(steps, seed, fixed):
    """Returns mean and standard deviation of the generator's output, averaged over the second half of training."""
    torch.manual_seed(seed)
    x = TARGET_MEAN_AND_STD[0] + TARGET_MEAN_AND_STD[1] * torch.randn(2000, 1)
    model, moments = GAN(nn.Linear(1, 1), Quadratic(fixed), latent=1, shape=(1,)), []
    for part in range(PARTS):
        rule = Adam(0.03 * min(1.0, 2 - 2 * part / PARTS), b1=0.0)
        model = train_gan(model, x, steps=steps // PARTS, optimizer=rule, batch=256, seed=seed + part).model
        moments.append([model.maker.bias.item(), model.maker.weight.abs().item()])
    return torch.tensor(moments[PARTS // 2 :]).mean(0)


observed = partial(moments_of_generator, fixed=False)  # The discriminator learns.
control = partial(moments_of_generator, fixed=True)  # Control: a discriminator that never learns; the output runs off.

CLAIM = Claim(
    id="gan-training-loop",
    question="Does alternating training of a GAN reach the data distribution?",
    equation=r"\phi \leftarrow \phi + \eta\nabla_\phi V,\quad \theta \leftarrow \theta - \eta\nabla_\theta L_G",
    axes=("mean, then standard deviation", "output of the generator"),
    source=Source("observed", "goodfellow2014generative", "Algorithm 1"),
    premises=(
        Premise("the discriminator is trained between the generator's steps"),
        Premise("the generator can represent the data"),
    ),
    parameters={"steps": 800},
    full={"steps": 8000},
    judge=equals(within=0.06, because="the sampling error of the mean of a batch of 256 is 0.03"),
)
