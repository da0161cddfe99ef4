"""Numbers of the judges against scipy, and verdicts on each side of each threshold."""

import numpy as np
import pytest
import scipy.stats
from scipy.stats import norm

from gnomon.lab import Verdict, at_most, bounded_by, distributed_as, equals, in_order, mean_equals, monotone_in, rate_is

HOLDS, REFUTED, INCONCLUSIVE = Verdict.HOLDS, Verdict.REFUTED, Verdict.INCONCLUSIVE
EPS = np.finfo("float64").eps


def spread(mean, deviation, n):
    """n numbers with this mean and this standard deviation (n - 1), in an order that is not sorted."""
    z = np.linspace(-1, 1, n)[np.random.default_rng(0).permutation(n)]
    return mean + deviation * z / z.std(ddof=1)


def half_width(o, confidence, comparisons=1):
    """Half of Student's interval, the risk shared among comparisons."""
    m = len(o)
    level = 1 - (1 - confidence) / (2 * comparisons)
    return scipy.stats.t.ppf(level, m - 1) * np.std(o, axis=0, ddof=1) / np.sqrt(m)


def found(judgment, name):
    return next(v for v in judgment.values if v.name == name)


def test_equality_reports_the_largest_difference_and_what_is_allowed():
    told = equals(rounding=8)([1.0, -3.0, 2.0], [1.0 + 1e-15, -3.0 - 4e-15, 2.0])
    assert float(found(told, "largest difference").value) == pytest.approx(abs((-3.0 - 4e-15) + 3.0))
    assert float(found(told, "allowed").value) == pytest.approx(8 * EPS * 3, rel=1e-6) and told.verdict is HOLDS
    assert float(found(equals(rounding=8)([-1.0], [-5.0]), "allowed").value) == pytest.approx(8 * EPS * 5)
    assert float(found(equals(rounding=8)([-5.0], [-1.0]), "allowed").value) == pytest.approx(8 * EPS * 5)
    edge = equals(within=0.25, because="a test")
    assert edge([1.0, 0.0], [1.0, -0.25]).verdict is HOLDS and edge([1.0, 0.0], [1.0, -0.26]).verdict is REFUTED
    assert equals(rounding=1)([np.inf], [np.inf]).verdict is HOLDS
    assert equals(rounding=1)([np.inf], [-np.inf]).verdict is REFUTED


def test_the_interval_of_a_mean_is_that_of_student():
    o = np.stack([spread(2.0, 0.1, 20), spread(-3.0, 0.3, 20)], 1)
    told = mean_equals(confidence=0.95)([2.01, -3.1], o)
    half = half_width(o, 0.95, 2)
    value = found(told, "observed")  # of the entry that comes closest to what is allowed, or is beyond it
    assert float(value.value) == pytest.approx(2.0) and float(found(told, "predicted").value) == 2.01
    assert (value.interval.low, value.interval.high) == pytest.approx((2.0 - half[0], 2.0 + half[0]))
    assert told.plot is not None
    for c, verdict in ((0.99, HOLDS), (1.01, REFUTED)):
        told = mean_equals(confidence=0.95)([2.0, -3.0 - c * half[1]], o)
        assert told.verdict is verdict and float(found(told, "observed").value) == pytest.approx(-3.0)
    bias = mean_equals(confidence=0.95, within=0.1, because="a test")  # a tenth of the largest prediction
    assert bias(1.0, spread(1.09, 0.01, 20)).verdict is HOLDS and bias(1.0, spread(1.11, 0.01, 20)).verdict is REFUTED
    assert bias(-1.0, spread(-1.09, 0.01, 20)).verdict is HOLDS


