"""Checks of tables, targets and splits: each finds its planted problem and is silent on healthy data."""

import pytest
import torch
from torch.nn import functional as F

from gnomon.checks.data.category_codes import category_code_findings
from gnomon.checks.data.class_numbers import class_number_findings
from gnomon.checks.data.copied_targets import copied_target_findings
from gnomon.checks.data.drifted_columns import _largest_difference, drifted_column_findings
from gnomon.checks.data.groups import group_findings
from gnomon.checks.data.loss_domain import unbounded_loss_findings
from gnomon.checks.data.outliers import outlier_findings
from gnomon.checks.data.relabeled import relabeled_class_findings
from gnomon.checks.data.repeated_rows import repeated_row_findings
from gnomon.checks.data.row_numbers import row_number_findings
from gnomon.checks.data.sentinels import sentinel_findings
from gnomon.checks.data.void_labels import placeholder_label, placeholder_label_findings
from gnomon.data import digits
from gnomon.findings import data as kinds


def generator(seed):
    return torch.Generator().manual_seed(seed)


def columns(seed, n=1000):
    """Healthy columns of many shapes: normal, lognormal, exponential, Student (3), rounded, counts."""
    g = generator(seed)
    normal = torch.randn(n, 6, generator=g)
    chi = torch.randn(n, 3, generator=g).square().sum(1)
    made = (
        normal[:, 0], normal[:, 1].exp(), -torch.rand(n, generator=g).log(), normal[:, 2] / (chi / 3).sqrt(),
        (10 * normal[:, 3]).round(), torch.poisson(torch.full((n,), 4.0), generator=g), (2 * normal[:, 4]).exp(),
    )  # fmt: skip
    return torch.stack(made, 1)


@pytest.mark.parametrize("seed", range(40))
def test_healthy_columns_raise_no_alarm(seed):
    x = columns(seed)
    y = (x[:, 0] + 0.3 * x[:, 5] + 0.5 * torch.randn(len(x), generator=generator(seed + 1000)))[:, None]
    assert sentinel_findings(x) == ()
    assert outlier_findings(x) == ()
    assert repeated_row_findings(x) == ()
    assert category_code_findings(x, y, classes=0) == ()
    assert row_number_findings(x[:700], y[:700], x[700:], y[700:], classes=0) == ()


@pytest.mark.parametrize("rows, found", [(4, False), (5, True), (600, True), (601, False)])
def test_a_code_for_missing_values_fills_several_rows(rows, found):
    x = torch.rand(1000, 2, generator=generator(0))
    x[:rows, 1] = 9.0
    kinds = [finding.kind for finding in sentinel_findings(x)]
    assert kinds == (["sentinel-values"] if found else [])


@pytest.mark.parametrize("value, found", [(2.9, False), (3.1, True), (-1.9, False), (-2.1, True)])
def test_a_code_lies_two_ranges_away(value, found):
    x = torch.linspace(0, 1, 1000)[:, None].repeat(1, 2)
    x[::50, 0] = value
    assert bool(sentinel_findings(x)) == found


@pytest.mark.parametrize("factor, found", [(19.0, False), (21.0, True)])
def test_outliers_exceed_the_others_by_a_factor(factor, found):
    x = torch.linspace(-3, 3, 1000)[:, None].double()
    x[:3] = 3 * factor
    assert bool(outlier_findings(x)) == found
    if found:
        assert outlier_findings(x)[0].values["first"] == "0, 1, 2"


def test_one_extreme_value_is_a_tail():
    x = torch.randn(1000, 1, generator=generator(0))
    x[0] = 1e6
    assert outlier_findings(x) == ()


@pytest.mark.parametrize("copies, kind", [(50, None), (300, "warning"), (1500, "problem")])
def test_copies_are_counted(copies, kind):
    x = torch.randn(1000, 5, generator=generator(0))
    found = repeated_row_findings(torch.cat([x, x[:1].repeat(copies, 1)]))
    assert [finding.level.name.lower() for finding in found] == ([] if kind is None else [kind])
    if found:
        assert found[0].values == {"distinct": 1000, "total": 1000 + copies, "largest": copies + 1}


def test_rows_of_few_categories_repeat_by_chance():
    x = torch.randint(0, 3, (2000, 4), generator=generator(0)).float()
    assert repeated_row_findings(x) == ()


