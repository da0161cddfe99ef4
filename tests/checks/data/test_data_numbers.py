"""Numbers about data: copies, conflicts, condition numbers, and tables of targets, by hand."""

import pytest
import torch

from gnomon.checks import find_leaks, input_conditioning, label_conflicts, simple_model_baseline
from gnomon.checks.data.compared_labels import _score, _sketch, _table
from gnomon.checks.data.leaks import _ratio


def test_a_copy_is_paired_with_the_first_equal_training_example():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(60, 5, generator=g)
    x[40] = x[7]
    found = find_leaks(x, torch.cat([x[7:8], torch.randn(59, 5, generator=g)]))
    assert found.copies == ((0, 7),) and found.share == pytest.approx(1 / 60)
    assert found.expected == pytest.approx(2 / 60 * 60)


def test_distances_are_compared_with_those_to_the_second_neighbor():
    assert _ratio(torch.tensor([[1.0, 4.0], [3.0, 3.0], [0.0, 0.0]])).tolist() == [0.25, 1.0, 0.0]


def test_the_condition_number_is_that_of_inputs_with_a_constant():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(30, 3, generator=g).double() * torch.tensor([1.0, 5.0, 0.2]) + torch.tensor([2.0, 0.0, -1.0])
    x = torch.cat([x, torch.full((30, 1), 7.0)], 1)  # one constant column, which is left out
    found = input_conditioning(x)
    kept = x[:, :3]

    def condition(table):
        full = torch.cat([table, torch.ones(30, 1).double()], 1)
        values = torch.linalg.eigvalsh(full.T @ full)
        return float(values[-1] / values[0])

    standard = (kept - kept.mean(0)) / kept.std(0, correction=0)
    assert (found.before, found.after) == pytest.approx((condition(kept), condition(standard)), rel=1e-6)
    assert (found.constant, found.speedup) == (1, pytest.approx(found.before / found.after))


def test_conflicts_cost_all_but_the_most_frequent_label_of_a_group():
    x = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3.0])[:, None]
    found = label_conflicts((x, torch.tensor([0, 1, 1, 0, 1, 2, 2, 0])))
    assert found.groups == ((0, 1, 2), (3, 4)) and found.least_error == pytest.approx(2 / 8)
    assert found.share == pytest.approx(5 / 8)


@pytest.mark.parametrize(("agree", "copied"), [(5, True), (40, False)])
def test_equal_examples_that_disagree_more_than_chance_are_copies(agree, copied):
    """Sixty pairs of equal rows, two classes: about half of the pairs agree by chance."""
    x = torch.arange(60).repeat_interleave(2)[:, None].float()
    y = torch.tensor([0, 1] * 60)
    y[: 2 * agree] = (torch.arange(agree) % 2).repeat_interleave(2)
    assert label_conflicts((x, y)).rich == copied


def test_targets_are_scored_by_the_share_of_the_variance():
    table = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]]).double()
    v = table + torch.tensor([[0.5, 0.0], [0.0, -1.0], [0.0, 0.0]]).double()
    total = float(((table - table.mean(0)) ** 2).sum())
    assert _score(v, table) == pytest.approx((1 - 1.25 / total, 1 / 3))


def test_targets_are_standardized_and_sketched():
    y = torch.tensor([[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]])
    table = _table(y, 0)
    torch.testing.assert_close(table[:, 0], (y[:, 0] - 3).double() / y[:, 0].double().std())
    assert bool((table[:, 1] == 0).all())
    assert _table(torch.tensor([7, 3, 7]), 0).tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    g = torch.Generator().manual_seed(0)
    assert _table(torch.randn(20, 17, generator=g), 0).shape == (20, 16)
    wide = torch.randn(40, 3000, generator=g)
    sketch = _sketch(wide, 0)
    assert sketch.shape == (40, 256)
    ratio = torch.cdist(sketch, sketch)[0, 1:] / torch.cdist(wide, wide)[0, 1:]
    assert abs(float(ratio.mean()) - 1) < 0.03  # distances are kept
    few = torch.randn(5, 2, generator=g)
    assert _sketch(few, 0) is few


@pytest.mark.parametrize(("n", "fitted"), [(150, 113), (3000, 1875)])
def test_a_quarter_of_at_most_2500_examples_is_held_out(n, fitted):
    x = torch.randn(n, 2, generator=torch.Generator().manual_seed(0))
    assert simple_model_baseline((x, x[:, :1])).examples == fitted