def test_a_mean_is_decided_to_a_fifth_at_999_per_mille():
    o = spread(1.0, 1.0, 25)
    half = float(half_width(o, 0.999))
    for width, verdict in ((0.99, HOLDS), (1.01, INCONCLUSIVE)):
        assert mean_equals()(1.0, 1 + (o - 1) * 0.2 * width / half).verdict is verdict
    for gap, verdict in ((0.99, HOLDS), (1.01, REFUTED)):
        assert mean_equals(resolution=10)(1.0 + gap * half, o).verdict is verdict
    two = np.stack([1 + (o - 1) * 1e-3, 1 + (o - 1) * 0.3 / half], 1)  # one of two entries is too coarse
    assert mean_equals()([1.0, 1.0], two).verdict is INCONCLUSIVE


def test_bounds_may_be_broken_by_a_hundred_roundings():
    for side, sign in (("above", 1), ("below", -1)):
        for c, verdict in ((98, HOLDS), (104, REFUTED)):
            assert bounded_by(side)([3.0, 0.5], [3.0 * (1 + sign * c * EPS), 0.5]).verdict is verdict
        told = bounded_by(side)([2.0, 4.0, 5.0], [2.0 - sign * 0.5, 4.0 - sign, 5.0 + sign])
        assert int(found(told, "broken").value) == 1 and int(found(told, "cases").value) == 3
    above, below = bounded_by()([2.0, 4.0], [1.0, 3.0]), bounded_by("below")([2.0, 4.0], [3.0, 8.0])
    assert above.one_sided and above.reached == pytest.approx(0.75)
    assert below.one_sided and below.reached == pytest.approx(2 / 3)
    assert not equals(rounding=1)(1.0, 1.0).one_sided
    assert bounded_by()(1e-8, 1.0).verdict is REFUTED and bounded_by("below")(1.0, 1e-8).verdict is REFUTED
    for tight, verdict in ((0.74, HOLDS), (0.76, REFUTED)):
        assert bounded_by(tight=tight)([2.0, 4.0], [1.0, 3.0]).verdict is verdict
    for tight, verdict in ((0.66, HOLDS), (0.67, REFUTED)):
        assert bounded_by("below", tight=tight)([2.0, 4.0], [3.0, 8.0]).verdict is verdict


def test_slack_of_a_bound_is_relative_to_the_larger_number():
    """A bound of 1e-14 beside a measurement of 1.0 - 1: roundings of the measurement itself."""
    judge = bounded_by(rounding=0.5 / EPS)
    assert judge(0.6, 1.1).verdict is HOLDS and judge(0.5, 1.1).verdict is REFUTED  # 0.5 times the larger
    judge = bounded_by("below", rounding=0.5 / EPS)
    assert judge(1.0, 0.51).verdict is HOLDS and judge(1.0, 0.49).verdict is REFUTED


def test_an_expectation_is_at_most_its_bound_at_999_per_mille():
    o = np.stack([spread(1.0, 0.5, 30), spread(2.0, 0.9, 30)], 1)
    half = half_width(o, 0.999, 2)
    judge = at_most(resolution=1e-6)
    assert judge([9.0, 2.0 + 1.01 * half[1]], o).verdict is HOLDS
    assert judge([9.0, 2.0 + 0.99 * half[1]], o).verdict is INCONCLUSIVE
    assert judge([9.0, 2.0 - 0.99 * half[1]], o).verdict is INCONCLUSIVE
    told = judge([9.0, 2.0 - 1.01 * half[1]], o)
    assert told.verdict is REFUTED and float(found(told, "observed").value) == pytest.approx(2.0)
    interval = found(told, "observed").interval
    assert (interval.low, interval.high) == pytest.approx((2.0 - half[1], 2.0 + half[1]))
    assert float(found(told, "bound").value) == pytest.approx(2.0 - 1.01 * half[1])


def test_a_bound_that_is_met_is_seen_to_a_tenth():
    o = spread(2.0, 1.0, 30)
    half = float(half_width(o, 0.999))
    for width, verdict in ((0.99, HOLDS), (1.01, INCONCLUSIVE)):
        assert at_most()(2.0, 2.0 + (o - 2.0) * 0.2 * width / half).verdict is verdict


