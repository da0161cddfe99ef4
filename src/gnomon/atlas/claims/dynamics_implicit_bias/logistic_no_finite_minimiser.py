"""On separable data the logistic loss has no minimum: the weights grow forever, like ln(time) / margin.

Scaling separating weights up lowers every term of the loss, whose infimum 0 is never reached. Under gradient flow w(t)
= w_s ln t + O(1), with w_s the shortest weights with all margins >= 1, whose norm is 1 / margin:

    d |w(t)| / d ln t  ->  1 / g,    g the largest margin of unit weights                                     (1)
Reference: [soudry2018implicit], Theorem 3.
"""

import numpy as np
from scipy.optimize import nnls

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns examples times labels that can be separated by a plane, with a margin."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d))
    z[:, 0] = 0.3 + np.abs(z[:, 0])
    return z


def predicted(n, d, seed):
    """Returns log(1 / margin), the predicted log growth rate, for the largest margin of the data."""
    z = problem(n, d, seed)
    system = np.vstack([z.T, np.ones(n)])
    rest = system @ nnls(system, np.eye(d + 1)[-1])[0] - np.eye(d + 1)[-1]
    return np.log(np.linalg.norm(rest[:d] / rest[d]))


def growth(z, steps):
    """Returns the log of the growth d|w| / d ln t of the weights over the last half of a gradient flow."""
    w, log_time, seen, rate = np.zeros(z.shape[1]), -np.inf, [], 0.5 / (z**2).sum(1).max()
    for k in range(steps):
        margins = z @ w
        slopes = -np.logaddexp(0, margins)  # log of each example's slope, 1 / (1 + e^margin)
        top = slopes.max()
        w = w + rate * np.exp(slopes - top) @ z
        log_time = np.logaddexp(log_time, np.log(rate) - top)  # each step takes the time rate / (largest slope)
        if k in (steps // 2, steps - 1):
            seen.append((np.linalg.norm(w), log_time))
    (a, s), (b, t) = seen
    return np.log(max(b - a, 1e-12) / (t - s))


def observed(n, d, steps, seed):
    """Returns the log growth of the weights on separable examples."""
    return growth(problem(n, d, seed), steps)


def control(n, d, steps, seed):
    """Returns the log growth of the weights if a third of the labels is flipped, so no plane separates."""
    z = problem(n, d, seed)
    z[: n // 3] *= -1
    return growth(z, steps)


CLAIM = Claim(
    id="logistic-no-finite-minimiser",
    question="How do the weights of logistic regression grow on separable data?",
    equation=r"\frac{d \|w\|}{d \ln t} \to \frac{1}{\gamma}",
    axes=("one data set", "log of d|w| / d ln t"),
    source=Source("theorem", "soudry2018implicit", "Theorem 3"),
    premises=(
        Premise("a plane through the origin separates the classes"),
        Premise("the steps are small: gradient flow"),
    ),
    parameters={"n": 20, "d": 3, "steps": 4000},
    full={"n": 100, "d": 5, "steps": 100_000},
    judge=equals(within=0.05, because="the next order is 1 / ln(time), with ln(time) in the hundreds"),
)
