"""Six deliberately wrong formulas, put into six claims, are caught by the claims' own judges."""

from dataclasses import replace
from math import comb

import pytest

from gnomon.atlas import catalog
from gnomon.lab import Verdict, run_claim


def twice(claim):
    return lambda lr, length: 2 * claim.predicted(lr, length)


def other_sign(claim):
    return lambda: -claim.predicted()


def without_root(claim):
    return lambda sharp, flat: sharp / (sharp + flat)  # for sqrt(sharp) / (sqrt(sharp) + sqrt(flat))


def wrong_rate(claim):
    return lambda: -0.5  # for -1


def wrong_constant(claim):
    return lambda d: [*claim.predicted(d)[:-1], 0.25]  # for 0.2036


def off_by_one(claim):
    """The sum of binomials ends at d instead of d - 1."""
    return lambda sizes: [
        2 * sum(comb(n - 1, i) for i in range(d + 1)) for n, d in zip(sizes[::2], sizes[1::2], strict=True)
    ]


WRONG = {
    "a factor 2": ("weight-averaging-swa", twice),
    "a sign": ("least-squares-ols", other_sign),
    "a missing square root": ("sgd-flat-minima", without_root),
    "a wrong rate": ("max-margin-accelerated", wrong_rate),
    "a wrong constant": ("early-stopping-equals-l2", wrong_constant),
    "an off-by-one": ("cover-counting", off_by_one),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_formula_is_caught(mistake):
    name, wrong = WRONG[mistake]
    claim = catalog()[name].claim
    assert run_claim(replace(claim, predicted=wrong(claim)), seed=4).judgment.verdict is Verdict.REFUTED