def test_shares_have_the_interval_of_clopper_and_pearson():
    o = np.zeros((50, 2))
    o[:7, 0], o[:3, 1] = 1, 1
    told = at_most(confidence=0.98)([0.1, 0.9], o)
    seen = scipy.stats.binomtest(7, 50).proportion_ci(0.99)  # the risk of 2 % shared by two
    interval = found(told, "observed").interval
    assert (interval.low, interval.high) == pytest.approx((seen.low, seen.high))
    assert float(found(told, "observed").value) == pytest.approx(0.14)


def test_orders_have_the_interval_of_student():
    low = spread(1.0, 0.5, 16)
    gap = spread(0.0, 0.3, 16)
    half = float(half_width(gap, 0.99, 2))
    for shift, verdict in ((1.01, HOLDS), (0.99, INCONCLUSIVE), (-0.99, INCONCLUSIVE), (-1.01, REFUTED)):
        rows = {"a": low, "b": low + gap + shift * half, "c": low + gap + shift * half + 9.0}
        told = in_order()(("a", "b", "c"), rows)
        assert told.verdict is verdict
        assert float(found(told, "b").value) == pytest.approx(1.0 + shift * half)
    assert in_order()(("a", "b"), {"a": 1.0, "b": 1.1}).verdict is HOLDS
    assert in_order()(("a", "b"), {"a": 1.1, "b": 1.0}).verdict is REFUTED
    assert in_order()(("a", "b"), {"a": 1.0, "b": 1.0}).verdict is INCONCLUSIVE


def test_steps_of_a_curve_have_the_interval_of_student():
    base, step = spread(1.0, 0.5, 16), spread(0.0, 0.3, 16)
    half = float(half_width(step, 0.99, 2))
    for shift, verdict in ((1.01, HOLDS), (0.99, INCONCLUSIVE), (-0.99, INCONCLUSIVE), (-1.01, REFUTED)):
        curves = np.stack([base, base + step + shift * half, base + step + shift * half + 9.0], 1)
        assert monotone_in("depth")("increasing", curves).verdict is verdict
        assert monotone_in("depth")("decreasing", -curves).verdict is verdict
    told = monotone_in("depth")("increasing", [1.0, 2.0, 1.5, 3.0])
    assert (int(found(told, "steps as predicted").value), int(found(told, "steps against").value)) == (2, 1)


def test_single_curves_may_fall_by_a_hundred_roundings():
    for c, verdict in ((98, HOLDS), (104, REFUTED)):
        assert monotone_in("depth")("increasing", [4.0, 4.0 * (1 - c * EPS), 9.0]).verdict is verdict
        assert monotone_in("depth")("decreasing", [-4.0, -4.0 * (1 - c * EPS), -9.0]).verdict is verdict
    judge = monotone_in("depth", rounding=0.5 / EPS)  # half of the larger of both ends
    assert judge("increasing", [1.0, 0.51]).verdict is HOLDS and judge("increasing", [1.0, 0.49]).verdict is REFUTED


def test_distributions_have_the_p_value_of_kolmogorov():
    u = (np.arange(400) + 0.5) / 400
    levels = [scipy.stats.kstwo.isf(p, 400) for p in (0.0011, 0.0009)]
    for d, verdict in zip(levels, (HOLDS, REFUTED), strict=True):
        o = norm.ppf(np.clip(u * (1 - (d - 0.5 / 400)), 1e-12, 1))  # the last falls short by the distance
        assert scipy.stats.kstest(o, norm.cdf).statistic == pytest.approx(d, rel=1e-2)
        assert distributed_as()(norm(), o).verdict is verdict
    few = norm.ppf((np.arange(399) + 0.5) / 399)
    assert distributed_as()(norm(), few).verdict is INCONCLUSIVE  # (2 / 0.1)^2 samples are needed
    assert distributed_as()(norm.cdf, norm.ppf(u)).verdict is HOLDS
    assert distributed_as(resolution=0.2)(norm(), norm.ppf((np.arange(100) + 0.5) / 100)).verdict is HOLDS
    assert distributed_as(resolution=0.2)(norm(), norm.ppf((np.arange(99) + 0.5) / 99)).verdict is INCONCLUSIVE


