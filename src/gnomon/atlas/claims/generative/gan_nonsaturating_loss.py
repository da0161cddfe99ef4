"""Where the discriminator is sure, the non-saturating loss still pulls the generator, and the minimax loss does not.

|d(-log q)/da| / |d log(1 - q)/da| = (1 - q) / q,    q = sigmoid(a)     (1)
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import GAN, generator_gradient_health
from gnomon.lab import Claim, Premise, Source, equals


def predicted(q):
    """The ratio (1)."""
    return (1 - q) / q


def ratio(q, slope):
    """The ratio of mean gradients for a discriminator with this slope."""
    torch.manual_seed(0)
    judge = nn.Linear(1, 1).double()
    with torch.no_grad():
        judge.weight.fill_(slope)
        judge.bias.fill_(torch.tensor(q, dtype=torch.float64).logit())
    told = generator_gradient_health(GAN(nn.Linear(1, 1).double(), judge, latent=1, shape=(1,)))
    return told.non_saturating / told.minimax


observed = partial(ratio, slope=0.0)  # A discriminator that says q of everything.
control = partial(ratio, slope=3.0)  # One that depends on x.

CLAIM = Claim(
    id="gan-nonsaturating-loss",
    title="Where the discriminator is sure, only the non-saturating loss still pulls the generator",
    equation=r"\frac{|\partial_a(-\log q)|}{|\partial_a\log(1-q)|} = \frac{1-q}{q}",
    source=Source("theorem", "goodfellow2014generative", "Section 3"),
    premises=(Premise("every fake has the same probability q"),),
    parameters={"q": 1e-3},
    judge=equals(rounding=1e4),
    remark="999 at q = 0.001. It is near q = 0 that the loss stays useful; some notes have it near 1.",
)
