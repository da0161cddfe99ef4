"""For f = z^2, reparameterized gradients have a far smaller variance than score-function gradients.

    f = z^2:    Var f'(z) = 4 s^2,    Var f(z) e / s = (m^4 + 18 m^2 s^2 + 15 s^4) / s^2 - 4 m^2     (1)

z = m + s e with standard normal e. The first estimator is f'(z), the second f(z) e / s; both have mean 2 m.
"""

from functools import partial

import torch

from gnomon.generative.instruments.gradients import gradient_estimators
from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(mean, std):
    """Returns both gradient estimators' means, 2 m, then both variances."""
    other = (mean**4 + 18 * mean**2 * std**2 + 15 * std**4) / std**2 - 4 * mean**2
    return torch.tensor([2 * mean, 2 * mean, 4 * std**2, other], dtype=torch.float64)


def estimators(mean, std, draws, seed, power):
    """Returns the means and variances of both gradient estimators for f = z^power, for twenty repetitions."""
    runs = [gradient_estimators(lambda z: z**power, mean, std, draws=draws, seed=seed + i) for i in range(20)]
    return torch.tensor([[t.reparametrized, t.score_function, t.reparametrized_variance, t.score_function_variance]
                         for t in runs])  # fmt: skip


observed = partial(estimators, power=2)  # f(z) = z^2.
control = partial(estimators, power=3)  # f(z) = z^3.

CLAIM = Claim(
    id="reparameterisation-trick",
    question="Why are reparameterized gradients less noisy?",
    equation=r"\nabla_m E f(m + s\epsilon) = E f'(z) = E f(z)\epsilon/s",
    axes=("both means, then both variances", "mean; variance of the gradient estimate"),
    source=Source("theorem", "kingma2014auto", "Section 2.4"),
    premises=(Premise("the function is the square"), Premise("the noise is Gaussian")),
    parameters={"mean": 1.0, "std": 0.3, "draws": 10_000},
    full={"draws": 100_000},
    judge=mean_equals(confidence=0.999, resolution=0.1),
    remark="With m = 1 and s = 0.3 the score function needs 70 times as many draws.",
)
