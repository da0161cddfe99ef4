"""The best discriminator of a limited family gives a lower bound on the true value of the GAN game.

    sup over a family of V(D) <= 2 JS(p, q) - 2 log 2,    so that exp(V) is at most exp of it     (1)

V(D) is the value of the game with discriminator D, JS the Jensen-Shannon divergence of data p and samples q. Richer
families give better bounds.
"""

import torch

from gnomon.data import gaussian_mixture, js_divergence
from gnomon.generative.gan import MinimaxLosses
from gnomon.lab import Claim, Premise, Source, bounded_by

VALUE_SHIFT = 2.0
"""Added to every value to make it positive."""


def problem():
    """Returns two mixtures of Gaussians, and a grid of points."""
    x = torch.linspace(-7, 7, 400, dtype=torch.float64)[:, None]
    return gaussian_mixture([[-1.0], [1.0]], std=0.5), gaussian_mixture([[0.0], [2.0]], std=0.7), x


def predicted(degrees):
    """Returns the exact value of the GAN game plus 2, for every family of discriminators."""
    p, q, _ = problem()
    return [2 * js_divergence(p, q) - 2 * torch.log(torch.tensor(2.0)).item() + VALUE_SHIFT] * len(degrees)


def best_values(x, a, b, degrees):
    """Returns the game's best value plus 2 for logits of each degree; a and b weight real and generated points."""
    values = []
    for degree in degrees:
        w = torch.zeros(degree + 1, dtype=torch.float64, requires_grad=True)
        powers = (x / 3) ** torch.arange(degree + 1)
        optimizer = torch.optim.LBFGS([w], max_iter=300, line_search_fn="strong_wolfe", tolerance_change=1e-14)

        def closure(w=w, powers=powers, optimizer=optimizer):
            optimizer.zero_grad()
            sure = torch.full((len(x),), 60.0, dtype=torch.float64)
            game = MinimaxLosses()
            loss = (a * game.discriminator(powers @ w, -sure) + b * game.discriminator(sure, powers @ w)).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        values.append(-closure().item() + VALUE_SHIFT)
    return values


def observed(degrees, n, seed):
    """Returns the game's best values from exact expectations, by integration on a grid."""
    p, q, x = problem()
    cell = x[1] - x[0]
    return best_values(x, p.log_prob(x).exp() * cell, q.log_prob(x).exp() * cell, degrees)


def control(degrees, n, seed):
    """Returns the game's best values averaged over the few examples on which the discriminator was trained."""
    p, q, _ = problem()
    x = torch.cat([p.sample(n, seed=seed), q.sample(n, seed=seed + 1)])
    real = (torch.arange(2 * n) < n).double() / n
    return best_values(x, real, real.flip(0), degrees)


CLAIM = Claim(
    id="gan-discriminator-lower-bound",
    question="What does a limited discriminator measure?",
    equation=r"\sup_{\phi} V(\theta, \phi) \le 2\,\mathrm{JS} - 2\ln 2",
    axes=("degree of the discriminator", "value of the game + 2", "degrees"),
    source=Source("theorem", "goodfellow2014generative"),
    premises=(
        Premise("the value is an expectation, not a mean over the examples that trained the discriminator"),
        Premise("one family contains nearly the best discriminator"),
    ),
    parameters={"degrees": (1, 3, 7), "n": 8},
    full={"degrees": (1, 2, 3, 5, 7, 9)},
    judge=bounded_by("above", tight=0.98),
    remark="The game is argmin over the generator of a maximum; some notes print two argmins.",
)
