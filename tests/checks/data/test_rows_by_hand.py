"""Rows, kernels, neighbors and columns of data, each number by hand or by a plain loop."""

from math import exp, log2, sqrt

import numpy as np
import pytest
import torch

from gnomon.checks.data import compared_labels as labels_module
from gnomon.checks.data import rows as made
from gnomon.checks.data.columns import column_statistics
from gnomon.checks.data.compared_labels import LabelComparison
from gnomon.checks.data.input_relation import input_kernel
from gnomon.checks.data.leaks import DataLeaks


def test_columns_of_a_table_are_standardized_and_constant_ones_centered():
    x = torch.tensor([[1.0, 5.0], [3.0, 5.0], [8.0, 5.0]])
    spread = float(np.std([1, 3, 8]))
    wanted = [[(v - 4) / spread, 0.0] for v in (1, 3, 8)]
    assert torch.allclose(made.example_rows(x), torch.tensor(wanted))
    images = torch.arange(8.0).reshape(2, 1, 2, 2)
    assert torch.equal(made.example_rows(images), images.reshape(2, 4))  # pixels share one scale


def test_codes_of_tokens_count_equal_tokens_in_and_out_of_place():
    """Inner products of codes: places with equal tokens, and pairs of equal tokens, up to noise 1 / sqrt(64)."""
    tokens = torch.tensor([[0, 1, 2, 3], [0, 1, 3, 2], [4, 5, 6, 7], [0, 1, 2, 3]])
    found = torch.stack([made.example_rows(tokens, seed=seed) for seed in range(400)])
    half = found.shape[2] // 2
    placed, bag = found[:, :, :half], found[:, :, half:]
    assert torch.equal(found[:, 0], found[:, 3])
    for part, wanted in ((placed, [4, 2, 0]), (bag, [4, 4, 0])):
        products = torch.einsum("sd,sjd->sj", part[:, 0], part[:, :3]).mean(0)
        assert products.tolist() == pytest.approx(wanted, abs=0.15)
    seed = torch.Generator().manual_seed(0)
    values = 2.0 * torch.randint(0, 2, (8, half), generator=seed) - 1
    places = 2.0 * torch.randint(0, 2, (4, half), generator=seed) - 1
    by_hand = sum(values[t] * places[j] for j, t in enumerate([0, 1, 3, 2])) / sqrt(half)
    assert torch.allclose(placed[0, 1], by_hand)
    assert torch.allclose(bag[0, 1], sum(values[t] for t in range(4)) / sqrt(half))


def test_capacity_is_the_sum_of_bits():
    x = torch.tensor([[0.0, 1.0, 7.0], [1.0, 1.0, 8.0], [2.0, 1.0, 7.0], [3.0, 1.0, 7.0]])
    assert made.bits_per_example(x) == pytest.approx(log2(4) + 0 + log2(2))
    assert made.bits_per_example((x, torch.tensor([[0], [1], [2], [2]]))) == pytest.approx(3 + log2(3))
    wide = torch.zeros(2, 1000)
    wide[1] = 1.0
    assert made.bits_per_example(wide) == pytest.approx(1000.0)


