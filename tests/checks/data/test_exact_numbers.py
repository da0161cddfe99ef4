"""Every number of a record, computed again from its definition with numpy, scipy or by refitting."""

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest
import scipy.special
import scipy.stats
import torch
from torch import nn

from gnomon.bounds import (
    catoni_bound,
    generalization_bounds,
    generalization_gap,
    learning_curve,
    mcallester_bound,
    output_margins,
    seeger_bound,
    vc_bound,
)
from gnomon.bounds.capacity import (
    kernel_rademacher,
    linear_rademacher,
    massart_bound,
    min_norm_bound,
    network_vc_dimension,
)
from gnomon.bounds.output_margins import spectral_complexity
from gnomon.bounds.pacbayes.inequalities import CONSTANTS, bernstein_upper_bound, quadratic_bound
from gnomon.checks import data_shift, find_leaks
from gnomon.checks.data.shift import DataShift
from gnomon.checks.data.suspects import SuspectLabels
from gnomon.checks.data.unusual import UnusualTestExamples, unusual_test_examples
from gnomon.core.results import Interval


@pytest.mark.parametrize(
    ("risk", "kl", "n", "delta"), [(0.02, 30.0, 4000, 0.05), (0.2, 3.0, 300, 0.01), (0, 0, 50, 0.2)]
)
def test_pac_bayes_bounds_are_their_formulas(risk, kl, n, delta):
    """Catoni's bound over several constants pays for their number: each constant takes its part of delta."""
    each = [(1 - exp(-c * risk - (kl + log(7 / delta)) / n)) / (1 - exp(-c)) for c in CONSTANTS]
    assert len(CONSTANTS) == 7 and catoni_bound(risk, kl, n, delta) == pytest.approx(min(each), rel=1e-12)
    spent = (kl + log(2 * sqrt(n) / delta)) / n
    assert mcallester_bound(risk, kl, n, delta) == pytest.approx(risk + sqrt(spent / 2), rel=1e-12)
    assert quadratic_bound(risk, kl, n, delta) == pytest.approx(
        (sqrt(risk + spent / 2) + sqrt(spent / 2)) ** 2, rel=1e-12
    )
    r, top = risk, seeger_bound(risk, kl, n, delta)
    back = scipy.special.rel_entr(r, top) + scipy.special.rel_entr(1 - r, 1 - top)
    assert back == pytest.approx(spent, rel=1e-9)


def test_the_bernstein_bound_is_its_formula():
    told = bernstein_upper_bound(0.3, 0.04, 50, 0.1)
    assert told == pytest.approx(0.3 + sqrt(2 * 0.04 * log(20) / 50) + 7 * log(20) / (3 * 49), rel=1e-12)


def test_the_gap_has_the_interval_of_two_means_and_the_one_of_hoeffding():
    torch.manual_seed(0)
    net = nn.Linear(3, 4).double()
    (x, y), (z, t) = ((torch.randn(n, 3).double(), torch.randint(4, (n,))) for n in (70, 40))
    found = generalization_gap(net, (x, y), (z, t), confidence=0.9)
    rows = [nn.functional.cross_entropy(net(a), b, reduction="none").detach().numpy() for a, b in ((x, y), (z, t))]
    wrong = [float((net(a).argmax(1) != b).double().mean()) for a, b in ((x, y), (z, t))]
    assert (found.train, found.test) == pytest.approx([row.mean() for row in rows])
    half = scipy.stats.norm.ppf(0.95) * sqrt(rows[0].var() / 70 + rows[1].var() / 40)
    gap = rows[1].mean() - rows[0].mean()
    assert (found.interval.low, found.interval.high) == pytest.approx((gap - half, gap + half))
    assert found.error_gap == pytest.approx(wrong[1] - wrong[0]) and found.error_gap != 0
    # Hoeffding: P(|mean of m numbers in [0, 1] - its expectation| > t) <= 2 exp(-2 m t^2)
    assert 2 * exp(-2 * 40 * found.certain**2) == pytest.approx(1 - 0.9)


def matrices(net):
    return [part.weight.detach().double().numpy() for part in net if isinstance(part, nn.Linear)]


