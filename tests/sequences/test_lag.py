"""The lag of a task: its F test against scipy's linear regression, and both sides of its thresholds."""

import numpy as np
import pytest
import torch
from scipy import stats

from gnomon.sequences import lag_of_task


def related(n, strength, *, seed=0, classes=None):
    """Sequences of 5 steps and 2 features, of which feature 1 at step 1 has an exact R^2 with the targets."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 5, 2))
    y = np.arange(n) % classes if classes else rng.standard_normal(n)
    table = np.eye(classes)[y] if classes else y[:, None]
    base = np.concatenate([table, np.ones((n, 1))], 1)
    q, s, _ = np.linalg.svd(base, full_matrices=False)
    q = q[:, s > 1e-9]

    def clean(v):
        return v - q @ (q.T @ v)

    explained = q @ (q.T @ rng.standard_normal(n))
    explained -= explained.mean()
    rest = clean(rng.standard_normal(n))
    flat = np.apply_along_axis(clean, 0, x.reshape(n, -1)).reshape(x.shape)  # no relation at all
    flat[:, 1, 1] = strength**0.5 * explained / np.linalg.norm(explained)
    flat[:, 1, 1] += (1 - strength) ** 0.5 * rest / np.linalg.norm(rest)
    return torch.tensor(flat), torch.tensor(y)


@pytest.mark.parametrize(("n", "classes"), [(9, None), (30, None), (12, 3), (40, 4)])
def test_a_relation_is_reported_just_above_the_level_of_its_f_test_over_all_places(n, classes):
    """R^2 at the critical value of F with (k, n - k - 1) degrees at level 1e-4 / 10 places, a little up and down."""
    k = (classes or 2) - 1
    critical = stats.f.isf(1e-4 / 10, k, n - k - 1)
    share = k * critical / (k * critical + n - k - 1)
    for factor, expected in ((0.99, None), (1.01, 3)):
        odds = factor * share / (1 - share)
        x, y = related(n, odds / (1 + odds), classes=classes)
        assert lag_of_task(x, y) == expected


def test_the_latest_place_with_at_least_half_of_the_largest_share_counts():
    x, y = related(200, 0.8)
    for share, expected in ((0.41, 1), (0.39, 3)):
        other, _ = related(200, share)
        changed = x.clone()
        changed[:, 3, 0] = other[:, 1, 1]
        assert lag_of_task(changed, y) == expected


def test_targets_of_dependent_columns_and_constant_inputs_are_counted_once():
    x, y = related(9, 0.97)
    x[:, 2] = 4.0
    doubled = torch.stack([y, 2 * y + 1, 0 * y], 1)
    assert lag_of_task(x, doubled) == lag_of_task(x, y) == 3
    assert lag_of_task(x, torch.zeros(9, 1)) is None


def test_short_data_give_no_lag():
    x, y = related(40, 0.999)
    assert lag_of_task(x, y) == 3
    assert lag_of_task(x[:, 1:2], y) is None  # one step
    assert lag_of_task(x[:, 1:3], y) == 1
    assert lag_of_task(x[:7], y[:7]) is None and lag_of_task(x[:8], y[:8]) == 3
    assert lag_of_task(x[:8, 1], y[:8]) is None and lag_of_task(x.long(), y) is None
    exact = y[:, None, None] * torch.tensor([0.0, 1.0, 0.0])[None, :, None]
    assert lag_of_task(exact, y) == 1  # explained to rounding


def test_as_many_columns_of_targets_as_examples_allow_no_test():
    generator = torch.Generator().manual_seed(0)
    x, y = torch.zeros(12, 4, 1), torch.randn(12, 10, generator=generator)
    x[:, 2, 0] = y[:, 0]
    assert lag_of_task(x, y) is None
    assert lag_of_task(x, y[:, :9]) == 1
