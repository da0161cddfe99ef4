"""Labels and columns: planted faults are found, clean data are not accused."""

import pytest
import torch

from gnomon.checks import column_statistics, label_conflicts, suspect_labels
from gnomon.checks.data.channels import channel_findings
from gnomon.checks.data.targets import class_findings, regression_target_findings
from gnomon.core.errors import InputError
from gnomon.data import digits

SPLIT = digits(1200, 500)
X, Y = SPLIT.x, SPLIT.y


def flipped(y, share, seed, classes=10):
    g = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(len(y), generator=g)[: int(share * len(y))]
    y = y.clone()
    y[chosen] = (y[chosen] + torch.randint(1, classes, (len(chosen),), generator=g)) % classes
    return y, set(chosen.tolist())


@pytest.mark.parametrize("seed", range(2))
def test_wrong_labels_are_found_and_ranked(seed):
    y, wrong = flipped(Y, 0.1, seed)
    found = suspect_labels((X, y), seed=seed)
    assert [f.kind for f in found.findings] == ["noisy-labels"]
    assert found.floor == pytest.approx(0.1, abs=0.035)  # three deviations of 600 firm examples
    hits = len(wrong & set(found.ranked[: len(wrong)])) / len(wrong)
    assert hits > 0.85


def test_seven_in_a_hundred_are_told_of():
    """All wrong in one way, as by a mistake in a table of names; the evenness by hand."""
    x, y = torch.cat([X, SPLIT.x_test])[:1400], torch.cat([Y, SPLIT.y_test])[:1400].clone()
    y[:100] = (y[:100] + 3) % 10
    found = suspect_labels((x, y))
    assert [f.kind for f in found.findings] == ["noisy-labels"] and found.floor == pytest.approx(0.0714, abs=0.03)
    assert 0.8 < found.evenness < 1.1


def test_votes_leave_the_example_out():
    """The closed form against fits without the example."""
    from gnomon.checks.data.ridge import leave_one_out_ridge_predictions

    g = torch.Generator().manual_seed(0)
    f, table = torch.randn(30, 4, generator=g).double(), torch.eye(2)[torch.randint(0, 2, (30,), generator=g)].double()
    made = leave_one_out_ridge_predictions(f, table, torch.arange(30))
    i, kept = 3, [j for j in range(30) if j != 3]
    distances = []
    for ridge in (
        torch.logspace(-6, 0, 7, dtype=torch.float64)
        * torch.linalg.eigvalsh((f - f.mean(0)).mT @ (f - f.mean(0))).max()
    ):
        design = torch.cat([f[kept], torch.ones(29, 1)], 1)
        penalty = ridge * torch.diag(torch.tensor([1.0, 1, 1, 1, 0])).double()
        fit = torch.linalg.solve(design.mT @ design + penalty, design.mT @ table[kept])
        distances.append(float((torch.cat([f[i], torch.ones(1)]) @ fit - made[i]).abs().max()))
    assert min(distances) < 1e-9  # for the ridge that was chosen


def test_kernel_votes_leave_the_example_out():
    """The closed form against fits without the example, for the ridge that fits best; parts vote on each other."""
    from gnomon.checks.data import kernel_votes as room

    g = torch.Generator().manual_seed(0)
    x, table = torch.randn(40, 3, generator=g).double(), torch.randn(40, 2, generator=g).double()
    made = room.leave_one_out_kernel_predictions(x, table)
    distance = torch.cdist(x, x)
    k, center = torch.exp(-distance / distance.mean()), table.mean(0)
    i, kept = 7, [j for j in range(40) if j != 7]
    gaps = []
    for ridge in room.RIDGES:
        weights = torch.linalg.solve(k[kept][:, kept] + ridge * torch.eye(39), table[kept] - center)
        gaps.append(float((k[i, kept] @ weights + center - made[i]).abs().max()))
    assert min(gaps) < 1e-10


def test_clean_labels_are_not_accused():
    assert suspect_labels((X, Y)).findings == ()


def test_hard_examples_are_not_wrong_labels():
    g = torch.Generator().manual_seed(0)
    for seed in range(5):
        x = torch.randn(600, 5, generator=g)
        y = (torch.rand(600, generator=g) < torch.sigmoid(2 * x[:, 0])).long()  # 80 % at best
        assert suspect_labels((x, y), seed=seed).findings == ()


def test_too_few_examples_say_so():
    found = suspect_labels((X[:50], Y[:50]))
    assert "not enough" in found.verdict and found.findings == ()


def test_bad_input_is_named():
    with pytest.raises(InputError, match="suspect_labels"):
        suspect_labels((X, Y[:-1]))
    with pytest.raises(InputError, match="conflicts"):
        label_conflicts((X, Y[:-1]))