def test_slopes_have_the_interval_of_regression():
    x = np.array([1.0, 2.0, 5.0, 7.0, 20.0])
    y = np.array([3.0, 1.4, 0.7, 0.4, 0.16])
    fit = scipy.stats.linregress(np.log(x), np.log(y))
    told = rate_is(confidence=0.95, resolution=10)(-1.0, (x, y))
    half = scipy.stats.t.ppf(0.975, 3) * fit.stderr
    value = found(told, "slope")
    assert float(value.value) == pytest.approx(fit.slope)
    assert (value.interval.low, value.interval.high) == pytest.approx((fit.slope - half, fit.slope + half))
    for c, verdict in ((0.99, HOLDS), (1.01, REFUTED)):
        assert rate_is(confidence=0.95, resolution=10)(fit.slope - c * half, (x, y)).verdict is verdict
        judge = rate_is(confidence=0.95, resolution=10, within=0.3, because="a test")
        assert judge(fit.slope + c * (half + 0.3), (x, y)).verdict is verdict


def test_slopes_of_repetitions_have_the_interval_of_student():
    x = np.array([1.0, 2.0, 5.0, 7.0])
    rng = np.random.default_rng(1)
    y = np.exp(rng.normal(0, 0.1, (6, 4))) / x
    slopes = np.array([scipy.stats.linregress(np.log(x), np.log(row)).slope for row in y])
    half = float(half_width(slopes, 0.99))
    value = found(rate_is(confidence=0.99)(-1.0, (x, y)), "slope")
    assert float(value.value) == pytest.approx(slopes.mean())
    assert value.interval.high - value.interval.low == pytest.approx(2 * half)
    # with a next order the scatter around the mean curve counts as well, where it is larger
    wide = np.stack([np.ones(4), np.log(x), x / 7], 1)
    each = [np.linalg.lstsq(wide, np.log(row), rcond=None)[0][1] for row in y]
    mean = np.log(y).mean(0)
    left = mean - wide @ np.linalg.lstsq(wide, mean, rcond=None)[0]
    error = np.sqrt(left @ left / 1 * np.linalg.inv(wide.T @ wide)[1, 1])
    value = found(rate_is(confidence=0.9, next_order=1.0)(-1.0, (x, y)), "slope")
    assert float(value.value) == pytest.approx(np.mean(each))
    both = scipy.stats.t.ppf(0.95, 1) * error, float(half_width(np.array(each), 0.9))
    assert value.interval.width == pytest.approx(2 * max(both))


def test_a_slope_is_decided_to_a_quarter_over_a_factor_of_four():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    base = np.array([0.1, -0.1, -0.1, 0.1])
    fit = scipy.stats.linregress(np.log(x), base)
    half = scipy.stats.t.ppf(0.995, 2) * fit.stderr
    for width, verdict in ((0.99, HOLDS), (1.01, INCONCLUSIVE)):
        y = np.exp(0.25 * width / half * base)
        assert rate_is(confidence=0.99)(0.25 * width / half * fit.slope, (x, y)).verdict is verdict
    assert (
        rate_is()(1.0, (x, x)).verdict is HOLDS
        and rate_is()(1.0, (0.99 * x + 0.02, 0.99 * x + 0.02)).verdict is INCONCLUSIVE
    )
    default = found(rate_is()(1.0, (x, np.exp(base) * x)), "slope").interval
    assert default.confidence == 0.99 and default.width == pytest.approx(2 * half)


