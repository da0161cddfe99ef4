"""A claim about a bound notices a bound that is wrong by a factor 2, or says how loose the bound is and why."""

import re
from dataclasses import replace

import numpy as np
import pytest

from gnomon.lab import Claim, Premise, Source, Verdict, at_most, bounded_by, run_claim
from tests.atlas.test_claims import ENTRIES, SLOW

ONE_SIDED = tuple(
    name
    for name, entry in ENTRIES.items()
    if entry.claim.judge.__qualname__.startswith(("at_most", "bounded_by")) and entry.claim.expected == "holds"
)
"""Claims whose judge compares with a bound; a saying that is refuted does not keep its bound."""
TIGHT = tuple(name for name in ONE_SIDED if not ENTRIES[name].claim.loose_because)
LOOSE = tuple(name for name in ONE_SIDED if ENTRIES[name].claim.loose_because)
MOST_REACHED_BY_A_LOOSE_BOUND = 0.7
"""A claim that reaches more of its bound should not call it loose; above one half because of chance."""
QUANTITY = re.compile(r"\d|\b(zero|none|no|two|three|five|six|half|third|quarter|tenth)\b")
"""A number, as digits or as a word: how much of the bound is reached, or where the bound comes from."""


def says_how_loose(reason):
    """Whether a reason is a sentence with a quantity, and not a mark or a few words without content."""
    return len(reason.split()) >= 8 and bool(QUANTITY.search(reason)) and reason.endswith(".")


def verdict_of_a_strict_bound(claim, factor=2.0, seed=4242):
    """How a claim judges its own measurement if the predicted bound is too strict by a factor."""
    above = claim.judge([1.0], [[1.0005], [1.0005]]).verdict is Verdict.REFUTED

    def judge(predicted, observed):
        p = np.asarray(predicted, dtype=float)
        return claim.judge(np.where((p > 0) == above, p / factor, p * factor), observed)

    return run_claim(replace(claim, judge=judge), seed=seed).judgment.verdict


def slow(names):
    return [pytest.param(name, marks=[pytest.mark.full] if name in SLOW else []) for name in names]


@pytest.mark.parametrize("name", slow(TIGHT))
def test_a_bound_that_is_wrong_by_a_factor_2_is_refuted(name):
    assert verdict_of_a_strict_bound(ENTRIES[name].claim) is Verdict.REFUTED


@pytest.mark.parametrize("name", slow(LOOSE))
def test_a_bound_that_is_called_loose_is_loose(name):
    outcome = run_claim(ENTRIES[name].claim, seed=4242)
    assert outcome.judgment.reached is None or outcome.judgment.reached < MOST_REACHED_BY_A_LOOSE_BOUND
    assert ENTRIES[name].claim.loose_because in outcome.verdict


@pytest.mark.parametrize("name", LOOSE)
def test_a_loose_bound_says_how_loose_it_is(name):
    assert says_how_loose(ENTRIES[name].claim.loose_because)


@pytest.mark.parametrize(
    "reason", ["", " ", ".", "loose.", "the bound is loose.", "0.3.", "it is loose because it is loose, as bounds are."]
)
def test_empty_reasons_are_seen(reason):
    assert not says_how_loose(reason)


def test_every_claim_with_a_bound_is_seen():
    assert len(ONE_SIDED) >= 75 and len(TIGHT) >= 45
    assert all(not ENTRIES[name].claim.loose_because for name in set(ENTRIES) - set(ONE_SIDED))


@pytest.mark.parametrize("judge, bound, measured", [
    (at_most(), 2.0, [[1.9], [1.9], [1.9]]), (at_most(), -1.0, [[-1.1], [-1.1], [-1.1]]),
    (bounded_by(), 2.0, [1.9]), (bounded_by("below"), 2.0, [2.1]), (bounded_by("below"), -2.0, [-1.9]),
])  # fmt: skip
def test_a_planted_factor_makes_every_bound_stricter(judge, bound, measured):
    def claim(observed):
        return Claim(
            id="bound", title="A bound", equation="o <= p", source=Source("derived"), premises=(Premise("p"),),
            parameters={}, judge=judge, predicted=lambda: bound, observed=lambda: observed, control=lambda: observed,
        )  # fmt: skip

    assert run_claim(claim(measured)).judgment.verdict is Verdict.HOLDS
    assert verdict_of_a_strict_bound(claim(measured)) is Verdict.REFUTED
    far = np.asarray(measured) * (4 if measured == [2.1] or bound == -1.0 else 0.25)
    assert verdict_of_a_strict_bound(claim(far)) is Verdict.HOLDS
