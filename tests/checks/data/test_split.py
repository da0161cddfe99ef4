"""Leaks and shift: found where planted, silent on clean splits."""

import pytest
import torch
from scipy.stats import chi2_contingency, hypergeom

from gnomon.checks import data_shift, find_leaks
from gnomon.checks.data.leaks import fisher_p_value
from gnomon.core.errors import InputError, NotFiniteError
from gnomon.data import digits

ALL = digits(1200, 500)
X = torch.cat([ALL.x, ALL.x_test])
Y = torch.cat([ALL.y, ALL.y_test])


def split(seed, n=1200):
    order = torch.randperm(len(X), generator=torch.Generator().manual_seed(seed))
    return order[:n], order[n:]


def leaked(seed, change):
    a, b = split(seed)
    copies = change(X[a[: len(b) // 20]])  # 5 % of test
    return X[a], torch.cat([X[b[len(copies) :]], copies])


def noisy(x):
    return x + 0.02 * torch.randn(x.shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("seed", range(3))
def test_clean_splits(seed):
    a, b = split(seed)
    assert not find_leaks(X[a], X[b], seed=seed).findings
    assert not data_shift((X[a], Y[a]), (X[b], Y[b]), seed=seed).findings


def test_the_p_values_of_classes_and_of_copies_have_double_precision():
    """Pearson's test of homogeneity, and Fisher's exact test, by scipy."""
    y, of = torch.arange(300) % 7 % 3, torch.arange(200) % 5 % 3
    counts = torch.stack([torch.bincount(y), torch.bincount(of)]).numpy()
    found = data_shift((torch.zeros(300, 1), y), (torch.zeros(200, 1), of))
    assert found.p_classes == pytest.approx(chi2_contingency(counts, correction=False).pvalue, rel=1e-12)
    assert fisher_p_value(30, 5000, 12, 40_000) == pytest.approx(
        hypergeom.sf(29, 45_000, 42, 5000), rel=1e-9
    )  # of lgammas


@pytest.mark.parametrize("change", [lambda x: x, noisy, lambda x: 0.97 * x], ids=["equal", "noise", "brightness"])
def test_copies(change):
    train, test = leaked(0, change)
    found = find_leaks(train, test)
    assert [f.kind for f in found.findings] == ["leaked-test"]
    first = len(test) - len(test) // 20  # the copies are the last of test and the first of train
    right = sum(i == j - first for j, i in found.copies)
    assert right >= 0.9 * (len(test) // 20) and len(found.copies) - right <= 5


def test_copies_that_the_data_came_with():
    """If train repeats examples as often as test does, splitting anew would not help; many copies are a problem."""
    for copies, level in ((300, "PROBLEM"), (30, "WARNING")):
        x = torch.randn(900, 30, generator=torch.Generator().manual_seed(0))
        x[900 - copies :] = x[:copies]  # copies, wherever they fall
        x = x[torch.randperm(900, generator=torch.Generator().manual_seed(1))]
        (found,) = find_leaks(x[:600], x[600:]).findings
        assert found.level.name == level and "before you split" in found.fix
    (planted,) = find_leaks(*leaked(0, lambda x: x)).findings
    assert planted.level.name == "PROBLEM" and "Split the data first" in planted.fix


@pytest.mark.full
def test_rates():
    """No false alarm in 200 clean splits, and 95 % of the copies of 5 % found."""
    alarms = 0
    for seed in range(200):
        a, b = split(seed)
        alarms += bool(find_leaks(X[a], X[b], seed=seed).findings)
        alarms += bool(data_shift((X[a], Y[a]), (X[b], Y[b]), seed=seed).findings)
    assert alarms == 0
    for change in (lambda x: x, noisy):
        assert sum(bool(find_leaks(*leaked(seed, change), seed=seed).findings) for seed in range(40)) >= 38


def test_tables_with_repeated_rows_are_not_leaks():
    """Rows of a few categories coincide in train as often as between train and test."""
    g = torch.Generator().manual_seed(0)
    x = torch.randint(0, 3, (1000, 5), generator=g).float()
    assert find_leaks(x[:700], x[700:]).exact > 200
    assert not find_leaks(x[:700], x[700:]).findings


def test_copies_made_before_the_split():
    """Oversampling before the split: equal rows are as frequent within train, and no chance makes them."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(400, 20, generator=g)[torch.randint(0, 400, (800,), generator=g)]
    assert find_leaks(x[:600], x[600:]).findings


def test_tokens():
    g = torch.Generator().manual_seed(0)
    x = torch.randint(0, 50, (900, 12), generator=g)
    assert not find_leaks(x[:600], x[600:]).findings
    changed = x[:20].clone()
    changed[:, 0] = 7
    assert find_leaks(x[:600], torch.cat([x[620:], changed])).findings


@pytest.mark.parametrize("change", [lambda x: x + 0.2, lambda x: 1.3 * x, lambda x: x.flip(-1)])
def test_shifted_inputs(change):
    a, b = split(0)
    found = data_shift(X[a], change(X[b]))
    assert [f.kind for f in found.findings] == ["train-test-shift"]


def test_shifted_classes():
    order = Y.argsort()
    found = data_shift((X[order[:1200]], Y[order[:1200]]), (X[order[1200:]], Y[order[1200:]]))
    assert "class-shift" in [f.kind for f in found.findings]


def test_too_few_examples():
    assert "not enough" in data_shift(X[:50], X[50:90]).verdict
    assert not find_leaks(X[:20], X[:20]).findings


def test_fisher_against_counting():
    """All ways to mark c0 + c of n + m examples, counted."""
    from itertools import combinations

    n, m, c, c0 = 4, 3, 2, 1
    ways = list(combinations(range(n + m), c + c0))
    tail = sum(sum(i < m for i in way) >= c for way in ways) / len(ways)
    assert fisher_p_value(c, m, c0, n) == pytest.approx(tail)


@pytest.mark.full
def test_shifts_that_cost_three_points_are_found():
    """Noise on test digits that lowers the accuracy of ridge regression by three points is found in 95 % of splits."""
    found, lost = 0, []
    for seed in range(40):
        part = digits(900, 897, seed=seed)
        x, z = part.x.flatten(1).double(), part.x_test.flatten(1).double()
        noisy = z + 0.14 * torch.randn(z.shape, generator=torch.Generator().manual_seed(seed)).double()
        center = x.mean(0)
        one_hot = torch.nn.functional.one_hot(part.y, 10).double() - 0.1
        gram = (x - center).T @ (x - center) + 10 * torch.eye(64).double()
        w = torch.linalg.solve(gram, (x - center).T @ one_hot)
        right = [float((((t - center) @ w).argmax(1) == part.y_test).double().mean()) for t in (z, noisy)]
        lost.append(right[0] - right[1])
        found += data_shift(x.float(), noisy.float(), seed=seed).shifted
    assert 0.02 < sum(lost) / 40 < 0.04 and found >= 38


@pytest.mark.parametrize("instrument", [find_leaks, data_shift])
def test_sets_that_cannot_be_compared_are_refused(instrument):
    with pytest.raises(InputError, match=r"shape \(4,\) and test examples \(5,\)"):
        instrument(torch.randn(80, 4), torch.randn(80, 5))
    with pytest.raises(NotFiniteError):
        instrument(torch.randn(80, 4), torch.full((80, 4), float("nan")))


def test_a_few_mirrored_digits_are_found_and_named():
    """4 % of test: no classifier tells the sets apart by them, and they cost three points of accuracy."""
    a, b = split(3, n=900)
    x = X[b].clone()
    x[:34] = x[:34].flip(-1)
    found = data_shift((X[a], Y[a]), (x, Y[b]), seed=3)
    assert not found.inputs_shifted and [f.kind for f in found.findings] == ["train-test-shift"]
    assert found.strange is not None and sum(i < 34 for i in found.strange.first) >= 7
    assert "like" in found.verdict and str(found.strange.first[0]) in found.findings[0].fix


def test_the_law_of_unusual_examples_is_that_of_ranks():
    """Without labels and in one dimension by hand: ten of ten far examples are test examples."""
    from gnomon.checks.data.unusual import unusual_test_examples

    g = torch.Generator().manual_seed(0)
    x, of = torch.rand(200, 1, generator=g), torch.rand(200, 1, generator=g)
    alike = unusual_test_examples(x, None, of, None)
    of[:16] += 5 + torch.arange(16.0)[:, None]
    found = unusual_test_examples(x, None, of, None)
    assert found.p_value < 1e-4 < alike.p_value and not found.by_class
    assert set(found.first) <= set(range(16)) and found.excess >= 0.05
    y = torch.linspace(0, 1, 200)[:, None]
    assert (
        unusual_test_examples(x, y, x.flip(0), y).p_value > 1e-4
    )  # targets that are numbers: other pairs of the same law


class Augmented(torch.utils.data.Dataset):
    """Pictures that are moved at random whenever they are read, as training sets are."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i].roll(tuple(torch.randint(-1, 2, (2,)).tolist()), (1, 2)), self.y[i]


def test_augmentation_of_train_is_no_shift_and_a_lost_normalization_beside_it_is():
    torch.manual_seed(0)
    split = digits(1000, 500)
    moved = Augmented(split.x, split.y)
    found = data_shift(moved, (split.x_test, split.y_test))
    assert found.augmented and found.auc > 0.6 and not found.inputs_shifted  # they can be told apart, on purpose
    assert "augmentation" in found.verdict and not found.findings
    other = data_shift(moved, (3 * split.x_test + 1, split.y_test))
    assert not other.augmented and other.findings[0].kind == "train-test-shift"
    kept = torch.stack([moved[i][0] for i in range(1000)])  # the same difference, fixed: no augmentation
    assert data_shift((kept, split.y), (split.x_test, split.y_test)).inputs_shifted
    assert not data_shift(moved, Augmented(split.x_test, split.y_test)).augmented  # both change: they are drawn alike