def test_every_weight_bound_is_its_equation():
    """Equations (1) to (8) of the module, in numpy, from the weights and inputs alone."""
    torch.manual_seed(0)
    net, start = (nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)) for _ in "ab")
    x = torch.randn(90, 3)
    y = net(x).argmax(1)
    y[:20] = (y[:20] + 1) % 3  # some labels are wrong: gamma is then a quantile further up
    z, t = torch.randn(50, 3), torch.randint(3, (50,))
    found = generalization_bounds(net, (x, y), test=(z, t), start=start)
    logits = net(x).detach().double().numpy()
    own = logits[np.arange(90), y]
    others = np.where(np.eye(3, dtype=bool)[y], -np.inf, logits).max(1)
    error = float(np.mean(own <= others))
    gamma = float(np.quantile(own - others, (1 + error) / 2))
    assert found.train_error == pytest.approx(error) and error == pytest.approx(20 / 90)
    assert found.margin == pytest.approx(gamma, rel=1e-5)
    ws, before = matrices(net), matrices(start)
    tops = [np.linalg.norm(w, 2) for w in ws]
    scale, n = float(x.norm(dim=1).max()) / gamma, 90
    squares = [w**2 for w in ws]
    weights = sum(p.numel() for p in net.parameters())
    moved = [np.linalg.norm(w - b, axis=1).sum() for w, b in zip(ws, before, strict=True)]
    complexity = np.prod(tops) * sum((m / s) ** (2 / 3) for m, s in zip(moved, tops, strict=True)) ** 1.5
    rows = sum((np.abs(w).sum(1) ** 2).sum() / s**2 for w, s in zip(ws, tops, strict=True))
    units = sum(len(w) * q.sum() / s**2 for w, q, s in zip(ws, squares, tops, strict=True))
    expected = {
        "rows": scale * np.prod([np.abs(w).sum(1).max() for w in ws]) / sqrt(n),
        "frobenius": scale * np.prod([np.linalg.norm(w) for w in ws]) / sqrt(n),
        "spectral-1": scale * np.prod(tops) * sqrt(rows) / sqrt(n),
        "spectral-F": scale * np.prod(tops) * sqrt(units) / sqrt(n),
        "spectral": complexity * float(x.norm()) / (gamma * n),
        "parameters": sqrt(weights * 3 * log(weights) / n),
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, rel=1e-4), name
    margins = output_margins(net, (x, y), start=start)
    np.testing.assert_allclose(margins.values, own - others, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        margins.normalized, (own - others) * n / (complexity * float(x.norm())), rtol=1e-4, atol=1e-9
    )
    assert spectral_complexity(margins.layers) == pytest.approx(complexity, rel=1e-5)
    wrong = int((net(z).argmax(1) != t).sum())
    seen = scipy.stats.binomtest(wrong, 50).proportion_ci(0.95)
    assert float(found.gap.value) == pytest.approx(wrong / 50 - error)
    assert (found.gap.interval.low, found.gap.interval.high) == pytest.approx((seen.low - error, seen.high - error))


def test_capacities_are_their_formulas():
    assert vc_bound(500, 1e6, 0.1) == pytest.approx(sqrt(32 * (log(1e6) + log(80)) / 500))
    assert massart_bound(50, 1e3) == pytest.approx(sqrt(2 * log(1e3) / 50))
    assert network_vc_dimension(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))) == pytest.approx(
        26 * 2 * log(26)
    )
    x = torch.randn(30, 4, generator=torch.Generator().manual_seed(0)).double()
    for found in (linear_rademacher(x, 1.5, draws=400), kernel_rademacher(x @ x.T, 1.5, draws=400)):
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (20_000, 30))
        sizes = 1.5 * np.linalg.norm(signs @ x.numpy(), axis=1) / 30
        error = sizes.std() / sqrt(400)
        assert found.draws == 400 and abs(found.value - sizes.mean()) < 4 * error
        assert found.interval.width == pytest.approx(2 * 1.96 * error, rel=0.2)  # a deviation of 400 draws: 4 %
        assert found.closed == pytest.approx(1.5 * float(x.norm()) / 30)
        assert found.gap(0.1) == pytest.approx(2 * found.interval.high + 3 * sqrt(log(20) / 60))
    k, y = torch.exp(-torch.cdist(x, x)), x[:, 0].sign()
    norm = float(y @ torch.linalg.solve(k, y))
    bound = min_norm_bound(k, y, delta=0.1)
    assert bound.value == pytest.approx(2 * sqrt(norm / 30) + 3 * sqrt(log(20) / 60)) and not bound.broken
    assert [h.holds for h in min_norm_bound(k + torch.diag(torch.arange(30.0)), 2 * y).hypotheses] == [
        None,
        False,
        False,
    ]


