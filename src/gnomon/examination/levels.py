"""How often a healthy model may be told that something is wrong by chance: 5 % for a whole report, shared by its tests.

    sum of the levels of all tests <= 0.05                                                                  (1)

By Bonferroni's inequality (1) bounds the probability that any of them raises a false alarm, however they depend on each
other. A finding that is a threshold on something measured without sampling error needs no level.

Reference: [holm1979simple] for families of tests.

>>> level("calibration")
0.005
"""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["FAMILY_WISE_ERROR_RATE", "LEVELS", "level"]

FAMILY_WISE_ERROR_RATE = 0.05
"""Probability that a healthy model gets any finding by chance, for a whole report."""

LEVELS: Mapping[str, float] = MappingProxyType({
    "labels": 0.01,  # that related labels pass for unrelated ones, at the relation that is stated with it
    "calibration": 0.005,
    "invariance": 0.005,
    "below-limit": 0.005,
    "others": 0.02,  # tests of other steps, which state their own rates and keep to this sum
})  # fmt: skip
"""The level of each test."""


def level(test: str) -> float:
    """The level of a test.

    >>> level("labels")
    0.01
    """
    return LEVELS[test]
