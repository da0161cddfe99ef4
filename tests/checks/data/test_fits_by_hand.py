"""Fits of laws, temperatures, kernels and random features, computed again with numpy and scipy."""

from dataclasses import replace
from math import exp

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
import torch
from torch import nn

from gnomon.bounds import kernel_influence
from gnomon.bounds.capacity import linear_rademacher
from gnomon.bounds.memorization import ForgettingEvents, forgetting_events, memorization, network_rademacher
from gnomon.bounds.pacbayes import prior
from gnomon.bounds.pacbayes.inequalities import CONSTANTS
from gnomon.bounds.pacbayes.prior import LearnedPrior
from gnomon.bounds.scaling import _line, scaling_law
from gnomon.checks import find_leaks, input_conditioning
from gnomon.checks.data.category_codes import category_code_findings
from gnomon.checks.data.columns import column_statistics
from gnomon.checks.data.conflicts import _is_contradicted
from gnomon.checks.data.kernel_votes import RIDGES, leave_one_out_kernel_predictions
from gnomon.checks.data.rows import bits_per_example, example_rows, nearest_distances, random_features
from gnomon.checks.data.shift import _classes, _classifier_auc, _of_one_size
from gnomon.checks.data.targets import class_findings, regression_target_findings
from gnomon.core.inputs.batch import Batch
from gnomon.decisions import best_temperature, distill
from gnomon.decisions.temperature import distillation_loss
from gnomon.training import train

SIZES = [10.0, 20.0, 50.0, 90.0, 200.0, 400.0]


def test_lines_are_those_of_least_squares_with_one_degree_less():
    """The floor is fitted as well, so that the residuals have n - 3 degrees of freedom."""
    x, y = np.log(SIZES), np.array([1.0, 0.7, -0.2, -0.1, -1.0, -1.2])
    fit = scipy.stats.linregress(x, y)
    wanted = fit.slope, fit.intercept, fit.stderr * (4 / 3) ** 0.5
    assert _line(torch.tensor(x), torch.tensor(y)) == pytest.approx(wanted)


