"""Two Gaussian classes with the same covariance have a logistic posterior, with coefficients in closed form.

    P(y = 1 | x) = sigmoid(w.x + b),   w = C^-1 (m_1 - m_0),
    b = (m_0.C^-1 m_0 - m_1.C^-1 m_1) / 2 + log(p_1 / p_0)                                                    (1)

m_0 and m_1 are the class means, C their covariance, p_0 and p_1 the class frequencies.
"""

from functools import partial

import torch

from gnomon.data import gaussian_mixture, sphere_points
from gnomon.lab import Claim, Premise, Source, equals

COVARIANCE = torch.tensor([[1.0, 0.4], [0.4, 0.5]], dtype=torch.float64)
MEANS = torch.tensor([[-0.5, 0.2], [0.7, 0.4]], dtype=torch.float64)


def predicted(n, seed):
    """Returns the log odds w.x + b at each point, with coefficients in closed form."""
    a, b = torch.linalg.solve(COVARIANCE, MEANS.T).T
    x = sphere_points(n, 2, seed=seed)
    return x @ (b - a) + (MEANS[0] @ a - MEANS[1] @ b) / 2 + torch.log(torch.tensor(3.0).double())


def odds(n, second, seed):
    """Returns the log odds by Bayes' rule from both class densities; one class is three times as frequent."""
    p = gaussian_mixture(MEANS, covariances=torch.stack([COVARIANCE, second * COVARIANCE]), weights=[1, 3])
    return p.posterior(sphere_points(n, 2, seed=seed)).logit()[:, 1]


observed = partial(odds, second=1.0)  # Both Gaussian classes have the same covariance.
control = partial(odds, second=2.0)  # Control: the second class has twice the covariance of the first one.

CLAIM = Claim(
    id="generative-vs-discriminative",
    question="How are Gaussian classes and logistic regression related?",
    equation=r"P(y=1|x) = \sigma(w^\top x + b),\quad w = \Sigma^{-1}(\mu_1 - \mu_0)",
    axes=("point", "log odds"),
    source=Source("theorem", "bishop2006pattern", "Section 4.2.1"),
    premises=(Premise("both classes have the same covariance"), Premise("the classes are Gaussian")),
    parameters={"n": 20},
    full={"n": 2000},
    judge=equals(rounding=1e4),  # tolerance: the logit of a probability near 1 loses four digits
)