def test_random_features_by_hand():
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(1)) + 2
    for width, sketched in ((8, False), (4, True)):
        found = made.random_features(x, width=width, seed=3)
        centered = x - x.mean(0)
        centered = centered / float(centered.square().mean()) ** 0.5 / 3**0.5
        g = torch.Generator().manual_seed(3)
        weights, shift = torch.randn(3, width, generator=g), torch.randn(width, generator=g)
        linear = centered @ torch.randn(3, width // 2, generator=g) if sketched else centered
        hidden = (centered @ weights + 0.5 * shift).clamp(min=0) * (2 / width) ** 0.5
        assert torch.allclose(found, torch.cat([linear, hidden], 1), atol=1e-6)


@pytest.mark.parametrize("p", [3, 100])
def test_neighbors_are_those_of_a_plain_search(p):
    x = torch.randn(30, p, generator=torch.Generator().manual_seed(1))
    of = x[:6] + 0.01 * torch.randn(6, p, generator=torch.Generator().manual_seed(2))
    distances, numbers = made.nearest_distances(x, of)
    every = (of[:, None] - x).double().norm(dim=2)
    assert numbers.tolist() == every.argmin(1).tolist() == list(range(6))
    assert distances[:, 0].tolist() == pytest.approx(every.min(1).values.tolist(), rel=1e-4)
    if p == 3:  # without a sketch the second is exact as well
        assert distances[:, 1].tolist() == pytest.approx(every.sort(1).values[:, 1].tolist(), rel=1e-4)
    others, second = made.nearest_distances(x, x[:6], own_rows=torch.arange(6))
    assert all(i != j for i, j in enumerate(second.tolist()))
    assert bool((others[:, 0] > 0).all())
    alone, _ = made.nearest_distances(x[:2], x[:2], own_rows=torch.arange(2))
    assert alone[0].tolist() == pytest.approx([float((x[0] - x[1]).norm()), float("inf")])


def test_kernels_of_inputs_by_hand():
    """exp(-d^2 / median d^2) of standardized features; for tokens the share of equal places plus that of equal bags."""
    x = torch.tensor([[0.0, 3.0], [1.0, 3.0], [4.0, 3.0]])
    # differences 1, 3 and 4: the median of the squares is 9, in any unit
    wanted = torch.tensor(
        [[1.0, exp(-1 / 9), exp(-16 / 9)], [exp(-1 / 9), 1.0, exp(-1.0)], [exp(-16 / 9), exp(-1.0), 1.0]]
    )
    assert torch.allclose(input_kernel(x).float(), wanted, atol=1e-5)
    tokens = torch.tensor([[0, 0, 1], [1, 0, 0], [2, 2, 2]])
    bags = np.array([[2.0, 1, 0], [2, 1, 0], [0, 0, 3]])
    bags = bags / np.linalg.norm(bags, axis=1, keepdims=True)
    places = np.array([[1, 1 / 3, 0], [1 / 3, 1, 0], [0, 0, 1]])
    assert np.allclose(input_kernel(tokens).numpy(), places + bags @ bags.T)
    assert torch.allclose(input_kernel((x, tokens)), input_kernel(x) + input_kernel(tokens))
    assert torch.equal(input_kernel(torch.ones(3, 2)), torch.zeros(3, 3, dtype=torch.float64))


def test_statistics_of_columns_by_hand():
    """Spreads 1, 2, 3 and 40, with one column whose mean is 700 spreads away from zero."""
    base = torch.tensor([1.0, -1.0, 1.0, -1.0]).double()
    other = torch.tensor([1.0, 1.0, -1.0, -1.0]).double()
    table = torch.stack(
        [base, 2 * other, 3 * base * other + 2100.0, 40 * other + base, torch.full((4,), 9.0).double()], 1
    )
    found = column_statistics(table)
    assert found.count == 5 and found.constant == (4,) and found.filled
    spreads = sorted(float(np.std(table[:, i].numpy())) for i in range(4))
    assert found.largest == pytest.approx(spreads[-1]) and found.widest == 3
    assert found.low == pytest.approx(float(np.quantile(spreads, 0.25)))
    assert found.offset == pytest.approx(2100.0 / 3.0)
    assert column_statistics(torch.stack([base, -5 * base + 1, other], 1)).repeated == ((0, 1),)


def leaks(**changes):
    plain = {
        "exact": 0,
        "near": 0,
        "test": 100,
        "expected": 0.0,
        "p_exact": 1.0,
        "p_near": 1.0,
        "rich": True,
        "copies": (),
    }
    return DataLeaks(**{**plain, **changes})


def test_shares_of_copies():
    assert leaks(copies=((1, 2), (3, 4))).share == 0.02 and leaks(test=0).share == 0.0


def test_differences_of_classes_by_hand():
    """Two classes of 40 and 60 in train, of 20 and 80 in test, with shares right of 0.5, 0.7 and 0.9, 0.8."""
    parts = [(0, 20, 40), (1, 42, 60), (0, 18, 20), (1, 64, 80)]
    right = torch.cat([(torch.arange(n) < k).double() for _, k, n in parts])
    code = torch.cat([torch.full((n,), c) for c, _, n in parts])
    found = labels_module._by_class(right, code, 100)
    weights, differences, variances = [], [], []
    for (_, k, n), (_, j, m) in ((parts[0], parts[2]), (parts[1], parts[3])):
        p = (k + j + 1) / (n + m + 2)
        weights.append(n * m / (n + m))
        differences.append(j / m - k / n)
        variances.append(p * (1 - p) * (1 / n + 1 / m))
    total = sum(weights)
    difference = sum(w * d for w, d in zip(weights, differences, strict=True)) / total
    z = difference / sqrt(sum((w / total) ** 2 * v for w, v in zip(weights, variances, strict=True)))
    assert found[:2] == pytest.approx((difference, z), rel=1e-9)

    def divergence(q, p):
        return q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))

    root = sqrt(2 * (40 * divergence(0.5, 38 / 60) + 20 * divergence(0.9, 38 / 60)))
    assert found[2:] == (0, pytest.approx(0.4), pytest.approx(root, rel=1e-9), 2)
    small = labels_module._by_class(right[:2], code[:2], 1)
    assert small == (0.0, 0.0, -1, 0.0, 0.0, 0)


