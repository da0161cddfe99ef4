"""The value of the GAN game is minus twice the discriminator's binary cross-entropy.

    V = E log D(x) + E log(1 - D(G(z))) = -2 BCE over as many real as fake examples     (1)

D is the discriminator, G the generator, x are real examples, z is noise, and BCE the mean cross-entropy over equally
many real and fake examples.
"""

import torch

from gnomon.generative.gan import Minimax
from gnomon.lab import Claim, Premise, Source, equals


def problem(n, seed):
    """Logits of a discriminator on real and on fake examples."""
    return torch.randn(2, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def predicted(n, seed):
    """Minus twice the mean cross-entropy of all examples with labels 1 and 0."""
    real, fake = problem(n, seed)
    labels = torch.cat([torch.ones(n), torch.zeros(n)]).double()
    return -2 * torch.nn.functional.binary_cross_entropy(torch.cat([real, fake]).sigmoid(), labels)


def observed(n, seed):
    """Minus the discriminator's loss."""
    return -Minimax().discriminator(*problem(n, seed)).mean()


def control(n, seed):
    """Half as many fakes, averaged over all examples."""
    real, fake = problem(n, seed)
    fake = fake[: n // 2]
    return 2 * (real.sigmoid().log().sum() + (-fake).sigmoid().log().sum()) / (len(real) + len(fake))


CLAIM = Claim(
    id="gan-value-function",
    question="How is the GAN game related to classification?",
    equation=r"V = E\ln D(x) + E\ln(1 - D(G(z))) = -2\,\mathrm{BCE}",
    axes=("one batch", "value of the game (nats)"),
    source=Source("definition", "goodfellow2014generative", "equation 1"),
    premises=(Premise("there are as many fake as real examples"),),
    parameters={"n": 50},
    full={"n": 5000},
    judge=equals(rounding=1000),  # logarithms of probabilities near 1
)
