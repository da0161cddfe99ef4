"""Losses with positions and members, compared with torch's losses and with autograd."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from gnomon.adapter.losses import EnsembleSquaredLoss, PositionCrossEntropy
from gnomon.adapter.states import _independent
from gnomon.core.errors import InputError

N, T, K = 3, 4, 5


def case(name):
    """A loss, rows of outputs, labels, and torch's own computation of the same number."""
    g = torch.Generator().manual_seed(1)
    f = torch.randn(N, T * K, generator=g, dtype=torch.float64)
    y = torch.randint(0, K, (N, T), generator=g)
    part = y.clone()
    part[0, 1:] = part[2, 0] = -100
    last, first = f.reshape(N, T, K), f.reshape(N, K, T)
    return {
        "all": (PositionCrossEntropy(K, T), f, y, lambda f: F.cross_entropy(f.reshape(-1, K), y.flatten())),
        "some": (PositionCrossEntropy(K, T), f, part, lambda f: F.cross_entropy(f.reshape(-1, K), part.flatten())),
        "first": (
            PositionCrossEntropy(K, T, classes_first=True), f, y, lambda f: F.cross_entropy(f.reshape(first.shape), y)
        ),
        "shifted": (
            PositionCrossEntropy(K, T, shift=1), f, y,
            lambda f: F.cross_entropy(f.reshape(last.shape)[:, :-1].reshape(-1, K), y[:, 1:].flatten()),
        ),
        "ensemble": (
            PositionCrossEntropy(K, T, shared=True), f, y[:, 0],
            lambda f: torch.stack([F.cross_entropy(f.reshape(last.shape)[:, j], y[:, 0]) for j in range(T)]).mean(),
        ),
        "members": (
            EnsembleSquaredLoss(T), f, last.mean(1) + 1,
            lambda f: torch.stack(
                [(f.reshape(last.shape)[:, j] - last.mean(1) - 1).square().sum(1).mean() / 2 for j in range(T)]
            ).mean(),
        ),
    }[name]  # fmt: skip


CASES = ("all", "some", "first", "shifted", "ensemble", "members")


@pytest.mark.parametrize("name", CASES)
def test_value_gradient_and_hessian_are_those_of_torch(name):
    loss, f, y, plain = case(name)
    assert float(loss.value(f, y)) == pytest.approx(float(plain(f)), rel=1e-12)
    assert float(loss(f.reshape(N, T, K), y)) == pytest.approx(float(plain(f)), rel=1e-12)
    gradient = torch.autograd.functional.jacobian(plain, f)
    torch.testing.assert_close(loss.gradient(f, y) / N, gradient, rtol=1e-10, atol=1e-12)
    whole = torch.autograd.functional.hessian(plain, f)
    blocks = torch.stack([whole[i, :, i] for i in range(N)])
    torch.testing.assert_close(loss.hessian(f, y) / N, blocks, rtol=1e-10, atol=1e-12)
    root = loss.root(f, y)
    torch.testing.assert_close(root @ root.transpose(1, 2) / N, blocks, rtol=1e-10, atol=1e-12)
    assert bool((root.diagonal(dim1=1, dim2=2) >= 0).all())


def test_the_curvature_is_the_largest_that_the_hessian_reaches():
    even = PositionCrossEntropy(2, 1)  # diag(p) - p p^T has its largest eigenvalue, 1/2, at p = (1/2, 1/2)
    hessian = even.hessian(torch.zeros(1, 2, dtype=torch.float64), torch.tensor([[0]]))
    assert float(torch.linalg.eigvalsh(hessian).max()) == pytest.approx(even.curvature, rel=1e-12)
    one = EnsembleSquaredLoss(1)
    hessian = one.hessian(torch.zeros(1, 2, dtype=torch.float64), torch.zeros(1, 2))
    assert float(torch.linalg.eigvalsh(hessian).max()) == one.curvature


def test_targets_of_members_are_repeated_for_each_member():
    f, y = torch.zeros(2, 6), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    table = [[1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 4.0, 3.0, 4.0]]
    assert EnsembleSquaredLoss(3).table(y, f).tolist() == table
    assert EnsembleSquaredLoss(3).observations(y) == EnsembleSquaredLoss(3).decisions(y) == 2
    labels = torch.tensor([[0, -100], [1, 1]])
    assert PositionCrossEntropy(2, 2).observations(labels) == 3
    assert PositionCrossEntropy(2, 2, shared=True).observations(labels[:, 0]) == 2


