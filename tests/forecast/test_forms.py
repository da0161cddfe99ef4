"""Which form of the kernel is computed, and what a Gram matrix is passed with."""

import sys

import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.forecast.predict import _axes_loss, _complete, _loss_targets, predict
from gnomon.training import Squared


@pytest.mark.parametrize(("points", "form"), [(1500, "full"), (1501, "trace")])
def test_outputs_are_coupled_up_to_three_thousand_examples_times_outputs(monkeypatch, points, form):
    seen = []

    def ntk(*points, outputs):
        seen.append(outputs)
        raise InterruptedError

    monkeypatch.setattr(sys.modules[predict.__module__], "ntk", ntk)
    with pytest.raises(InterruptedError):
        predict(nn.Linear(1, 2), (torch.zeros(points, 1), torch.zeros(points, 2)))
    assert seen == [form]


def test_a_gram_matrix_is_for_predict_from_kernel():
    gram, y = torch.eye(2), torch.ones(2)
    with pytest.raises(InputError, match=r"Gram matrix .*predict_from_kernel\(K, y"):
        predict(gram, y, times=[1.0])


def test_pixels_are_positions_and_all_labels_must_be_classes():
    x, y = torch.randn(6, 1, 2, 2), torch.randint(0, 3, (6, 2, 2), generator=torch.Generator().manual_seed(0))
    loss = _axes_loss(nn.Conv2d(1, 3, 1), x, y)
    assert (loss.classes, loss.positions, loss.classes_first) == (3, 4, True)
    assert _axes_loss(nn.Linear(2, 3), torch.randn(6, 2), y[:, 0, 0]) is None
    tokens = torch.arange(12).reshape(6, 2) % 5
    assert _axes_loss(nn.Embedding(5, 5), tokens, tokens).classes == 5
    late = tokens.clone()
    late[5, 1] = 9  # beyond the examples that are run
    with pytest.raises(InputError, match="9"):
        _axes_loss(nn.Embedding(5, 5), tokens, late)


class Decoder(nn.Module):
    """A network that needs its targets, as models do that return a loss as well, and has an optional mask."""

    def forward(self, x, targets, mask=None):
        return x * (targets + 1)


def test_inputs_are_completed_by_the_targets_that_a_module_requires():
    x, y = torch.randn(3, 2), torch.randn(3, 2)
    found = _complete(x, y, Decoder())
    assert torch.equal(Decoder()(**found), x * (y + 1))
    assert _complete(x, y, nn.Linear(2, 2)) is x


@pytest.mark.parametrize(("start", "shape"), [(None, (3,)), (torch.zeros(3), (3,)), (torch.zeros(3, 1), (3, 1))])
def test_targets_have_a_column_if_the_outputs_have_one(start, shape):
    loss, targets = _loss_targets(Squared(), torch.tensor([1.0, 2.0, 3.0]), 3, start, None)
    assert isinstance(loss, Squared) and targets.shape == shape and targets.flatten().tolist() == [1.0, 2.0, 3.0]


def test_four_examples_tell_what_outputs_mean():
    seen = []

    class Counted(nn.Conv2d):
        def forward(self, x):
            seen.append(len(x))
            return super().forward(x)

    y = torch.arange(24).reshape(6, 2, 2) % 3
    assert _axes_loss(Counted(1, 3, 1), torch.randn(6, 1, 2, 2), y).classes == 3
    assert seen == [4]


def test_the_kernel_of_a_wide_network_is_that_of_test_points_by_training_points():
    """Points 1 and 2 train, 3 and 5 and 7 test: the linear kernel a x b, times 1 / 1 input, plus no bias."""
    net = nn.Sequential(nn.Linear(1, 4, bias=False), nn.Identity(), nn.Linear(4, 1, bias=False)).double()
    x, y, z = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [5.0], [7.0]])
    found = predict(net, (x.double(), y.double()), test=z.double(), kernel="infinite", times=[float("inf")])
    start = net(z.double()).detach() - z * net(torch.ones(1, 1).double()).detach()  # a linear network has no rest
    assert torch.allclose(found.test[0], z.double() + start, atol=1e-6)


def test_targets_at_positions_are_one_hot_rows_in_the_order_of_the_outputs():
    x, y = torch.randn(6, 1, 2, 2), torch.randint(0, 3, (6, 2, 2), generator=torch.Generator().manual_seed(0))
    axes = _axes_loss(nn.Conv2d(1, 3, 1), x, y)
    loss, table = _loss_targets(None, y, 6, torch.zeros(6, 3, 2, 2), axes)
    expected = nn.functional.one_hot(y, 3).movedim(3, 1).reshape(6, -1)
    assert loss is axes and torch.equal(table, expected.to(table.dtype))
