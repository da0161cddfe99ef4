"""Against a confident discriminator, a GAN's non-saturating loss has a gradient, and its minimax loss almost none.

    |d(-log q)/da| / |d log(1 - q)/da| = (1 - q) / q,    q = sigmoid(a)     (1)

q is the probability that the discriminator gives to a fake, a its logit.
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import GAN, generator_gradient_health
from gnomon.lab import Claim, Premise, Source, equals


def predicted(q):
    """Returns (1 - q) / q, the ratio of both generator losses' gradients, for probability q of "real"."""
    return (1 - q) / q


def ratio(q, slope):
    """Returns the ratio of both generator losses' mean gradients; ``slope`` is the slope of the logit."""
    torch.manual_seed(0)
    judge = nn.Linear(1, 1).double()
    with torch.no_grad():
        judge.weight.fill_(slope)
        judge.bias.fill_(torch.tensor(q, dtype=torch.float64).logit())
    health = generator_gradient_health(GAN(nn.Linear(1, 1).double(), judge, latent=1, shape=(1,)))
    return health.non_saturating / health.minimax


observed = partial(ratio, slope=0.0)  # The discriminator calls every input real with the same small probability.
control = partial(ratio, slope=3.0)  # Control: the probability of being real differs between generated inputs.

CLAIM = Claim(
    id="gan-nonsaturating-loss",
    question="Which GAN loss still teaches the generator if the discriminator is sure?",
    equation=r"\frac{|\partial_a(-\log q)|}{|\partial_a\log(1-q)|} = \frac{1-q}{q}",
    axes=("one discriminator", "gradient ratio (non-saturating / minimax)"),
    source=Source("theorem", "goodfellow2014generative", "Section 3"),
    premises=(Premise("every fake has the same probability q"),),
    parameters={"q": 1e-3},
    judge=equals(rounding=1e4),
    remark="999 at q = 0.001. The loss stays useful near q = 0; some notes say near 1.",
)