def test_scores_of_votes_by_hand():
    table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]).double()
    votes = torch.tensor([[0.5, 0.5], [0.0, 1.0], [0.25, 0.75], [0.0, 1.0]]).double()
    errors, guess = 0.5 + 0.125, 2 * 4 * 3 / 16
    assert labels_module._score(votes, table) == pytest.approx((1 - errors / guess, 0.25))


@pytest.mark.parametrize(
    ("changes", "unrelated"),
    [
        ({"train": 0.029, "chance": 0.01, "within": 0.11, "chance_test": 0.01}, True),
        ({"train": 0.031, "chance": 0.01, "within": 0.11, "chance_test": 0.01}, False),
        ({"train": 0.029, "chance": 0.01, "within": 0.09, "chance_test": 0.01}, False),
        ({"train": 0.029, "chance": 0.01, "within": 0.24, "chance_test": 0.05}, False),
        ({"train": 0.029, "chance": 0.01, "within": 0.26, "chance_test": 0.05}, True),
    ],
)
def test_relations_in_test_and_not_in_train(changes, unrelated):
    """Below three deviations in train; above five deviations and a tenth in test."""
    assert LabelComparison(**changes).unrelated is unrelated


@pytest.mark.parametrize(
    ("changes", "noisier"),
    [
        ({"z": 3.6, "difference": 0.06}, True),
        ({"z": 3.4, "difference": 0.06}, False),
        ({"z": 3.6, "difference": 0.04}, False),
        ({"worst_z": 3.6, "worst_difference": 0.11, "classes": 1}, True),
        ({"worst_z": 3.6, "worst_difference": 0.11, "classes": 4}, False),
        ({"worst_z": 4.2, "worst_difference": 0.11, "classes": 4}, True),
        ({"worst_z": 4.2, "worst_difference": 0.09, "classes": 4}, False),
    ],
)
def test_noisier_labels_need_a_difference_beyond_chance(changes, noisier):
    """2.5e-4 on one side is 3.48 deviations; with four classes 3.84."""
    assert LabelComparison(**changes, examples=100).noisier is noisier


@pytest.mark.parametrize(("mean", "offset"), [(100.0, 50.0), (-100.0, 50.0), (-5.9, 0.0), (-6.1, 3.05)])
def test_the_offset_of_a_column_is_its_mean_in_deviations(mean, offset):
    """Deviations of 2; a mean counts from three deviations of the median column on."""
    noise = torch.tensor([-2.0, 2.0, -2.0, 2.0]).double()
    found = column_statistics(torch.stack([noise, noise.flip(0), noise + mean], 1))
    assert found.offset == pytest.approx(offset) and (found.largest, found.low) == (2.0, 2.0)