def test_digits_as_numbers_are_classes():
    data = digits(1000, 200)
    found = class_number_findings(data.x, data.y.float()[:, None])
    assert [finding.kind for finding in found] == ["class-numbers"]
    assert found[0].values["as_classes"] > 0.9 > found[0].values["as_numbers"] + 0.15


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", ["grade", "count"])
def test_ordered_targets_are_quantities(seed, shape):
    g = generator(seed)
    x = torch.randn(500, 5, generator=g)
    level = x[:, 0] + 0.5 * x[:, 1]
    y = (level + 0.3 * torch.randn(500, generator=g)).mul(1.2).add(3).round().clamp(0, 6)
    if shape == "count":
        y = torch.poisson(level.mul(0.5).exp(), generator=g).clamp_max(6)
    assert class_number_findings(x, y[:, None]) == ()


@pytest.mark.parametrize(
    "loss, y, kind",
    [
        (F.binary_cross_entropy_with_logits, (0.0, 1.0, 2.0), "targets-outside-loss"),
        (F.binary_cross_entropy_with_logits, (-1.0, 1.0, 1.0), "targets-outside-loss"),
        (F.binary_cross_entropy_with_logits, (0.0, 0.4, 1.0), None),
        (F.binary_cross_entropy, (0.0, 1.0, 4.0), "targets-outside-loss"),
        (F.binary_cross_entropy, (0.0, 1.0, 0.5), None),
        (F.poisson_nll_loss, (-2.0, 1.0, 3.0), "targets-outside-loss"),
        (F.poisson_nll_loss, (0.0, 1.0, 3.0), None),
        (F.mse_loss, (-5.0, 1.0, 9.0), None),
        (F.smooth_l1_loss, (-5.0, 1.0, 9.0), None),
    ],
)
def test_losses_without_a_minimum(loss, y, kind):
    found = unbounded_loss_findings(loss, torch.full((3, 1), 0.5), torch.tensor(y)[:, None])
    assert [finding.kind for finding in found] == ([] if kind is None else [kind])


def test_classes_on_one_output_are_advised_as_classes():
    y = torch.tensor([0.0, 1.0, 2.0, 3.0])[:, None]
    found = unbounded_loss_findings(F.binary_cross_entropy_with_logits, torch.zeros(4, 1), y)[0]
    assert found.values["classes"] == 4
    assert "CrossEntropyLoss" in found.fix