def test_contradictions():
    x, y = torch.cat([X, X[:30]]), torch.cat([Y, (Y[:30] + 1) % 10])
    found = label_conflicts((x, y))
    assert len(found.groups) == 30 and found.least_error == 30 / 1230
    assert found.findings[0].level.name == "PROBLEM" and found.findings[0].kind == "conflicting-labels"
    assert (
        label_conflicts((torch.cat([X, X[:30]]), torch.cat([Y, Y[:30]]))).findings == ()
    )  # equal labels: no contradiction


def test_coarse_tables_coincide_by_chance():
    g = torch.Generator().manual_seed(0)
    x, y = torch.randint(0, 2, (500, 5), generator=g).float(), torch.randint(0, 2, (500,), generator=g)
    assert [f.level.name for f in label_conflicts((x, y)).findings] == ["WARNING"]


@pytest.mark.parametrize(
    "change, kind",
    [
        (lambda x: x * torch.tensor([1.0] * 9 + [500.0]), "feature-scale"),
        (lambda x: x + torch.tensor([0.0] * 9 + [2000.0]), "feature-scale"),
        (lambda x: 0.04 * x, "feature-scale"),
        (lambda x: torch.cat([x, torch.ones(len(x), 1)], 1), "constant-features"),
        (lambda x: torch.cat([x, 3 * x[:, :1] + 1], 1), "repeated-features"),
    ],
)
def test_columns(change, kind):
    x = torch.randn(300, 10, generator=torch.Generator().manual_seed(0))
    assert column_statistics(x).findings == ()
    assert column_statistics(change(x)).findings[0].kind == kind


def test_images_and_tokens_have_no_columns():
    assert [f.level.name for f in column_statistics(X.flatten(1)).findings] == ["NOTE"]  # borders of images are zero
    assert column_statistics(X).findings == () and column_statistics(torch.zeros(5, 3, dtype=torch.long)).findings == ()


def test_broken_channels_are_named_and_empty_rows_of_pictures_are_not():
    g = torch.Generator().manual_seed(0)
    series, picture = torch.randn(60, 6, 40, generator=g), torch.randn(60, 3, 8, 8, generator=g)
    assert channel_findings(series) == channel_findings(series.mT) == channel_findings(picture) == ()
    series[:, 4], picture[:, 2] = 0.0, 1.0
    for x, number in ((series, 4), (series.mT, 4), (picture, 2)):
        (found,) = channel_findings(x)
        assert found.kind == "constant-features" and found.message.endswith(f": {number}.")
    assert channel_findings(SPLIT.x) == channel_findings(SPLIT.x[:, 0]) == ()  # 8 rows of 8: no channels


def test_targets():
    y = torch.randn(200, generator=torch.Generator().manual_seed(0))
    assert regression_target_findings(y) == () and regression_target_findings(0.5 + 0.2 * y) == ()
    assert regression_target_findings(150 + 77 * y)[0].kind == "target-scale"
    assert regression_target_findings(0.001 * y)[0].kind == "target-scale"
    assert regression_target_findings(torch.ones(5))[0].kind == "constant-targets"


def test_classes():
    y = torch.arange(10).repeat(10)
    assert class_findings(y, 10) == ()
    assert class_findings(y[y != 3], 10, y)[0].kind == "class-missing"
    assert class_findings(y[y != 0], 10)[0].kind == "labels-off-by-one"
    rare = torch.tensor([0] * 950 + [1] * 50)
    assert "95.0%" in class_findings(rare, 2)[0].message
    assert class_findings(torch.tensor([0] * 70 + [1] * 30), 2) == ()


def test_rows_of_a_coarse_table_that_were_copied_with_other_labels():
    g = torch.Generator().manual_seed(0)
    x = torch.randint(0, 2, (1500, 30), generator=g).float()
    y = (x[:, 0] + x[:, 1] > 1).long()
    copied = label_conflicts((torch.cat([x, x[:150]]), torch.cat([y, 1 - y[:150]])))
    assert [f.level.name for f in copied.findings] == ["PROBLEM"]
    few = x[:, :8]  # 256 different rows: they coincide by chance, and their labels are drawn
    drawn = (torch.rand(1500, generator=g) < 0.3 + 0.3 * few[:, 0]).long()
    assert [f.level.name for f in label_conflicts((few, drawn)).findings] == ["WARNING"]


def test_columns_are_called_by_their_names():
    x = torch.randn(100, 4, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 1.0, 1.0, 1000.0])
    x[:, 1] = 2 * x[:, 0]
    named = [finding.message for finding in column_statistics(x, names=("age", "years", "height", "income")).findings]
    assert "'income'" in named[0] and "'age' = 'years'" in named[1]
    assert (
        "Column 3" in column_statistics(x).findings[0].message and "0 = 1" in column_statistics(x).findings[1].message
    )
    assert "Column 3" in column_statistics(x, names=("age",)).findings[0].message  # names of other columns
