"""A GAN's best discriminator is Bayes' rule for real and generated examples that are equally frequent.

    D*(x) = p(x) / (p(x) + q(x))     (1)

p is the density of the data and q of the samples. Training samples are stratified, one in each of n intervals of equal
probability; independent samples would move the discriminator by up to 0.05.
"""

from functools import partial

import torch

from gnomon.data import gaussian_mixture, optimal_discriminator
from gnomon.generative.gan import MinimaxLosses
from gnomon.lab import Claim, Premise, Source, equals


def problem(n):
    """Returns two Gaussians, and positions at which the discriminator is evaluated."""
    x = torch.linspace(-2, 3, 21, dtype=torch.float64)[:, None]
    return gaussian_mixture([[0.0]]), gaussian_mixture([[1.0]], std=0.6), x


def predicted(n):
    """Returns the best discriminator's probabilities p / (p + q) at each position."""
    return optimal_discriminator(*problem(n))


def stratified(gaussian, n):
    """Returns samples of a Gaussian on the line, one in each of n intervals of equal probability."""
    share = (torch.arange(n) + torch.rand(n, dtype=torch.float64)) / n
    return gaussian.means[0] + gaussian.covariances[0, 0].sqrt() * torch.special.ndtri(share)[:, None]


def train_discriminator(n, seed, degree):
    """Returns the probabilities of a trained discriminator with polynomial logit, at the positions."""
    torch.manual_seed(seed)
    p, q, places = problem(n)
    x, y = stratified(p, n), stratified(q, n)
    w = torch.zeros(degree + 1, dtype=torch.float64, requires_grad=True)

    def logits(x):
        return x ** torch.arange(degree + 1) @ w

    optimizer = torch.optim.LBFGS([w], max_iter=100, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = MinimaxLosses().discriminator(logits(x), logits(y)).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    return logits(places).sigmoid().detach()


observed = partial(train_discriminator, degree=2)  # The degree-2 logit contains the log ratio of both densities.
control = partial(train_discriminator, degree=1)  # Degree one.

CLAIM = Claim(
    id="gan-optimal-discriminator",
    question="What does the best discriminator compute?",
    equation=r"D^*(x) = \frac{p(x)}{p(x) + q(x)}",
    axes=("position x", "probability of real"),
    source=Source("theorem", "goodfellow2014generative", "Proposition 1"),
    premises=(
        Premise("the discriminator can be any quadratic function of x"),
        Premise("there are many samples", lambda n: n >= 5000),
    ),
    parameters={"n": 20_000},
    full={"n": 1_000_000},
    judge=equals(within=0.005, because="three numbers from 2 x 20,000 stratified samples move probabilities by 0.002"),
)