def test_right_decisions_are_counted_by_hand():
    f = torch.tensor([[9.0, 0.0, 0.0, 9.0, 9.0, 0.0], [0.0, 9.0, 0.0, 9.0, 0.0, 9.0]])
    y = torch.tensor([[0, 1, 1], [1, -100, 0]])
    loss = PositionCrossEntropy(2, 3)
    assert loss.right(f, y) == (3, 5)
    assert loss.decisions(y) == 5
    assert PositionCrossEntropy(2, 3, shift=1).right(f, torch.tensor([[0, 0, 1], [0, 1, 1]])) == (4, 4)


def test_an_ensemble_decides_by_its_mean_probability():
    f = torch.tensor([[9.0, 0.0, 0.0, 0.1, 0.0, 0.1]])  # two of three members vote for class 1, the mean for class 0
    assert PositionCrossEntropy(2, 3, shared=True).right(f, torch.tensor([0])) == (1, 1)


def test_labels_that_no_class_has_are_refused():
    with pytest.raises(InputError, match="labels go from 0 to 5 and there are 5 classes"):
        PositionCrossEntropy(5, 2).targets(torch.tensor([[0, 5]]))
    assert PositionCrossEntropy(5, 2).targets(torch.tensor([[0, -100]])).tolist() == [[0, -100]]


def test_one_class_is_certain():
    """Labels of one class have the shape of the outputs, and are labels still."""
    loss = PositionCrossEntropy(classes=1, positions=2)
    assert float(loss.value(torch.tensor([[3.0, -1.0]]), torch.zeros(1, 2).long())) == 0.0


class Mixing(torch.nn.Module):
    """Adds a share of the mean over the axis of the texts to each of them."""

    def __init__(self, share, axis):
        super().__init__()
        self.share, self.axis = share, axis

    def forward(self, x):
        return x + self.share * x.mean(self.axis, keepdim=True)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("texts", [2, 3])
def test_texts_are_processed_apart_if_none_sees_another(axis, texts):
    shape = (texts, 5) if axis == 0 else (5, texts)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    assert _independent(Mixing(0.0, axis), x, axis) and not _independent(Mixing(0.5, axis), x, axis)
    assert not _independent(Mixing(0.0, axis), x.narrow(axis, 0, 1), axis)


def test_targets_in_the_shape_of_the_outputs_stay_as_they_are():
    members = EnsembleSquaredLoss(3)
    y = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    table = members.table(y, torch.zeros(2, 6))
    assert table.tolist() == [[1.0, 2.0] * 3, [3.0, 4.0] * 3] and members.table(table, torch.zeros(2, 6)) is table
    alone = EnsembleSquaredLoss(1)
    assert alone.table(y, torch.zeros(2, 2)).tolist() == y.tolist()


def test_labels_at_positions_are_one_hot_and_zero_without_a_label():
    loss, y = PositionCrossEntropy(3, 2), torch.tensor([[2, -100], [0, 1]])
    table = loss.table(y, torch.zeros(2, 6))
    assert table.tolist() == [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]]
    assert loss.table(table, torch.zeros(2, 6)) is table
    first = PositionCrossEntropy(3, 2, classes_first=True).table(y, torch.zeros(2, 6))
    assert first.reshape(2, 3, 2).movedim(1, 2).reshape(2, 6).tolist() == table.tolist()
    shifted = PositionCrossEntropy(3, 2, shift=1).table(torch.tensor([[2, 1]]), torch.zeros(1, 6))
    assert shifted.tolist() == [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]  # position 0 predicts token 1; position 1 nothing


def test_members_vote_with_their_probabilities_not_with_their_outputs():
    """Outputs (9, 0, 0) against twice (0, 2, 0): on average class 0 has the larger output, class 1 the probability."""
    loss = PositionCrossEntropy(3, 3, shared=True)
    f = torch.tensor([[9.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0, 0.0], [5.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    p = f.reshape(2, 3, 3).softmax(2).mean(1)
    assert p.argmax(1).tolist() == [1, 0] and f.reshape(2, 3, 3).mean(1).argmax(1).tolist() == [0, 0]
    assert loss.right(f, torch.tensor([1, 0])) == (2, 2) and loss.right(f, torch.tensor([0, 1])) == (0, 2)
