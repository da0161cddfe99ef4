"""Samples from a posterior count equally; weighting them by the posterior density counts the density twice.

    E[f] = mean_i f(w_i)  for w_i ~ p(w | S);   sum_i p(w_i | S) f(w_i) / sum_i p(w_i | S) estimates E under p^2  (1)

w are the weights and S the data.
"""

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(mean):
    """Returns the mean square of the weight w under its posterior N(mean, 1)."""
    return mean**2 + 1.0


def draws(mean, samples, seed):
    """Returns forty samples from the posterior, each of ``samples`` weights."""
    return mean + torch.randn(40, samples, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def observed(mean, samples, seed):
    """Returns the mean of w^2 over the posterior samples with equal weights, for each of forty samples."""
    return draws(mean, samples, seed).square().mean(1)


def control(mean, samples, seed):
    """Returns the mean of w^2 if each posterior draw is weighted by its posterior density, as some texts print."""
    w = draws(mean, samples, seed)
    weight = (-(w - mean).square() / 2).softmax(1)
    return (weight * w.square()).sum(1)


CLAIM = Claim(
    id="posterior-sample-average",
    question="Must posterior samples be weighted by their probability?",
    equation=r"\mathbb E_{p(\theta|S)} f \approx \tfrac1m \sum_i f(\theta_i), \quad \theta_i \sim p(\theta|S)",
    axes=("repetition", "posterior mean of w^2"),
    source=Source("derived"),
    premises=(Premise("samples from the posterior have equal weights"),),
    parameters={"mean": 1.0, "samples": 500},
    full={"samples": 20_000},
    judge=mean_equals(confidence=0.999, resolution=0.2),
    remark="The weighted average is right for draws from a uniform law, or with weights p / q for draws from q.",
)
