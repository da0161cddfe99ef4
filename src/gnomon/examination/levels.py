"""Significance levels: divides the 5 % false-alarm rate of a whole report among its tests.

    sum of the levels of all tests <= 0.05                                                                  (1)

By Bonferroni's inequality (1) bounds the probability that any of them raises a false alarm, however they depend on each
other. A finding that is a threshold on something measured without sampling error needs no level.

Reference: [holm1979simple] for families of tests.

>>> significance_level("calibration")
0.005
"""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["FAMILY_WISE_ERROR_RATE", "LEVELS", "significance_level"]

FAMILY_WISE_ERROR_RATE = 0.05
"""Probability that a healthy model gets any finding by chance, for a whole report."""

LEVELS: Mapping[str, float] = MappingProxyType({
    "labels": 0.01,  # this rate is the probability of calling related labels unrelated, at the stated strength
    "calibration": 0.005,
    "invariance": 0.005,
    "below-limit": 0.005,
    "others": 0.02,  # sum over the tests of other steps, which define their own rates
})  # fmt: skip
"""Significance level of each test."""


def significance_level(test: str) -> float:
    """Returns the significance level of a named test.

    >>> significance_level("labels")
    0.01
    """
    return LEVELS[test]
