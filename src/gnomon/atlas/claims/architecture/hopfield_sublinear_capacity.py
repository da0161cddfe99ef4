"""If a Hopfield network of d units stores d / (2 ln d) patterns, at most a share 1 / sqrt(4 pi ln d) has a wrong bit.

    P(a pattern is not at rest) <= d P(S > d - 1),  S a sum of (n - 1)(d - 1) signs;  ~ 1 / sqrt(4 pi ln d)   (1)

S is a sum of random signs, n = d / (2 ln d) the number of patterns. The bound on P falls slowly to zero with d, so
almost every pattern is stored without a wrong bit. Some
texts print a logarithm to base 2, which gives fewer patterns and is also safe. Reference: [mceliece1987capacity].
"""

from functools import partial
from math import log

import numpy as np
from scipy.stats import binom

from gnomon.lab import Claim, Premise, Source, at_most


def predicted(units):
    """Returns the bound on the probability that a pattern has a wrong bit: units times the exact binomial tail."""
    n = int(units / (2 * log(units)))
    signs = (n - 1) * (units - 1)
    return units * float(binom.sf((signs + units - 1) // 2, signs, 0.5))


def share_of_changed_patterns(factor, units, repeats, seed):
    """Returns the share of d / (factor ln d) stored patterns that one update changes, for each repetition."""
    rng, found, patterns = np.random.default_rng(seed), [], int(units / (factor * log(units)))
    for _ in range(repeats):
        x = rng.choice([-1.0, 1.0], size=(patterns, units))
        w = x.T @ x
        np.fill_diagonal(w, 0.0)
        found.append(float((x * (x @ w) < 0).any(1).mean()))
    return np.array(found)


observed = partial(share_of_changed_patterns, factor=2)  # The test stores d / (2 ln d) patterns, the claim's maximum.
control = partial(share_of_changed_patterns, factor=1)  # Control: twice the number of patterns that the claim allows.

CLAIM = Claim(
    id="hopfield-sublinear-capacity",
    question="How many patterns can a Hopfield network store without a single wrong bit?",
    equation=r"P(\text{moved}) \le d\, P(S_{(n-1)(d-1)} > d - 1) \sim 1 / \sqrt{4 \pi \ln d}",
    axes=("one network size", "probability that a pattern changes"),
    source=Source("theorem", "mceliece1987capacity"),
    premises=(Premise("there are at most d / (2 ln d) patterns"),),
    parameters={"units": 256, "repeats": 1000},
    full={"units": 1024, "repeats": 1000},
    judge=at_most(resolution=0.15),
)
