"""A column that is the target in disguise is found; columns that merely decide the target are not."""

import pytest
import torch

from gnomon.checks.data.leaked_target import leaked_target_findings


def table(n=300, p=10, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, p, generator=generator), generator


def found(x, y, classes):
    return [finding.values["column"] for finding in leaked_target_findings(x, y, classes=classes)]


@pytest.mark.parametrize("change", [lambda y: y, lambda y: -3 * y + 2, lambda y: y.exp(), lambda y: y**3])
def test_a_monotone_function_of_the_target_is_found(change):
    x, generator = table()
    y = x[:, 0] + x[:, 1] + torch.randn(300, generator=generator)
    x[:, 4] = change(y)
    assert found(x, y, 0) == [4]


@pytest.mark.parametrize("classes", [2, 5])
def test_a_code_of_the_class_is_found(classes):
    x, generator = table()
    y = torch.randint(0, classes, (300,), generator=generator)
    x[:, 7] = 10.0 * y + 0.1 * torch.randn(300, generator=generator)
    assert found(x, y, classes) == [7]


def test_the_name_of_the_column_is_said():
    x, _ = table(p=2)
    y = 2 * x[:, 1]
    finding = leaked_target_findings(x, y, classes=0, names=("age", "refund"))[0]
    assert finding.message.startswith("Column refund gives the target by itself: 100.0%")


def test_healthy_tables_have_no_leak():
    """Thresholds, noisy sums, lagged series, wide tables: at most 3e-3 false alarms at 95 % confidence."""
    alarms = [0, 0, 0, 0]
    for seed in range(1000):
        x, generator = table(200, 6, seed)
        kind = seed % 4
        if kind == 0:
            alarms[kind] += bool(found(x, (x[:, 0] > 0).long(), 2))
        elif kind == 1:
            y = x @ torch.randn(6, generator=generator) + 0.3 * torch.randn(200, generator=generator)
            alarms[kind] += bool(found(x, y, 0))
        elif kind == 2:  # the last value of a random walk predicts the next one, and so do the values before
            walk = torch.randn(200, 7, generator=generator).cumsum(1) + 30 * torch.randn(200, 1, generator=generator)
            alarms[kind] += bool(found(walk[:, :6], walk[:, 6], 0))
        else:
            alarms[kind] += bool(found(x, torch.bucketize(x[:, 0].contiguous(), torch.tensor([-0.5, 0.5])), 3))
    assert alarms == [0, 0, 0, 0]