def test_a_scaling_law_is_the_best_of_all_floors():
    errors = [2 * s**-0.7 + 0.05 + 0.004 * (-1) ** i for i, s in enumerate(SIZES)]
    law = scaling_law(SIZES, errors)
    x, e = np.log(SIZES), np.array(errors)
    rows = []
    for c in min(errors) * np.linspace(0, 0.99, 200):
        fit = scipy.stats.linregress(x, np.log(e - c))
        loss = ((np.log(np.exp(fit.intercept + fit.slope * x) + c) - np.log(e)) ** 2).sum()
        rows.append((loss, c, fit))
    loss, floor, fit = min(rows, key=lambda row: row[0])
    assert (law.floor, law.exponent, law.scale) == pytest.approx((floor, -fit.slope, exp(fit.intercept)))
    assert law.scatter == pytest.approx((loss / 3) ** 0.5)
    allowed = loss * (1 + scipy.stats.f.ppf(0.95, 1, 3) / 3)
    slopes = [-row[2].slope for row in rows if row[0] <= allowed + 1e-18]
    half = scipy.stats.t.ppf(0.975, 3) * fit.stderr * (4 / 3) ** 0.5
    interval = law.exponent_interval
    assert (interval.low, interval.high) == pytest.approx((min(slopes) - half, max(slopes) + half))
    for size in (5.0, 800.0):
        told = replace(law, reason="").at(size)
        value = law.scale * size**-law.exponent + floor
        laws = [exp(row[2].intercept) * size ** row[2].slope + row[1] for row in rows if row[0] <= allowed + 1e-18]
        far = (np.log(size) - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
        width = scipy.stats.t.ppf(0.975, 3) * law.scatter * (1 + 1 / len(x) + far) ** 0.5
        low, high = min(laws) * exp(-width), max(laws) * exp(width)
        assert float(told.value) == pytest.approx(value)
        assert (told.interval.low, told.interval.high) == pytest.approx((low, high))


def test_a_law_is_read_up_to_four_times_the_last_point():
    law = scaling_law([1, 2, 4, 8, 16], [1.0, 0.5, 0.25, 0.125, 0.0625])
    assert float(law.at(64).value) == pytest.approx(1 / 64)
    with pytest.raises(ValueError, match="at most 4 times"):
        law.at(64.1)


@pytest.mark.parametrize(
    ("sizes", "errors", "trusted"),
    [
        ([1, 2, 4, 6, 8], [1, 1 / 2, 1 / 4, 1 / 6, 1 / 8], True),
        ([1, 2, 4, 6, 7.9], [1, 1 / 2, 1 / 4, 1 / 6, 1 / 7.9], False),  # a range below 8
        ([1, 2, 4, 8], [1, 1 / 2, 1 / 4, 1 / 8], False),  # fewer than five
        ([1, 2, 4, 6, 8], [1, 2, 4, 6, 8], False),  # it grows
    ],
)
def test_laws_are_trusted_on_one_side_of_each_threshold_only(sizes, errors, trusted):
    assert scaling_law(sizes, errors).trusted == trusted


def test_the_best_temperature_and_its_interval_are_those_of_the_likelihood():
    g = torch.Generator().manual_seed(0)
    f = 3 * torch.randn(60, 4, generator=g).double()
    y = torch.distributions.Categorical(logits=f / 2).sample()
    y[:10] = (y[:10] + 1) % 4
    found = best_temperature(f, y)
    a, t = f.numpy(), y.numpy()

    def loss(s):
        return -np.mean(scipy.special.log_softmax(a / s, 1)[np.arange(60), t])

    best = scipy.optimize.minimize_scalar(loss, bounds=(0.05, 50), method="bounded", options={"xatol": 1e-10})
    assert found.value == pytest.approx(best.x, rel=1e-4) and found.after == pytest.approx(best.fun)
    assert found.before == pytest.approx(loss(1.0)) and found.examples == 60
    top = best.fun + scipy.stats.chi2.ppf(0.95, 1) / 120
    ends = [scipy.optimize.brentq(lambda s: loss(s) - top, *side) for side in ((0.1, best.x), (best.x, 40))]
    assert (found.interval.low, found.interval.high) == pytest.approx(ends, rel=1e-5)
    assert bool(found.findings) == (ends[0] > 1)
    if found.findings:
        assert found.findings[0].false_alarm == pytest.approx(0.025)


def test_distillation_is_cross_entropy_at_a_temperature():
    g = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 5, 3, generator=g).double()
    p, q = (np.exp(v / 3) / np.exp(v / 3).sum(1, keepdims=True) for v in (a.numpy(), b.numpy()))
    assert float(distillation_loss(a, b, 3.0)) == pytest.approx(-(q * np.log(p)).sum(1).mean())
    torch.manual_seed(0)
    teacher, student, x = nn.Linear(2, 3), nn.Linear(2, 3), torch.randn(20, 2, generator=g)
    found = distill(teacher, student, x, steps=3)
    made, told = found.student(x).detach(), teacher(x).detach()
    divergence = nn.functional.kl_div(made.log_softmax(1), told.softmax(1), reduction="batchmean")
    assert found.divergence == pytest.approx(float(divergence), rel=1e-4)
    assert found.agreement == pytest.approx(float((made.argmax(1) == told.argmax(1)).double().mean()))


