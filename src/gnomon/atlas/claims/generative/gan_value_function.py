"""A GAN's value is its best value minus twice the mean KL divergence between the discriminator and the best one.

    V = E log D(x) + E log(1 - D(G(z))) = -2 BCE = 2 JS - 2 log 2 - 2 E KL(D* | D),    D* = p / (p + q)     (1)

D is the discriminator, G the generator, x are real examples, z is noise, and BCE the mean cross-entropy over equally
many real and fake examples. p and q are the densities of data and fakes, JS their Jensen-Shannon divergence; the last
mean is over (p + q) / 2, of the divergence between two probabilities of real.
"""

from functools import partial

import numpy as np
import torch
from scipy.stats import norm

from gnomon.lab import Claim, Premise, Source, mean_equals

DATA, FAKES = norm(0.0, 1.0), norm(1.0, 0.6)
LOGIT_AT_ZERO = 2.0
"""Logit at x = 0 of a linear discriminator, which is not the best one."""
LOGIT_SLOPE = -0.8
"""Change of its logit per unit of x."""


def predicted():
    """Returns the game's best value minus twice the KL divergence, by integration over the line."""
    x, step = np.linspace(-7, 7, 4001, retstep=True)
    p, q = DATA.pdf(x), FAKES.pdf(x)
    best, rest, d = p / (p + q), q / (p + q), 1 / (1 + np.exp(-LOGIT_AT_ZERO - LOGIT_SLOPE * x))
    divergence = best * np.log(best / d) + rest * np.log(rest / (1 - d))
    double_js = (p * np.log(2 * best) + q * np.log(2 * rest)).sum() * step
    return double_js - 2 * np.log(2) - ((p + q) * divergence).sum() * step


def minus_twice_cross_entropies(share, n, seed):
    """Returns -2 times the cross-entropy of each of n real examples and of ``share`` n fakes, labeled 1 and 0."""
    rng = np.random.default_rng(seed)
    x = np.r_[DATA.rvs(n, random_state=rng), FAKES.rvs(int(share * n), random_state=rng)]
    scores, real = torch.from_numpy(LOGIT_AT_ZERO + LOGIT_SLOPE * x), torch.arange(len(x)) < n
    return -2 * torch.nn.functional.binary_cross_entropy_with_logits(scores, real.double(), reduction="none")


observed = partial(minus_twice_cross_entropies, share=1.0)  # Batches have as many fakes as real examples.
control = partial(minus_twice_cross_entropies, share=0.5)  # Control: batches have half as many fakes as reals.

CLAIM = Claim(
    id="gan-value-function",
    question="How is the GAN game related to classification?",
    equation=r"V = -2\,\mathrm{BCE} = 2\,\mathrm{JS} - 2\ln 2 - 2\, E\, KL(D^* \| D)",
    axes=("one discriminator", "value of the game (nats)"),
    source=Source("theorem", "goodfellow2014generative", "equation 1"),
    premises=(Premise("there are as many fake as real examples"),),
    parameters={"n": 20_000},
    full={"n": 500_000},
    judge=mean_equals(confidence=0.999, resolution=0.03),
)
