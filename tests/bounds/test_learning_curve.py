"""The learning curve of a kernel: its filter by root finding and derivatives, its correction by hand."""

import sys
from math import log2, sqrt

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from gnomon.bounds import learning_curve
from gnomon.bounds.learning_curve import LearningCurve
from gnomon.bounds.scaling import scaling_law
from gnomon.core.results import Interval, Value

module = sys.modules[learning_curve.__module__]  # the package exports the function under the same name


def problem(n=60, seed=0, outputs=2):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 4, generator=g).double()
    y = torch.stack([x[:, 0].sin(), x[:, 1] * x[:, 2]], 1)[:, :outputs]
    y = y + 0.3 * torch.randn(n, outputs, generator=g).double() + 2.0
    return torch.exp(-torch.cdist(x, x) / 3), y


def filtered(values, s):
    """D1, k and D2 at ridge s, by definition: D2 = D1 + k dD1/dk, with a numerical derivative along s."""

    def d1(s):
        return (values / (values + s)).sum()

    def k(s):
        return s / (len(values) - d1(s))

    step = 1e-5 * s
    slope = (d1(s + step) - d1(s - step)) / (k(s + step) - k(s - step))
    return d1(s), k(s), d1(s) + k(s) * slope


def test_the_filter_has_its_degrees_of_freedom():
    kernel, y = problem()
    known = module._Known.of(kernel, y, 0.4)
    values = np.linalg.eigvalsh(kernel.numpy())
    for s in (0.01, 0.4, 7.0):
        assert known.measures(s) == pytest.approx(filtered(values, s), rel=1e-6)


def test_the_error_of_left_out_rows_has_the_standard_error_of_a_mean():
    kernel, y = problem(n=30)
    centered, ridge, errors = (y - y.mean(0)).numpy(), 0.4, []
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        inside = kernel.numpy()[np.ix_(rest, rest)] + ridge * np.eye(29)
        predicted = kernel.numpy()[i, rest] @ np.linalg.solve(inside, centered[rest])
        errors.append(((predicted - centered[i]) ** 2).sum())
    expected = np.mean(errors), np.std(errors, ddof=1) / sqrt(30)
    assert module._Known.of(kernel, y, ridge).left_out(ridge) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("size", [25, 48, 90, 150])
def test_the_error_at_another_size_is_read_where_the_filter_is_the_same(size):
    """An n with the k of N rows at ridge s: D1(s) + r / k(s) = n; equation (2), leave-one-out errors by refits."""
    kernel, y = problem()
    ridge, n = 0.4, 60
    known = module._Known.of(kernel, y, ridge)
    assert known.reach >= 150
    values = np.linalg.eigvalsh(kernel.numpy())

    def rows(s):
        d1, k, _ = filtered(values, s)
        return d1 + ridge / k - size

    s = brentq(rows, 1e-4, 500.0)
    _, _, d2 = filtered(values, s)
    k, t = kernel.numpy(), (y - y.mean(0)).numpy()
    errors = []
    for i in range(n):
        keep = np.arange(n) != i
        made = k[i, keep] @ np.linalg.solve(k[np.ix_(keep, keep)] + s * np.eye(n - 1), t[keep])
        errors.append(((made - t[i]) ** 2).sum())
    wanted = np.mean(errors) * (1 - d2 / n) / (1 - d2 / size)
    assert known.at(size) == pytest.approx(wanted, rel=2e-4)  # linear between neighbors on a grid of 400 ridges


def test_ridges_are_spaced_evenly_in_logarithms_and_read_where_rows_are_left_to_judge():
    kernel, y = problem()
    known = module._Known.of(kernel, y, 0.4)
    values = np.linalg.eigvalsh(kernel.numpy())
    top = values[-1]
    low, high = max(1e-11 * top, 1e-4 * 0.4), 60 * top + 0.4
    grid = low * (high / low) ** np.linspace(0, 1, 400)
    kept = [s for s in grid if s >= 0.4 or 1 - filtered(values, s)[2] / 60 >= 0.1]
    assert len(known.table) == pytest.approx(len(kept), abs=2)  # rounding at the ends
    # the grid is log10 of logspace(0, 1), which is linspace(0, 1)
    assert float(known.table[-1, 0]) == pytest.approx(high) and float(known.table[0, 0]) == pytest.approx(
        kept[0], rel=0.1
    )
    ratios = known.table[1:, 0] / known.table[:-1, 0]
    assert float(ratios.max() / ratios.min()) == pytest.approx(1.0, abs=1e-9)
    assert known.reach == max(60, min(240, int(known.table[0, 1])))


def test_half_of_the_rows_say_how_much_too_hopeful_the_curve_is():
    """Equation (4) with m = N^2 / n rows, three random parts, each predicting the error of all rows."""
    kernel, y = problem(120, outputs=1)
    ridge, size, least = 0.4, 200, 5.0
    m = 120 * 120 // size
    g, told = torch.Generator().manual_seed(0), []
    for _ in range(3):
        rows = torch.randperm(120, generator=g)[:m]
        part = module._Known.of(kernel[rows][:, rows], y[rows], ridge)
        assert m < 120 <= part.reach
        told.append(part.at(120))
    assert module._too_hopeful(kernel, y, ridge, least, size) == pytest.approx(least / np.mean(told))
    assert module._too_hopeful(kernel, y, ridge, 1e-9, size) == 1.0  # never below 1
    assert module._too_hopeful(kernel, y, ridge, least, 120) == 1.0  # nothing is looked ahead
    assert module._too_hopeful(kernel, y, ridge, least, 90) == 1.0
    kernel, y = kernel[:80, :80], y[:80]
    assert module._too_hopeful(kernel, y, ridge, least, 128) > 1.0  # 80 * 80 / 128 = 50 rows suffice
    assert module._too_hopeful(kernel, y, ridge, least, 129) == 1.0  # 49 do not


