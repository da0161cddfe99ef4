"""For nearly symmetric binary X and Y the best code of X keeps information on Y only at weights beta above 1 / s_2^2.

    beta_c = 1 / s_2^2,    s the singular values of p(x, y) / sqrt(p(x) p(y))                                (1)

beta is the weight of information about Y, p(x, y) the joint distribution, s_2 the second singular value. This
threshold is local: a code far from the empty one can pay off earlier. For nearly symmetric binary variables, as
here, it does not.
"""

from functools import partial

import numpy as np

from gnomon.attribution import bottleneck_curve
from gnomon.lab import Claim, Premise, Source, equals


def data(seed):
    """Returns a random joint distribution of two binary variables, with s_2^2 of about a quarter."""
    a, b = np.random.default_rng(seed).uniform(0.7, 0.85, 2)
    return np.array([[a, 1 - a], [1 - b, b]]) / 2


def predicted(ratios, seed):
    """Returns 1 if the code keeps information about Y at this multiple of the critical weight beta, else 0."""
    return [float(ratio > 1) for ratio in ratios]


def measure(ratios, seed, law):
    """Returns per ratio 1 if the iteration ends informative, else 0; beta is the ratio times the critical beta of p."""
    p = data(seed)
    s = np.linalg.svd(p / np.sqrt(np.outer(p.sum(1), p.sum(0))))[1][1]
    return [float(bottleneck_curve(law(p), [ratio / s**2], iterations=20000).about_input[0] > 1e-4) for ratio in ratios]


observed = partial(measure, law=lambda p: p)  # The same distribution.
# Control: the distribution is mixed with one of independent X and Y, which changes the critical beta.
control = partial(measure, law=lambda p: 0.5 * p + 0.5 * np.outer(p.sum(1), p.sum(0)))

CLAIM = Claim(
    id="information-bottleneck",
    question="When does the information bottleneck start to keep information?",
    equation=r"\beta_c = 1/\lambda_2",
    axes=("beta / critical beta", "1 if the code keeps information", "ratios"),
    source=Source("derived", "tishby2000information"),
    premises=(Premise("the prediction is for the same joint distribution"),),
    parameters={"ratios": (0.8, 0.95, 1.05, 1.5)},
    judge=equals(rounding=0),
)