def test_the_learning_curve_begins_at_refits_without_each_row_and_has_their_standard_error():
    """With fewer than 100 rows nothing is corrected, and the interval at twice the rows is the noise of the refits."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(80, 5, generator=g).double()
    y = x[:, 0].sin() + 0.3 * torch.randn(80, generator=g).double()
    k, ridge = torch.exp(-torch.cdist(x, x) / 3), 0.5
    found = learning_curve(k, y, sizes=[160], ridge=ridge)
    centered, errors = y - y.mean(), []
    for i in range(80):
        keep = [j for j in range(80) if j != i]
        made = k[i, keep] @ torch.linalg.solve(k[keep][:, keep] + ridge * torch.eye(79), centered[keep])
        errors.append(float((made - centered[i]) ** 2))
    assert found.now == pytest.approx(np.mean(errors)) and found.spread == pytest.approx(
        float(centered.square().mean())
    )
    assert found.reach >= 160 and found.predicted[0] == pytest.approx(float(found.doubled.value))
    half = 2 * np.std(errors, ddof=1) / sqrt(80) * found.predicted[0] / found.now
    ends = found.doubled.interval
    assert (ends.low, ends.high) == pytest.approx((found.predicted[0] - half, found.predicted[0] + half))
    assert found.gain == pytest.approx(1 - found.predicted[0] / found.now)


NOISY = SuspectLabels(
    tuple(range(2000)), torch.zeros(2000), torch.zeros(2000), 0.08, Interval(0.05, 0.12, 0.998), 0.9, 0.5, 1.0
)


@pytest.mark.parametrize(
    ("name", "noisy", "clean"),
    [
        ("evenness", 1.08, 1.12),
        ("interval", Interval(0.021, 0.1, 0.998), Interval(0.019, 0.1, 0.998)),
        ("accuracy", 0.76, 0.74),
        ("floor", 0.24, 0.26),
        ("ranked", tuple(range(1000)), tuple(range(999))),
    ],
)
def test_labels_are_called_noisy_on_one_side_of_each_threshold_only(name, noisy, clean):
    assert replace(NOISY, **{name: noisy}).noisy and not replace(NOISY, **{name: clean}).noisy
    (finding,) = replace(NOISY, **{name: noisy}).findings
    assert finding.kind == "noisy-labels" and not replace(NOISY, **{name: clean}).findings


def test_labels_are_called_unrelated_within_three_deviations_of_a_guess():
    deviation = sqrt(0.5 * 0.5 / 2000)
    below, above = (replace(NOISY, accuracy=0.5 + c * deviation) for c in (2.9, 3.1))
    assert [f.kind for f in below.findings] == ["labels-unrelated"] and not above.unrelated
    assert (
        not replace(below, guess=0.61, accuracy=0.61).unrelated and replace(below, guess=0.59, accuracy=0.59).unrelated
    )


def test_the_p_value_of_shifted_inputs_is_that_of_mann_and_whitney():
    g = torch.Generator().manual_seed(0)
    x, z = torch.randn(200, 4, generator=g), torch.randn(200, 4, generator=g) + 0.25
    found = data_shift(x, z)
    assert found.examples == 100 and 0.5 < found.auc < 0.75 and found.p_value > 1e-9
    # any two samples without ties have the p-value of their AUC: 100 scores between the others, as many below as told
    below, place = round(found.auc * 100**2), np.arange(100.0)
    counts = np.full(100, below // 100) + (place < below % 100)
    told = scipy.stats.mannwhitneyu(
        counts - 0.5 + place / 1000, place, alternative="greater", method="asymptotic", use_continuity=False
    )
    assert told.statistic == below and found.p_value == pytest.approx(told.pvalue, rel=1e-9)
    assert (
        data_shift(x, z + 50).auc == 1.0 and abs(data_shift(x, torch.randn(200, 4, generator=g)).auc - 0.5) < 4 * 0.041
    )


def test_shares_of_classes_are_compared_by_total_variation_and_chi_squared():
    y, t = torch.tensor([0] * 50 + [1] * 30 + [2] * 20), torch.tensor([0] * 30 + [1] * 45 + [2] * 5)
    found = data_shift((torch.randn(100, 2), y), (torch.randn(80, 2), t))
    table = np.array([[50, 30, 20], [30, 45, 5]])
    assert found.p_classes == pytest.approx(scipy.stats.chi2_contingency(table, correction=False).pvalue, rel=1e-5)
    shares = table / table.sum(1, keepdims=True)
    assert found.classes == pytest.approx(np.abs(shares[0] - shares[1]).sum() / 2)


STRANGE = UnusualTestExamples(20, 15, 10.0, 0.05, 1e-4, (1, 2, 3), False)


@pytest.mark.parametrize(
    ("record", "kinds", "severe"),
    [
        (DataShift(0.56, 0.9e-4, 0, 1, 900), ["train-test-shift"], False),
        (DataShift(0.56, 1.1e-4, 0, 1, 900), [], False),
        (DataShift(0.54, 0.9e-4, 0, 1, 900), [], False),
        (DataShift(0.71, 0.9e-4, 0, 1, 900), ["train-test-shift"], True),
        (DataShift(0.69, 0.9e-4, 0, 1, 900), ["train-test-shift"], False),
        (DataShift(0.5, 1, 0.11, 0.9e-4, 900), ["class-shift"], False),
        (DataShift(0.5, 1, 0.11, 1.1e-4, 900), [], False),
        (DataShift(0.5, 1, 0.09, 0.9e-4, 900), [], False),
        (DataShift(0.5, 1, 0.26, 0.9e-4, 900), ["class-shift"], True),
        (DataShift(0.5, 1, 0.24, 0.9e-4, 900), ["class-shift"], False),
        (DataShift(0.5, 1, 0, 1, 900, replace(STRANGE, p_value=7e-4)), ["train-test-shift"], False),
        (DataShift(0.5, 1, 0, 1, 900, replace(STRANGE, p_value=9e-4)), [], False),
        (DataShift(0.5, 1, 0, 1, 900, replace(STRANGE, excess=0.021)), ["train-test-shift"], False),
        (DataShift(0.5, 1, 0, 1, 900, replace(STRANGE, excess=0.019)), [], False),
        (DataShift(0.5, 1, 0, 1, 900, replace(STRANGE, excess=0.11)), ["train-test-shift"], True),
    ],
)
def test_a_shift_is_told_on_one_side_of_each_threshold_only(record, kinds, severe):
    assert [f.kind for f in record.findings] == kinds
    assert not kinds or (record.findings[0].level.name == "PROBLEM") == severe


def test_copies_with_small_changes_have_the_p_value_of_fisher_times_the_number_of_levels():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(400, 8, generator=g)
    test = torch.cat([torch.randn(92, 8, generator=g), x[:8] + 1e-5])
    found = find_leaks(x, test)
    assert (found.exact, found.near, found.p_exact) == (0, 8, 1.0)
    # no training example is among the lowest eighth of a percent: 8 marked ones among 500, all of them in test
    one = scipy.stats.hypergeom.sf(7, 500, 8, 100)
    assert found.p_near == pytest.approx(3 * one, rel=1e-9)


def test_equal_examples_have_the_p_value_of_fisher():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(300, 8, generator=g)
    x[:6] = x[6:12]  # twelve training examples have an equal one
    found = find_leaks(x, torch.cat([torch.randn(80, 8, generator=g), x[100:120]]))
    assert found.exact == 20 and found.expected == pytest.approx(12 / 300 * 100)
    assert found.p_exact == pytest.approx(scipy.stats.hypergeom.sf(19, 400, 32, 100), rel=1e-9)
    assert found.share == pytest.approx(0.2) and found.copies[0] == (80, 100)


@pytest.mark.parametrize(("changes", "kinds"), [({}, []), ({"p_exact": 0.9e-4}, ["leaked-test"]), ({"p_exact": 1.1e-4}, []),
    ({"p_near": 0.9e-4}, ["leaked-test"]), ({"p_near": 1.1e-4}, []), ({"rich": True}, ["leaked-test"]),
    ({"rich": True, "exact": 1}, []), ({"rich": True, "test": 290}, ["leaked-test"]), ({"rich": True, "test": 310}, [])])  # fmt: skip
def test_a_leak_is_told_on_one_side_of_each_threshold_only(changes, kinds):
    from gnomon.checks.data.leaks import DataLeaks

    record = replace(DataLeaks(3, 0, 100, 1.0, 1.0, 1.0, False, ((1, 2),)), **changes)
    assert [f.kind for f in record.findings] == kinds


def test_unusual_examples_are_counted_as_the_module_says():
    """Distances by hand, counts at each size k, and the exact law of T from all subsets."""
    from itertools import combinations

    g = torch.Generator().manual_seed(0)
    x, of = torch.rand(8, 1, generator=g), 1.5 * torch.rand(8, 1, generator=g)
    found = unusual_test_examples(x, None, of, None)
    a, b = x[:, 0].tolist(), of[:, 0].tolist()
    s = [min(abs(p - q) for j, q in enumerate(a) if j != i) for i, p in enumerate(a)]
    s += [min(abs(p - q) for q in a) for p in b]
    order = sorted(range(16), key=lambda i: -s[i])
    count = sum(i >= 8 for i in order[:8])  # the only k is 8
    assert (found.farthest, found.test, found.expected) == (8, count, 4.0)
    assert found.excess == pytest.approx(count / 8 - (8 - count) / 8)
    subsets = list(combinations(range(16), 8))
    p = sum(sum(i < 8 for i in some) >= count for some in subsets) / len(subsets)
    assert found.p_value == pytest.approx(p, abs=4 * sqrt(p / 1e5) + 2e-5)
    assert found.first == tuple(i - 8 for i in order if i >= 8)[:10]