@pytest.mark.parametrize("most", [40, 15, 9])
def test_votes_are_means_over_refits_without_the_row(most):
    """Each part is fitted alone; a row is told by its own part without it, and by the part before."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(40, 2, generator=g).double()
    y = torch.stack([x[:, 0].sin(), x[:, 1] + 3], 1) + 0.2 * torch.randn(40, 2, generator=g).double()
    n = 30
    found = leave_one_out_kernel_predictions(x, y, examples_per_fit=most, max_fitted=n, seed=5)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(5))
    parts = np.array_split(order.numpy(), -(-n // most))
    a, t = x.numpy(), y.numpy()
    distance = np.linalg.norm(a[:, None] - a[None], axis=2)
    k = np.exp(-distance / distance[np.ix_(order, order)].mean())

    def told(chosen, of, ridge):
        mean = t[chosen].mean(0)
        return (
            k[np.ix_(of, chosen)]
            @ np.linalg.solve(k[np.ix_(chosen, chosen)] + ridge * np.eye(len(chosen)), t[chosen] - mean)
            + mean
        )

    def left_out(chosen, i, ridge):
        """The mean is that of all rows; the weights are fitted without row i."""
        keep = chosen[chosen != i]
        mean = t[chosen].mean(0)
        return k[i, keep] @ np.linalg.solve(k[np.ix_(keep, keep)] + ridge * np.eye(len(keep)), t[keep] - mean) + mean

    ridge = min(RIDGES, key=lambda r: np.mean([(left_out(order.numpy(), i, r) - t[i]) ** 2 for i in range(n)]))
    wanted = np.zeros((40, 2))
    for j, part in enumerate(parts):
        for i in part:
            own = left_out(part, i, ridge)
            wanted[i] = own if len(parts) == 1 else (own + told(parts[j - 1], [i], ridge)[0]) / 2
        wanted[n:] += told(part, list(range(n, 40)), ridge) / len(parts)
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-9)


def test_influence_is_the_prediction_minus_the_one_without_the_row():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    k, cross, y = x @ x.T, z @ x.T, rng.normal(size=(7, 2))
    found = kernel_influence(*(torch.tensor(v) for v in (k, y, cross)), ridge=0.4)
    whole = cross @ np.linalg.solve(k + 0.4 * np.eye(7), y)
    for i in range(7):
        keep = np.arange(7) != i
        rest = cross[:, keep] @ np.linalg.solve(k[np.ix_(keep, keep)] + 0.4 * np.eye(6), y[keep])
        np.testing.assert_allclose(found[:, i].numpy(), whole - rest, atol=1e-9)


def test_random_features_are_rectified_combinations_of_centered_rows():
    x = 5 + 3 * torch.randn(6, 9, generator=torch.Generator().manual_seed(1))
    for width, linear in ((18, 9), (8, 4)):
        found = random_features(x, width=width, seed=2)
        z = (x - x.mean(0)).numpy()
        z = z / np.sqrt((z**2).mean()) / 3.0  # nine columns
        g = torch.Generator().manual_seed(2)
        w, b = torch.randn(9, width, generator=g).numpy(), torch.randn(width, generator=g).numpy()
        hidden = np.maximum(z @ w + 0.5 * b, 0) * np.sqrt(2 / width)
        np.testing.assert_allclose(found[:, linear:].numpy(), hidden, atol=1e-5)
        plain = z if linear == 9 else z @ torch.randn(9, 4, generator=g).numpy()
        np.testing.assert_allclose(found[:, :linear].numpy(), plain, atol=1e-5)


def test_capacity_is_the_mean_of_bits_times_the_number_of_columns():
    x = torch.tensor([[0.0, 1.0, 5.0], [1.0, 1.0, 6.0], [2.0, 1.0, 5.0], [3.0, 1.0, 5.0]])
    assert bits_per_example(x) == pytest.approx(2 + 0 + 1)
    wide = torch.stack([torch.zeros(300), torch.arange(300.0) % 2, torch.zeros(300), torch.zeros(300)])
    assert bits_per_example(wide) == pytest.approx(
        float(torch.linspace(0, 299, 200).long().remainder(2).sum()) / 200 * 300
    )


def test_the_nearest_two_rows_are_those_of_all_distances():
    g = torch.Generator().manual_seed(0)
    x, of = torch.randn(30, 5, generator=g), torch.randn(8, 5, generator=g)
    d, i = nearest_distances(x, of)
    every = np.linalg.norm(of.numpy()[:, None] - x.numpy()[None], axis=2)
    np.testing.assert_allclose(d.numpy(), np.sort(every, 1)[:, :2], rtol=1e-5)
    assert i.tolist() == every.argmin(1).tolist()
    own = torch.tensor([3, 7])
    d, i = nearest_distances(x, x[own], own_rows=own)
    every = np.linalg.norm(x[own].numpy()[:, None] - x.numpy()[None], axis=2)
    np.testing.assert_allclose(d.numpy(), np.sort(every, 1)[:, 1:3], rtol=1e-5)
    assert nearest_distances(x[:1], of[:2])[0][:, 1].tolist() == [float("inf")] * 2


def test_a_classifier_of_train_and_test_has_its_auc():
    g = torch.Generator().manual_seed(0)
    x = torch.cat([torch.randn(21, 3, generator=g), torch.randn(21, 3, generator=g) + 0.7])
    auc, half = _classifier_auc(x, 21, 4)
    f = random_features(x, width=300, seed=4).double().numpy()
    order = torch.randperm(21, generator=torch.Generator().manual_seed(4)).numpy()
    fit, held = order[:10], order[10:]
    rows = np.concatenate([fit, fit + 21])
    z = f - f[rows].mean(0)
    gram, sign = z[rows].T @ z[rows], np.repeat([-1.0, 1.0], 10)
    w = np.linalg.solve(gram + 0.01 * np.trace(gram) / len(gram) * np.eye(len(gram)), z[rows].T @ sign)
    scores = z @ w
    wanted = np.mean([[b > a for b in scores[held + 21]] for a in scores[held]])
    assert half == 11 and auc == pytest.approx(wanted) and 0.55 < auc < 1


def test_inputs_of_one_size_may_have_other_means_and_spreads():
    z = torch.tensor([-1.0, 1.0] * 10)[:, None]
    for factor, same in ((1.96, True), (2.04, False)):
        assert _of_one_size(z, factor * z) == same and _of_one_size(factor * z, z) == same
    for shift, same in ((0.98, True), (1.02, False)):
        assert _of_one_size(z, z + shift) == same and _of_one_size(z + shift, z) == same


def test_shares_of_a_single_class_do_not_differ():
    assert _classes(torch.zeros(5).long(), torch.zeros(9).long()) == (0.0, 1.0)
    total, p = _classes(torch.tensor([0, 0, 1, 2]), torch.tensor([2, 2, 2]))
    assert total == pytest.approx(3 / 4)
    table = np.array([[2, 1, 1], [0, 0, 3]])
    assert p == pytest.approx(scipy.stats.chi2_contingency(table, correction=False).pvalue)


@pytest.mark.parametrize(
    ("spread", "center", "found"),
    [(0.031, 0, False), (0.029, 0, True), (29.0, 0, False), (31.0, 0, True), (1.0, 9.9, False), (1.0, 10.1, True),
     (1.0, -10.1, True), (0.05, 0.99, False), (0.05, 1.01, True)],
)  # fmt: skip
def test_targets_are_judged_on_one_side_of_each_threshold_only(spread, center, found):
    y = center + spread * torch.tensor([-1.0, 1.0] * 10)
    told = regression_target_findings(y)
    assert bool(told) == found
    if found:
        assert [float(v.value) for v in told[0].evidence] == pytest.approx([spread, center], abs=1e-5)
        assert f"{(spread**2 + center**2 + 1) / spread**2:.2g} times" in told[0].message


def test_several_targets_are_judged_by_their_root_mean_square():
    y = torch.tensor([[-1.0, 40.0], [1.0, 46.0], [-1.0, 40.0], [1.0, 46.0]])
    (found,) = regression_target_findings(y)
    size, center = np.sqrt((1 + 9) / 2), np.sqrt((0 + 43**2) / 2)
    assert [float(v.value) for v in found.evidence] == pytest.approx([size, center])


@pytest.mark.parametrize(
    ("counts", "found"),
    [([76, 12, 12], []), ([84, 8, 8], ["WARNING"]), ([83, 9, 8], []), ([91, 5, 4], ["WARNING"]), ([40, 2], ["WARNING"]), ([39, 20, 2], []),
     ([40, 30, 2], ["WARNING"])],
)  # fmt: skip
def test_classes_are_uneven_on_one_side_of_each_threshold_only(counts, found):
    y = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    assert [f.level.name for f in class_findings(y, len(counts))] == found


def test_missing_classes_are_counted_in_test():
    found = class_findings(torch.tensor([0, 0, 2]), 5, torch.tensor([0, 1, 1, 2, 4, 4, 4, 4]))
    assert "Class 1 has no training example; 75.0% of" in found[0].message
    assert float(found[0].evidence[0].value) == 2


def test_examples_never_learned_are_ranked_first():
    found = ForgettingEvents(torch.tensor([0, 3, 1, 0]), torch.tensor([True, True, True, False]), 10)
    assert found.ranked == (3, 1, 2, 0) and found.never == pytest.approx(1 / 4)


def test_random_labels_are_counted_at_forty_looks():
    x = torch.eye(6)
    found = memorization(lambda seed: nn.Linear(6, 3), (x, torch.tensor([0, 1, 2, 0, 1, 2])), steps=80, lr=1e-9)
    assert found.steps == tuple(range(0, 81, 2)) and found.classes == 3
    assert len(set(found.true)) == 1 == len(set(found.random))  # nothing is learned at this rate


class Fixed(nn.Module):
    """Always the same answers, whatever it is trained to."""

    def __init__(self, answers):
        super().__init__()
        self.answers, self.idle = torch.nn.functional.one_hot(answers, 2).float(), nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.answers[: len(x)] + 0 * self.idle


def test_the_complexity_of_networks_has_the_interval_of_student():
    answers = torch.tensor([0, 0, 1, 1, 0, 1, 0])
    found = network_rademacher(lambda seed: Fixed(answers), torch.randn(7, 2), draws=4, steps=1, seed=3)
    signs = [torch.randint(2, (7,), generator=torch.Generator().manual_seed(3 + k)) for k in range(4)]
    reached = [2 * float((s == answers).double().mean()) - 1 for s in signs]
    half = scipy.stats.t.ppf(0.975, 3) * np.std(reached, ddof=1) / 2
    assert found.value == pytest.approx(np.mean(reached)) and len(set(reached)) > 1
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (np.mean(reached) - half, np.mean(reached) + half)
    )


@pytest.mark.parametrize(("agree", "found"), [(158, True), (159, False)])
def test_pairs_contradict_each_other_if_they_agree_less_than_chance(agree, found):
    """400 pairs, half of which agree by chance: four deviations of 10, and one more pair, below 200."""
    labels = [0, 1] * 400
    groups = [[2 * i, (2 * i + 2) % 800 if i < agree else 2 * i + 1] for i in range(400)]
    assert _is_contradicted(groups, labels) == found


def test_a_prior_is_trained_for_its_epochs(monkeypatch):
    asked = {}

    def record(start, data, **known):
        asked.update(known)
        return train(start, data, steps=1)

    monkeypatch.setattr(prior, "train", record)
    data = Batch(torch.randn(5050, 2), torch.zeros(5050).long())
    LearnedPrior().center(nn.Linear(2, 2), data, seed=3)
    assert (asked["steps"], asked["batch"], asked["seed"], asked["optimizer"].lr) == (510, 100, 3, 2e-3)
    assert LearnedPrior().deviation == 0.1 and LearnedPrior(share=0.3).used(11) == 3


def test_forgetting_looks_at_forty_steps_of_the_run():
    found = forgetting_events(nn.Linear(4, 2), (torch.eye(4), torch.tensor([0, 1, 0, 1])), steps=80, batch=4, lr=1e-9)
    assert found.steps == 80 and found.events.tolist() == [0] * 4


def test_tokens_are_coded_by_signs_with_and_without_their_places():
    """Rows of the same tokens in another order share the second half, and codes have the length of their signs."""
    x = torch.tensor([[3, 5, 5], [5, 3, 5], [8, 8, 8]])
    made = example_rows(x, seed=1)
    assert made.shape == (3, 128) and torch.equal(made[0, 64:], made[1, 64:])
    assert not torch.equal(made[0, :64], made[1, :64])
    assert set((8 * made[2].abs()).unique().tolist()) <= {1.0, 3.0}  # sums of three signs, over sqrt(64)
    assert float((made[2, 64:] * 8).abs().min()) == 3.0  # without places three equal signs add up
    assert bool(((8 * made) % 2 == 1).all())


def test_the_prior_has_an_example_and_catoni_its_constants():
    assert LearnedPrior(share=0.01).used(20) == 1
    assert CONSTANTS == (0.3, 0.5, 0.8, 1.2, 1.8, 2.7, 4.0)


def test_draws_of_signs_have_the_standard_error_of_their_mean():
    x = torch.randn(25, 2, generator=torch.Generator().manual_seed(0)).double()
    found = linear_rademacher(x, draws=3, seed=4)
    g = torch.Generator().manual_seed(4)
    signs = 2.0 * torch.randint(2, (3, 25), generator=g).double().numpy() - 1
    sizes = np.linalg.norm(signs @ x.numpy(), axis=1) / 25
    assert found.value == pytest.approx(sizes.mean())
    assert found.interval.width == pytest.approx(2 * 1.96 * sizes.std(ddof=1) / 3**0.5)


def test_too_few_examples_in_either_set_have_no_leaks():
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    assert not find_leaks(x, x[:3]).copies and not find_leaks(x[:3], x).copies


@pytest.mark.parametrize(
    ("spread", "columns", "word"),
    [
        (0.099, 2, "small"),
        (0.101, 2, None),
        (9.9, 2, None),
        (10.1, 2, "large"),
        (0.05, 200, "small"),
        (0.05, 201, None),
    ],
)
def test_the_spread_of_all_columns_is_near_one(spread, columns, word):
    x = spread * torch.tensor([-1.0, 1.0] * 100)[:, None] * (1 + 1e-9 * torch.arange(columns))
    x[:, 1::2] *= torch.tensor([1.0, 1.0, -1.0, -1.0] * 50)[:, None]
    found = [f for f in column_statistics(x.double()).findings if f.kind == "input-scale" or "word" in f.values]
    assert [f.values["word"] for f in found] == ([] if word is None else [word])


@pytest.mark.parametrize(("spread", "constant"), [(0.9e-12, 1), (1.2e-12, 0)])
def test_a_column_is_constant_below_a_trillionth_of_its_size(spread, constant):
    sides = torch.tensor([-1.0, 1.0, 1.0, -1.0], dtype=torch.float64)
    x = torch.stack([1 + spread * sides, torch.arange(4).double()], 1)
    assert input_conditioning(x).constant == constant


def test_codes_are_sought_in_every_column():
    g = torch.Generator().manual_seed(0)
    code = torch.randint(0, 30, (900,), generator=g)
    level = torch.randn(30, generator=g)[code][:, None]
    for place in range(3):
        x = torch.randn(900, 3, generator=g)
        x[:, place] = code.float()
        assert [f.values["column"] for f in category_code_findings(x, level, classes=0)] == [place]
