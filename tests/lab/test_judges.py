"""Judges accept what is true at the stated confidence, refuse what is wrong, and say when they cannot tell."""

import numpy as np
import pytest
from scipy.stats import expon, norm

from gnomon.core.errors import InputError
from gnomon.lab import (
    Verdict,
    at_most,
    bounded_by,
    distributed_as,
    equals,
    in_order,
    mean_equals,
    monotone_in,
    rate_is,
)  # fmt: skip

HOLDS, REFUTED, INCONCLUSIVE = Verdict.HOLDS, Verdict.REFUTED, Verdict.INCONCLUSIVE


def generator(seed=0):
    return np.random.default_rng(seed)


def test_equality_to_rounding():
    judge = equals(rounding=4)
    assert judge([1.0, 1e-20], [1.0, 0.0]).verdict is HOLDS  # relative to the largest number
    assert judge(1.0, 1.0 + 5 * 2.3e-16).verdict is REFUTED
    assert equals(rounding=4, dtype="float32")(1.0, 1.0 + 4e-7).verdict is HOLDS
    with pytest.raises(InputError, match="NaN"):
        judge(1.0, float("nan"))
    with pytest.raises(InputError, match="shape"):
        judge([1.0, 2.0], 1.0)
    with pytest.raises(InputError, match="because"):
        equals(within=0.1)


def test_a_mean_is_accepted_at_the_stated_confidence():
    """At 90 % the judge refuses 10 % of true statements: 4 standard errors around it, over 2,000 draws."""
    judge = mean_equals(confidence=0.9, resolution=10)
    draws = generator().normal(2.0, 1.0, (2000, 12))
    refused = np.mean([judge(2.0, draw).verdict is REFUTED for draw in draws])
    assert abs(refused - 0.1) < 4 * np.sqrt(0.09 / 2000)


def test_a_wrong_constant_is_refuted_and_a_coarse_measurement_decides_nothing():
    draws = generator().normal(2.0, 0.2, 100)
    assert mean_equals()(2.0, draws).verdict is HOLDS
    assert mean_equals()(4.0, draws).verdict is REFUTED
    assert mean_equals(resolution=0.01)(2.0, draws).verdict is INCONCLUSIVE
    assert mean_equals(within=0.5, because="1 / width")(2.5, draws).verdict is HOLDS


def test_many_means_share_one_risk():
    judge = mean_equals(confidence=0.9, resolution=10)
    draws = generator(1).normal(0.0, 1.0, (500, 20, 30))
    refused = np.mean([judge(np.zeros(30), draw).verdict is REFUTED for draw in draws])
    assert refused < 0.1 + 4 * np.sqrt(0.09 / 500)


def test_bounds_hold_in_every_case():
    assert bounded_by()([1.0, 1.0], [1.0, 0.2]).verdict is HOLDS
    assert bounded_by()([1.0, 1.0], [1.0 + 1e-9, 0.2]).verdict is REFUTED
    assert bounded_by("below")(0.0, [0.0, 3.0]).verdict is HOLDS
    assert bounded_by(tight=0.9)([1.0, 1.0], [0.5, 0.2]).verdict is REFUTED


def test_bounds_on_a_probability():
    rare = generator().random(400) < 0.02
    assert at_most()(0.1, rare).verdict is HOLDS
    assert at_most()(0.001, rare).verdict is REFUTED
    assert at_most()(0.03, rare[:20]).verdict is INCONCLUSIVE
    assert at_most()(1.0, generator().normal(1.0, 0.01, 50)).verdict is HOLDS  # met with equality, seen to 10 %


def test_slopes():
    x = np.array([8.0, 16, 32, 64])
    noise = generator().normal(0, 0.1, (10, 4))
    judge = rate_is()
    assert judge(-1.0, (x, np.exp(noise) / x)).verdict is HOLDS
    assert judge(-0.5, (x, np.exp(noise) / x)).verdict is REFUTED
    assert judge(-1.0, (x, np.exp(10 * noise[:3]) / x)).verdict is INCONCLUSIVE
    assert judge(-1.0, (x[:3] ** 0.5, 1 / x[:3] ** 0.5)).verdict is INCONCLUSIVE  # less than a factor 4
    assert rate_is()(2.0, (x, x**2)).verdict is HOLDS
    with pytest.raises(InputError, match="positive"):
        judge(-1.0, (x, [1, 2, 3, 0.0]))


def test_slopes_are_accepted_at_the_stated_confidence():
    x, judge = np.array([1.0, 2, 4, 8, 16]), rate_is(confidence=0.9, resolution=10)
    noise = generator(2).normal(0, 0.3, (1500, 5))
    refused = np.mean([judge(-1.0, (x, np.exp(e) / x)).verdict is REFUTED for e in noise])
    assert abs(refused - 0.1) < 4 * np.sqrt(0.09 / 1500)


