"""Targets that go in a circle, span powers of ten, were rounded, are padding or part of the input."""

import math

import pytest
import torch
from torch.nn import functional as F

from gnomon.checks.data.compared_labels import compare_labels
from gnomon.checks.data.leaked_target import leaked_target_findings
from gnomon.checks.data.skewed_targets import skewed_target_findings
from gnomon.checks.data.standardized_rows import standardized_row_findings
from gnomon.checks.data.target_shift import target_shift_findings
from gnomon.checks.data.token_numbers import token_number_findings
from gnomon.checks.data.void_labels import padding_label, placeholder_label_findings
from gnomon.checks.data.wrapped_targets import wrapped_target_findings


def circle(n, noise, seed):
    g = torch.Generator().manual_seed(seed)
    turn = torch.rand(n, generator=g)
    point = torch.stack(((2 * math.pi * turn).cos(), (2 * math.pi * turn).sin()), 1)
    return point + noise * torch.randn(n, 2, generator=g), turn, g


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_an_angle_is_recognized_by_its_ends(noise):
    x, turn, g = circle(600, noise, 0)
    (found,) = wrapped_target_findings(torch.cat((x, 0.1 * torch.randn(600, 2, generator=g)), 1), 360 * turn)
    assert found.kind == "circular-targets" and found.values["share"] > 0.5


def test_smooth_unrelated_and_folded_targets_are_no_circles():
    x, turn, g = circle(600, 0.05, 1)
    assert not wrapped_target_findings(x, x[:, 0] + 0.1 * torch.randn(600, generator=g))
    assert not wrapped_target_findings(x, torch.rand(600, generator=g))
    assert not wrapped_target_findings(x, (turn - 0.5).abs())
    assert not wrapped_target_findings(x, (4 * turn).floor())  # few different values are classes


@pytest.mark.full
def test_no_smooth_function_looks_like_a_circle():
    for seed in range(500):
        g = torch.Generator().manual_seed(seed)
        x, w = torch.randn(400, 4, generator=g), torch.randn(4, generator=g)
        y = (x @ w).sin() + 0.5 * x[:, 0] * x[:, 1] + 0.3 * torch.randn(400, generator=g)
        assert not wrapped_target_findings(x, y), seed


def test_targets_over_powers_of_ten_are_skewed_and_usual_ones_are_not():
    g = torch.Generator().manual_seed(0)
    z = torch.randn(500, generator=g)
    assert skewed_target_findings((2.5 * z).exp())[0].values["share"] > 0.95
    assert not skewed_target_findings((0.8 * z).exp()) and not skewed_target_findings((2.5 * z).exp() - 1)
    heavy = torch.distributions.StudentT(1.1).sample((500,)).abs() + 1e-3
    assert all(found.kind == "skewed-targets" for found in skewed_target_findings(heavy))
    assert not skewed_target_findings(torch.poisson(torch.full((500,), 3.0), generator=g) + 1)


@pytest.mark.full
def test_exponential_and_lognormal_targets_are_not_skewed():
    for seed in range(200):
        g = torch.Generator().manual_seed(seed)
        assert not skewed_target_findings(torch.rand(300, generator=g).log().neg() + 1e-6), seed
        assert not skewed_target_findings(torch.randn(300, generator=g).exp()), seed


def test_whole_training_targets_beside_fractions_are_cut_off():
    y = torch.randn(300, 1, generator=torch.Generator().manual_seed(0))
    (found,) = target_shift_findings((3 * y).trunc()[:200], 3 * y[200:])
    assert found.message.startswith("All 200 training targets are whole numbers, but 100% of the test targets are not.")
    assert not target_shift_findings((3 * y).trunc()[:200], (3 * y[200:]).trunc())
    assert not target_shift_findings(y[:200], y[200:])


def test_a_window_that_holds_its_target_leaks_it():
    x = torch.randn(200, 12, 2, generator=torch.Generator().manual_seed(0))
    (found,) = leaked_target_findings(x, x[:, 7, 1], classes=0)
    assert found.values["place"] == "7, 1" and found.values["share"] == 1.0
    walk = x.cumsum(1)
    assert not leaked_target_findings(walk[:, :-1], walk[:, -1, 0], classes=0)


def test_padding_at_either_end_is_recognized_and_usual_tokens_are_not():
    g = torch.Generator().manual_seed(0)
    y = torch.randint(1, 9, (50, 8), generator=g)
    pad = torch.zeros(50, 12, dtype=torch.long)
    assert padding_label(torch.cat((y, pad), 1)) == 0 == padding_label(torch.cat((pad, y), 1))
    assert padding_label(torch.cat((y, pad[:, :4]), 1)) is None  # a third is not most
    assert padding_label(torch.randint(0, 2, (50, 20), generator=g)) is None
    assert padding_label(torch.zeros(50, 20, dtype=torch.long)) == 0
    scores = torch.zeros(50, 9, 20)
    (found,) = placeholder_label_findings(F.cross_entropy, scores, torch.cat((y, pad), 1))
    assert found.values == {"label": 0, "share": 0.6}
    ignoring = placeholder_label_findings(
        lambda f, t: F.cross_entropy(f, t, ignore_index=0), scores, torch.cat((y, pad), 1)
    )
    assert ignoring == ()


def test_renumbered_tokens_have_the_same_frequencies_in_another_order():
    g = torch.Generator().manual_seed(0)
    share = torch.arange(1.0, 41.0) ** 2
    x = torch.multinomial(share, 8000, replacement=True, generator=g).reshape(400, 20)
    other = torch.randperm(40, generator=g)
    (found,) = token_number_findings(x[:250], other[x[250:]])
    assert found.kind == "tokens-renumbered" and found.values["apart"] > 0.25 > found.values["ordered"] / 0.4
    assert token_number_findings(x[:250], x[250:]) == ()
    flat = torch.multinomial(share.sqrt().sqrt(), 3000, replacement=True, generator=g).reshape(150, 20)
    assert token_number_findings(x[:250], flat) == ()  # other texts, not other numbers


def test_rows_with_their_own_mean_and_deviation_are_recognized():
    x = torch.randn(50, 12, generator=torch.Generator().manual_seed(0))
    for correction in (0, 1):
        rows = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True, correction=correction)
        assert standardized_row_findings(rows)[0].values == {"rows": 50, "columns": 12}
    assert standardized_row_findings((x - x.mean(0)) / x.std(0)) == ()
    assert standardized_row_findings(x - x.mean(1, keepdim=True)) == ()


def test_test_labels_in_another_order_are_recognized_and_hard_ones_are_not():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(700, 5, generator=g)
    y = (x[:, 0] + 0.3 * torch.randn(700, generator=g) > 0).long()
    order = torch.randperm(250, generator=g)
    shuffled = compare_labels(x[:450], y[:450], x[450:], y[450:][order])
    assert shuffled.unrelated_in_test and "Test targets do not match their inputs" in shuffled.findings[0].message
    assert not compare_labels(x[:450], y[:450], x[450:], y[450:]).unrelated_in_test
    # numbered the other way around: a model of test examples predicts them
    assert not compare_labels(x[:450], y[:450], x[450:], 1 - y[450:]).unrelated_in_test
    noise = torch.randint(0, 2, (700,), generator=g)
    assert not compare_labels(x[:450], noise[:450], x[450:], noise[450:]).unrelated_in_test