def test_predictions_are_the_curve_times_what_parts_correct():
    kernel, y = problem(110, outputs=1)
    found = learning_curve(kernel, y, sizes=[30, 110, 180], ridge=0.4)
    known = module._Known.of(kernel, y, 0.4)
    now, noise = known.left_out(0.4)
    factor = module._too_hopeful(kernel, y, 0.4, now - 2 * noise, 180)
    assert found.predicted == pytest.approx((known.at(30), now, known.at(180) * factor))
    assert found.sizes == (30, 110, 180) and found.examples == 110


def test_sizes_are_halves_down_to_twenty_and_the_ridge_is_a_thousandth_of_the_diagonal():
    kernel, y = problem(90, outputs=1)
    kernel = kernel + torch.diag(torch.linspace(0.0, 1.0, 90)).double()
    found = learning_curve(kernel, y)
    assert found.sizes == (22, 45, 90)
    assert found.now == pytest.approx(module._Known.of(kernel, y, 1e-3 * 1.5).left_out(1e-3 * 1.5)[0])
    with pytest.raises(ValueError, match="19 rows"):
        learning_curve(kernel[:19, :19], y[:19])
    assert learning_curve(kernel[:20, :20], y[:20]).sizes == (20,)


class Curve(module._Known):
    """A curve that stops at ``reach`` rows: 1 / size up to there."""

    def __init__(self, n, reach):
        self.n, self.reach = n, reach

    def at(self, size):
        return 3.0 / size


def test_the_law_is_fitted_to_four_octaves_in_steps_of_half_an_octave():
    curve = Curve(500, 700)
    law = module._extrapolate(curve, 0.1)
    sizes = sorted(int(700 * 2 ** (-j / 2)) for j in range(9))
    assert law.sizes == tuple(sizes) and law.errors == pytest.approx([3 / s for s in sizes])
    assert module._extrapolate(Curve(80, 80), 0.5).errors[-1] == 0.5  # the error of all rows is measured
    assert module._extrapolate(Curve(79, 79), 0.5) is None  # 79, 55, 39, 27 and 19: four of 20 rows or more


def trusted(errors):
    return scaling_law([20, 40, 80, 160, 320], errors)


def test_twice_the_rows_have_an_interval_with_all_that_is_not_known():
    law = trusted([3 / s**0.5 + 0.01 * (-1) ** i for i, s in enumerate([20, 40, 80, 160, 320])])
    assert law.trusted
    curve, now, noise, factor = Curve(50, 70), 0.06, 0.004, 1.3
    found = module._error_with_twice_the_rows(curve, law, now, noise, factor)
    told = law.at(100)
    value, straight = float(told.value), 3 / 70 * (100 / 70) ** log2(35 / 70)
    ends = [e * f for e in (value, straight, told.interval.low, told.interval.high) for f in (1, factor)]
    half = 2 * noise * value / now
    assert float(found.value) == pytest.approx(factor * value)
    assert found.interval.high == pytest.approx(max(ends) + half)
    assert found.interval.low == pytest.approx(max(0.0, min(ends) - half))
    inside = module._error_with_twice_the_rows(Curve(50, 100), law, now, noise, factor)
    assert float(inside.value) == pytest.approx(factor * 3 / 100)
    assert inside.interval.low == pytest.approx(0.03 - 2 * noise * 0.03 / now)
    assert inside.interval.high == pytest.approx(factor * 0.03 + 2 * noise * 0.03 / now)
    assert module._error_with_twice_the_rows(Curve(50, 70), None, now, noise, factor) is None


def test_errors_are_told_up_to_four_times_the_rows():
    law = trusted([3 / s**0.5 for s in [20, 40, 80, 160, 320]])
    curve = Curve(50, 70)
    assert module._error_at(curve, law, 0.7, 50) == 0.7 and module._error_at(curve, law, 0.7, 70) == pytest.approx(
        3 / 70
    )
    assert module._error_at(curve, law, 0.7, 200) == pytest.approx(3 / sqrt(200), rel=1e-3)
    with pytest.raises(ValueError, match="at most 200"):
        module._error_at(curve, law, 0.7, 201)
    with pytest.raises(ValueError, match="at most 70"):
        module._error_at(curve, None, 0.7, 71)


@pytest.mark.parametrize(("gain", "kind"), [(0.11, "more-data-helps"), (0.09, "more-data-is-little")])
def test_more_data_are_advised_if_a_doubling_removes_a_tenth(gain, kind):
    doubled = Value("error at 100", 0.5 * (1 - gain), Interval(0.0, 1.0, 0.95), "estimate")
    curve = LearningCurve((50,), (0.5,), 50, 0.5, 1.0, doubled, 50, None)
    assert [f.kind for f in curve.findings] == [kind] and curve.gain == pytest.approx(gain)
    for spread, told in ((49.0, 1), (51.0, 0)):  # a hundredth of the variance is not worth a word
        assert len(LearningCurve((50,), (0.5,), 50, 0.5, spread, doubled, 50, None).findings) == told
