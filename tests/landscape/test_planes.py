"""Planes through models: places and losses of least squares written out."""

import pytest
import torch
from torch import nn

from gnomon.core import InputError
from gnomon.landscape import loss_plane
from gnomon.landscape.planes import filter_normalized

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(6, 3, generator=G).double(), torch.randn(6, generator=G).double()


def linear(weights):
    net = nn.Linear(3, 1, bias=False).double()
    net.weight.data = torch.as_tensor(weights).double().reshape(1, 3)
    return net


def loss(w):
    return float((X @ w - Y).square().mean()) / 2


def test_the_grid_reaches_as_far_as_the_farthest_model_and_losses_are_those_of_its_places():
    w = torch.tensor([2.3, -1.2, 0.5]).double()
    moves = torch.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.5, 0.1]]).double()
    found = loss_plane(linear(w), (X, Y), models=[linear(w + m) for m in moves], reach=1.5, points=4)
    u, s, v = torch.linalg.svd(moves, full_matrices=False)
    places = moves @ v[:2].T
    assert torch.allclose(found.path[:3].abs(), places.abs()) and found.path[3].tolist() == [0.0, 0.0]
    assert found.share == pytest.approx(float(s[:2].square().sum() / s.square().sum()))
    far = 1.5 * float(places.abs().max())
    assert found.s.tolist() == pytest.approx([-far, -far / 2, 0, far / 2, far]) and torch.equal(found.s, found.t)
    signs = [1.0 if float(found.path[0, k] * places[0, k]) > 0 else -1.0 for k in range(2)]
    for row, t in enumerate(found.t):
        for column, a in enumerate(found.s):
            here = w + a * signs[0] * v[0] + t * signs[1] * v[1]
            assert float(found.losses[row, column]) == pytest.approx(loss(here))
    row, column = divmod(int(found.losses.argmin()), 5)
    assert found.best == (float(found.s[column]), float(found.t[row]))


def test_models_on_a_line_span_no_plane_and_nearly_on_a_line_do():
    w = torch.zeros(3).double()
    with pytest.raises(InputError, match="on one line"):
        loss_plane(linear(w), (X, Y), models=[linear([1.0, 0, 0]), linear([2.0, 0, 0])], points=3)
    found = loss_plane(linear(w), (X, Y), models=[linear([1.0, 0, 0]), linear([2.0, 1e-4, 0])], points=3)
    assert found.share == pytest.approx(1.0)


def test_random_directions_have_the_length_of_each_filter():
    weight, bias = torch.randn(4, 3, 2, 2, generator=G), torch.ones(4)
    direction = torch.randn(52, generator=G)
    found = filter_normalized(direction, [weight, bias])
    assert found[48:].tolist() == [0.0] * 4
    for i in range(4):
        part, d = found[12 * i : 12 * i + 12], direction[12 * i : 12 * i + 12]
        assert torch.allclose(part, d / d.norm() * weight[i].norm(), atol=1e-6)


def test_a_random_plane_reaches_as_far_as_asked():
    found = loss_plane(linear([1.0, 2.0, 2.0]), (X, Y), reach=0.5, points=5)
    assert found.s.tolist() == [-0.5, -0.25, 0.0, 0.25, 0.5] and found.share == 1.0
    assert float(found.losses[2, 2]) == pytest.approx(loss(torch.tensor([1.0, 2.0, 2.0]).double()))
    assert len(loss_plane(linear([1.0, 2.0, 2.0]), (X, Y)).s) == 21


def test_a_plane_holds_no_more_than_all_of_the_motion():
    """In float32, the smaller eigenvalues of models in one plane are rounding, half of them below zero."""
    generator = torch.Generator().manual_seed(0)
    one, two = torch.randn(2, 3, generator=generator)
    for _ in range(10):
        moves = torch.randn(5, 2, generator=generator) @ torch.stack([one, two])
        nets = [linear(move).float() for move in [torch.zeros(3), *moves]]
        found = loss_plane(nets[0], (X.float(), Y.float()), models=nets[1:], points=3)
        assert found.share <= 1.0 and found.share == pytest.approx(1.0, abs=1e-5)
