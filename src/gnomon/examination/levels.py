"""Sets the significance levels of all tests in a report, so that at most 5 % of reports contain a false alarm.

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
    "labels": 0.01,  # false-alarm rate of the verdict that labels of the stated strength are unrelated to the inputs
    "calibration": 0.005,
    "invariance": 0.005,
    "below-limit": 0.005,
    "others": 0.02,  # total false-alarm rate of the tests in other sections, which define their own levels
})  # fmt: skip
"""Significance level of each test."""


def significance_level(test: str) -> float:
    """Returns the significance level of a statistical test, given by its name.

    >>> significance_level("labels")
    0.01
    """
    return LEVELS[test]
