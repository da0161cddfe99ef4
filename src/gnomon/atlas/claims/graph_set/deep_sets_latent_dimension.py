"""A set of M numbers is determined by its first M power sums (sums of x, x^2, ..., x^M).

    sum_m x_m^k,  k = 1, ..., M   determine the set (Newton's identities)                                     (1)
Reference: [zaheer2017deep].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(members, seed):
    """Returns a sorted set of random numbers."""
    return np.sort(np.random.default_rng(seed).uniform(-1, 1, members))


def predicted(members, seed):
    """Returns the original set, which its power sums must determine."""
    return problem(members, seed)


def recover_set(missing, members, seed):
    """Returns the set recovered from its power sums by Newton's identities; the last ``missing`` sums are zero."""
    x = problem(members, seed)
    p = [float((x**k).sum()) if k <= members - missing else 0.0 for k in range(members + 1)]
    e = [1.0]
    for k in range(1, members + 1):
        e.append(sum((-1) ** (i - 1) * e[k - i] * p[i] for i in range(1, k + 1)) / k)
    return np.sort(np.roots([(-1) ** k * c for k, c in enumerate(e)]).real)


observed = partial(recover_set, missing=0)  # M power sums.
control = partial(recover_set, missing=1)  # Control: the last power sum is set to zero before the set is recovered.

CLAIM = Claim(
    id="deep-sets-latent-dimension",
    question="How many numbers does it take to describe a set?",
    equation=r"\left(\sum_m x_m^k\right)_{k=1}^{M} \mapsto \{x_m\}",
    axes=("member (sorted)", "recovered number"),
    source=Source("theorem", "zaheer2017deep"),
    premises=(Premise("all M power sums are known"),),
    parameters={"members": 5},
    judge=equals(within=1e-6, because="the condition of roots in the power sums"),
)