def test_monotone_curves():
    judge = monotone_in("depth")
    assert judge("increasing", [1.0, 2.0, 3.0]).verdict is HOLDS
    assert judge("decreasing", [1.0, 2.0, 3.0]).verdict is REFUTED
    curves = np.array([0.0, 1.0, 2.0]) + generator().normal(0, 0.1, (20, 3))
    assert judge("increasing", curves).verdict is HOLDS
    assert judge("increasing", curves * 0 + generator().normal(0, 1, (20, 3))).verdict is INCONCLUSIVE
    with pytest.raises(InputError, match="'increasing' or 'decreasing'"):
        judge(3, [1.0, 2.0])


def test_orders():
    a, b = generator().normal(0, 1, 30), generator().normal(0, 1, 30)
    shared = {"low": a, "high": a + 0.5 + 0.01 * b}  # the difference is seen, though both vary by more than it
    assert in_order()(("low", "high"), shared).verdict is HOLDS
    assert in_order()(("high", "low"), shared).verdict is REFUTED
    assert in_order()(("low", "high"), {"low": a, "high": b[::-1]}).verdict is INCONCLUSIVE
    with pytest.raises(InputError, match="names"):
        in_order()(("low", "high"), {"low": a})


def test_distributions():
    draws = norm.rvs(size=2000, random_state=3)
    assert distributed_as()(norm(), draws).verdict is HOLDS
    assert distributed_as()(expon(), np.abs(draws)).verdict is REFUTED
    assert distributed_as()(norm(), draws[:50]).verdict is INCONCLUSIVE
    refused = np.mean([
        distributed_as(confidence=0.9)(norm(), d).verdict is REFUTED for d in generator(4).normal(size=(600, 500))
    ])  # fmt: skip
    assert abs(refused - 0.1) < 4 * np.sqrt(0.09 / 600)


def test_the_slope_of_the_leading_order_is_found_below_a_known_correction():
    x = np.array([0.01, 0.02, 0.04, 0.08, 0.16])
    bent = x**2 * (1 + 2 * x)
    judge = rate_is(next_order=1.0)
    assert judge(2.0, (x, bent)).verdict is HOLDS and abs(judge(2.0, (x, bent)).values[0].value - 2) < 0.01
    assert judge(2.1, (x, bent)).verdict is REFUTED  # which the plain slope, 2.12, would have passed
    assert rate_is(within=0.02, because="a test")(2.1, (x, bent)).verdict is HOLDS
    points = np.stack([c * x**2 * (1 + d * x) for c, d in ((1.0, 0.5), (2.0, -1.0), (0.3, 1.5))])
    assert judge(2.0, (x, points)).verdict is HOLDS and judge(1.9, (x, points)).verdict is REFUTED
    wide = 1 / x  # a correction that falls as the root of a width
    assert rate_is(next_order=-0.5)(-1.0, (wide, (1 + 0.2 * wide**-0.5) / wide)).verdict is HOLDS
    with pytest.raises(InputError, match="at least 4 points"):
        judge(2.0, (x[:3], bent[:3]))


@pytest.mark.parametrize("points", [4, 6])
def test_the_slope_of_the_leading_order_has_its_stated_confidence(points):
    """One curve: 10 % of true statements are refused at 90 %, to 4 standard errors; repetitions: no more than that."""
    x, judge = 0.01 * 2.0 ** np.arange(points), rate_is(confidence=0.9, resolution=1e9, next_order=1.0)
    rng = generator(5)
    bend = np.exp(0.3 * rng.normal(size=(800, 1, 1)) * x)
    curves = x**2 * bend * np.exp(0.05 * rng.normal(size=(800, 3, points)))
    single = np.mean([judge(2.0, (x, c[0])).verdict is REFUTED for c in curves])
    several = np.mean([judge(2.0, (x, c)).verdict is REFUTED for c in curves[:300]])
    assert abs(single - 0.1) < 4 * np.sqrt(0.09 / 800)
    assert several < 0.1 + 4 * np.sqrt(0.09 / 300)


@pytest.mark.parametrize("points", [4, 5])
@pytest.mark.parametrize("beyond", [2.0, 3.0])
def test_the_interval_of_the_leading_order_holds_what_orders_beyond_leave(points, beyond):
    """A curve without noise whose correction goes on with x^2 or x^3; at 99 % with four or five points."""
    x = 0.001 * 2.0 ** np.arange(points)
    told = rate_is(next_order=1.0)(2.0, (x, x**2 * np.exp(3 * x + 50 * x**beyond)))
    assert told.verdict is HOLDS and 0 < told.values[0].interval.width < 0.05