def test_negative_bounds_are_compared_by_their_size():
    o = spread(-2.0, 1.0, 30)
    half = float(half_width(o, 0.999))
    for width, verdict in ((0.99, HOLDS), (1.01, INCONCLUSIVE)):  # a tenth of the size of the bound
        assert at_most()(-2.0, -2.0 + (o + 2.0) * 0.2 * width / half).verdict is verdict
    judge = bounded_by(rounding=0.5 / EPS)
    assert judge(-3.0, -1.6).verdict is HOLDS and judge(-3.0, -1.4).verdict is REFUTED  # half of 3
    judge = bounded_by("below", rounding=0.5 / EPS)
    assert judge(-1.6, -3.0).verdict is HOLDS and judge(-1.4, -3.0).verdict is REFUTED


def test_pictures_show_the_numbers_that_were_judged():
    x = np.array([1.0, 2.0, 8.0])
    y = np.array([[3.0, 2.0, 0.5], [12.0, 2.0, 0.125]])
    points, line = rate_is(resolution=10)(-1.0, (x, y)).plot.marks
    middle = np.sqrt(y[0] * y[1])
    np.testing.assert_allclose(points.y, middle)
    through = np.exp(np.log(middle).mean()) * np.exp(np.log(x).mean()) / x  # slope -1 through the middle
    np.testing.assert_allclose(line.y, through)
    o = np.array([0.3, -1.0, 0.9, 0.1])
    seen, told = distributed_as()(norm(), o).plot.marks
    np.testing.assert_allclose(seen.x, np.sort(o))
    np.testing.assert_allclose(seen.y, [0.125, 0.375, 0.625, 0.875])
    np.testing.assert_allclose(told.y, norm.cdf(np.sort(o)))
    (curve,) = monotone_in("depth")("increasing", [[1.0, 2.0, 4.0], [3.0, 5.0, 6.0]]).plot.marks
    np.testing.assert_allclose(curve.y, [2.0, 3.5, 5.0])
    dots, told = mean_equals()([1.0, 5.0], [[1.0, 4.0], [3.0, 8.0]]).plot.marks
    assert (dots.x, dots.y, told.y) == ((0, 1), (2.0, 6.0), (1.0, 5.0))
    dots, told = at_most()([1.0, 5.0], [[1.0, 4.0], [3.0, 8.0]]).plot.marks
    assert (dots.y, told.y) == ((2.0, 6.0), (1.0, 5.0))
    rows = {"a": [1.0, 3.0], "b": [5.0, 8.0]}
    (bars,) = in_order()(("a", "b"), rows).plot.marks
    assert [float(v.value) for v in in_order()(("a", "b"), rows).values] == [2.0, 6.5] and bars is not None


def test_the_share_of_a_bound_that_is_reached_for_both_sides_and_signs():
    for judge in (bounded_by(), at_most()):
        assert judge([4.0], [[1.0], [1.0]]).reached == pytest.approx(0.25)
        assert judge([-1.0], [[-4.0], [-4.0]]).reached == pytest.approx(0.25)
        assert judge([0.0], [[-4.0], [-4.0]]).reached is None
    assert bounded_by("below")([-4.0, -8.0], [-1.0, 3.0]).reached == pytest.approx(0.25)
    assert bounded_by("below")([1.0, 0.0], [4.0, 1.0]).reached == pytest.approx(0.25)
    assert at_most()([2.0, 4.0], [[1.0, 3.0], [1.0, 3.0]]).reached == pytest.approx(0.75)


def test_the_case_that_is_closest_to_its_bound_is_reported():
    """Means 1 and 90 against bounds 0 and 100: the first exceeds its bound by 1, the second is 10 below."""
    rows = [[1.0 + 0.01 * (-1) ** i, 90.0 + (-1) ** i] for i in range(10)]
    told = at_most()([0.0, 100.0], rows)
    assert [value.value for value in told.values] == pytest.approx([1.0, 0.0]) and told.verdict is Verdict.REFUTED


def test_a_bound_is_drawn_with_what_it_bounds():
    dots, told = bounded_by()([1.0, 5.0], [0.5, 4.0]).plot.marks
    assert (dots.y, told.y) == ((0.5, 4.0), (1.0, 5.0)) and dots.name == "observed"