def blobs(seed, classes=4, n=1200, spread=3.0, d=6):
    g = generator(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    return spread * torch.randn(classes, d, generator=g)[y] + torch.randn(n, d, generator=g), y


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_overlapping_classes_are_not_called_relabeled_or_grouped(seed, spread):
    x, y = blobs(seed, spread=spread)
    assert relabeled_class_findings(x[:800], y[:800], x[800:], y[800:]) == ()
    assert group_findings(x[:800], y[:800], x[800:], y[800:]) == ()


@pytest.mark.parametrize("share, found", [(0.1, False), (0.9, True)])
def test_a_class_with_the_label_of_another(share, found):
    x, y = blobs(0)
    wrong = (y == 2) & (torch.rand(len(y), generator=generator(1)) < share)
    given = torch.where(wrong, 0, y)
    findings = relabeled_class_findings(x[:800], given[:800], x[800:], y[800:])
    assert [(f.values["true"], f.values["given"]) for f in findings] == ([(2, 0)] if found else [])


@pytest.mark.parametrize("dimensions", [1, 2, 5, 20])
def test_independent_examples_have_no_groups(dimensions):
    g = generator(dimensions)
    x, y = torch.randn(1000, dimensions, generator=g), torch.randint(0, 2, (1000,), generator=g)
    assert group_findings(x[:700], y[:700], x[700:], y[700:]) == ()


def test_groups_with_labels_of_their_own_leak():
    g = generator(0)
    centers, label = torch.randn(100, 12, generator=g), torch.randint(0, 3, (100,), generator=g)
    x, y = centers.repeat_interleave(8, 0) + 0.1 * torch.randn(800, 12, generator=g), label.repeat_interleave(8)
    order = torch.randperm(800, generator=g)
    a, b = order[:600], order[600:]
    found = group_findings(x[a], y[a], x[b], y[b])
    assert [finding.kind for finding in found] == ["groups-in-both"]
    assert 4 <= found[0].values["size"] <= 7
    honest = group_findings(x[:600], y[:600], x[600:], y[600:])  # subjects on one side only
    assert honest == ()


@pytest.mark.parametrize("split", ["random", "time"])
def test_a_row_number_leaks_only_in_a_random_split(split):
    g = generator(0)
    walk = torch.randn(900, generator=g).cumsum(0)[:, None]
    x = torch.cat([torch.arange(900.0)[:, None] * 0.01, torch.randn(900, 2, generator=g)], 1)
    order = torch.randperm(900, generator=g) if split == "random" else torch.arange(900)
    a, b = order[:600], order[600:]
    found = row_number_findings(x[a], walk[a], x[b], walk[b], classes=0, names=("time", "u", "v"))
    assert [finding.values["column"] for finding in found] == (["time"] if split == "random" else [])


def test_an_unrelated_row_number_is_harmless():
    g = generator(0)
    x = torch.cat([torch.randperm(900, generator=g).float()[:, None], torch.randn(900, 2, generator=g)], 1)
    y = (x[:, 1] > 0).long()
    assert row_number_findings(x[:600], y[:600], x[600:], y[600:], classes=2) == ()


@pytest.mark.parametrize("classes", [0, 3])
def test_codes_without_order_are_found_and_quantities_are_not(classes):
    g = generator(0)
    code = torch.randint(0, 20, (800,), generator=g)
    x = torch.stack([(code.float() - 9.5) / 5.8, torch.randn(800, generator=g)], 1)
    effect = torch.randn(20, generator=g)
    y = torch.randint(0, 3, (20,), generator=g)[code] if classes else effect[code][:, None]
    assert [f.values["codes"] for f in category_code_findings(x, y, classes=classes)] == [20]
    smooth = (code // 7) if classes else (code.float() / 6).cos()[:, None]
    assert category_code_findings(x, smooth, classes=classes) == ()


@pytest.mark.parametrize(
    "labels, expected",
    [
        ((0, 1, 2), None),
        ((0, 1, 255), 255),
        ((0, 1, -100), -100),
        ((0, 1, -1), -1),
        (tuple(range(256)), None),
        ((255,), None),
    ],
)
def test_labels_of_unknown_positions(labels, expected):
    assert placeholder_label(torch.tensor(labels)) == expected


def test_a_loss_that_ignores_unknown_positions_is_right():
    y = torch.tensor([[0, 255, 2, 1], [255, 1, 1, 0]])
    f = torch.randn(2, 3, 4, generator=generator(0))
    losses = {
        "ignored": lambda f, t: F.cross_entropy(f, t, ignore_index=255),
        "counted": lambda f, t: F.cross_entropy(f, t.remainder(3)),
        "refused": F.cross_entropy,
    }
    found = {name: placeholder_label_findings(loss, f, y) for name, loss in losses.items()}
    assert found["ignored"] == ()
    assert found["counted"][0].row is kinds.VOID_LABEL_COUNTED
    assert found["refused"][0].row is kinds.VOID_LABEL_REFUSED
    assert found["counted"][0].values == {"label": 255, "share": 0.25}


@pytest.mark.parametrize("share, found", [(0.95, False), (1.0, True)])
def test_targets_that_copy_the_inputs(share, found):
    g = generator(0)
    x = torch.randint(0, 20, (100, 30), generator=g)
    y = torch.where(torch.rand(x.shape, generator=g) < share, x, (x + 1) % 20)
    assert bool(copied_target_findings(x, y)) == found


@pytest.mark.parametrize("seed", range(20))
def test_columns_with_equal_distributions_are_not_named(seed):
    x = columns(seed, 900)
    assert drifted_column_findings(x[:600], x[600:]) == ()


def test_columns_that_drift_are_named_unless_all_do():
    x = columns(0, 900)
    train, test = x[:600], x[600:].clone()
    test[:, 4] = 1.8 * test[:, 4] + 32
    found = drifted_column_findings(train, test, names=tuple("abcdefg"))[0]
    assert found.values["count"] == 1
    assert found.values["columns"].startswith("e (mean")
    assert drifted_column_findings(train, x[600:] * 3 + 5) == ()


def test_the_statistic_of_a_column_is_that_of_scipy():
    ks = pytest.importorskip("scipy.stats").ks_2samp
    a, b = torch.randn(70, generator=generator(0)).double(), torch.randn(40, generator=generator(1)).double() + 0.5
    assert float(_largest_difference(a, b)) == pytest.approx(ks(a.numpy(), b.numpy()).statistic, abs=1e-12)
