"""Numbers of group layers, moves, representations and matching against computations written out here."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.core import InputError
from gnomon.symmetry import GroupBatchNorm2d, GroupConv2d, cyclic, dihedral, equivariance
from gnomon.symmetry.action import (
    action,
    one_parameter_group,
    permutations,
    rotations,
    sample_group,
    scalings,
    translations,
)
from gnomon.symmetry.finite import FiniteGroup, cyclic_group, dihedral_group, irreps, symmetric_group
from gnomon.symmetry.lie import lie_derivative, lie_derivatives
from gnomon.symmetry.parameters import gradient_along_orbit, match_units, permute_units
from gnomon.symmetry.strength import commutator_norm


def test_representations_are_found_for_every_seed():
    group = symmetric_group(3)
    for seed in range(60):  # among them matrices whose eigenvalues are all negative
        found = irreps(group, seed=seed)
        assert [rho.shape[1] for rho in found] == [1, 1, 2]
        assert_allclose(found[0].real.flatten(), [1.0] * 6, atol=1e-9)


def test_groups_of_more_than_400_elements_are_refused():
    with pytest.raises(InputError, match="at most 400"):
        irreps(cyclic_group(401))


def test_a_table_that_is_not_associative_is_refused():
    loop = torch.tensor([[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]])
    with pytest.raises(InputError, match="not associative"):
        FiniteGroup(loop, tuple("eabcd"))


def test_a_zoom_acts_on_rows_and_columns():
    rows = torch.linspace(-1, 1, 7, dtype=torch.float64)[:, None].expand(7, 7)
    ramp = (rows + 2 * rows.T)[None, None]
    assert_allclose(scalings().flow(ramp, 0.25), ramp / 1.25, atol=1e-9)
    assert_allclose(scalings((4.0,)).moves[0](ramp), ramp / 4, atol=1e-9)


def test_drawn_moves_act_on_features_of_the_size_of_the_images_only():
    moves = sample_group(rotations(), 0.1, 0.2, seed=3)
    x, h = torch.rand(2, 1, 6, 6), torch.rand(2, 3, 6, 6)
    assert len(moves.moves) == 16
    assert_allclose(moves.features(h, 4, x), moves.moves[4](h))
    assert moves.features(torch.rand(2, 3, 3, 6), 4, x) is None
    assert moves.features(torch.rand(2, 3, 6, 3), 4, x) is None
    assert moves.features(torch.rand(2, 6), 4, x) is None
    with pytest.raises(InputError, match="count"):
        sample_group(rotations(), 0.1, 0.2, 1)


def test_moves_have_their_default_strengths():
    assert rotations().labels == ("15 degrees", "45 degrees", "90 degrees")
    assert scalings().labels == ("times 0.8", "times 1.25")
    assert one_parameter_group(torch.zeros(2, 2)).labels == ("strength 0.5", "strength 1")
    assert translations().labels == ("by (0, 1)", "by (1, 0)", "by (2, 2)")
    assert permutations(5).labels == ("order 1", "order 2", "order 3", "order 4")
    wave = torch.randn(1, 1, 9, 9).double()
    for move, angle in zip(rotations().moves, (15, 45, 90), strict=True):
        assert_allclose(move(wave), rotations().flow(wave, np.deg2rad(angle)), atol=1e-9)
    for move, factor in zip(scalings().moves, (0.8, 1.25), strict=True):
        assert_allclose(move(wave), scalings().flow(wave, factor - 1), atol=1e-9)


def test_features_of_sets_move_if_their_second_axis_is_the_set():
    moves, x = permutations(5, 2, seed=1), torch.rand(3, 5, 2)
    assert_allclose(moves.features(x[..., 0], 1, x), moves.moves[1](x)[..., 0])
    assert moves.features(torch.rand(3, 4), 1, x) is None and moves.features(torch.rand(5), 1, x) is None


@pytest.mark.parametrize("group", [cyclic(8), dihedral(3)], ids=["C8", "D3"])
def test_the_interpolation_error_is_that_of_products_of_turned_kernels(group):
    moves = group.kernels(3).numpy()
    gaps, sizes = 0.0, 0.0
    for g in range(group.order):
        for h in range(group.order):
            once = moves[group.product(g, h)]
            gaps += ((moves[g] @ moves[h] - once) ** 2).sum()
            sizes += (once**2).sum()
    found = GroupConv2d(1, 2, 3, group=group).interpolation_error
    assert found > 0.01
    assert_allclose(found, (gaps / sizes) ** 0.5, rtol=1e-9)


def test_first_weights_of_a_group_convolution_are_uniform_up_to_one_over_the_root_of_the_fan_in():
    torch.manual_seed(0)
    layer = GroupConv2d(3, 40, 3, group=cyclic(4))
    bound = (3 * 4 * 9) ** -0.5
    for values in (layer.weight.detach(), layer.bias.detach()):
        assert float(values.abs().max()) <= bound and float(values.abs().max()) > 0.9 * bound
        assert float(values.min()) < -0.8 * bound and float(values.max()) > 0.8 * bound


def test_the_group_norm_has_the_defaults_of_batch_normalization():
    x = 3e-3 * torch.randn(4, 6, 2, 5) + 0.01  # a variance near eps
    layer, plain = GroupBatchNorm2d(2, group=cyclic(3)), nn.BatchNorm2d(2)
    wanted = plain(x.reshape(4, 2, 3, 2, 5).flatten(2).unsqueeze(-1)).reshape(x.shape)
    assert_allclose(layer(x).detach(), wanted.detach(), rtol=1e-5, atol=1e-6)
    assert_allclose(layer.normalization.running_mean, plain.running_mean, rtol=1e-5)
    assert_allclose(layer.normalization.running_var, plain.running_var, rtol=1e-5)


class Cube(nn.Module):
    def forward(self, x):
        return x**3


def test_the_default_step_of_a_lie_derivative_is_a_thousandth():
    grow = action({"twice": lambda x: 2 * x}, flow=lambda x, t: x * (1 + t))
    x = torch.tensor([[1.0, 2.0], [0.5, -3.0]]).double()
    # (1 + s)^3 - (1 - s)^3 over 2 s is 3 + s^2
    assert_allclose(lie_derivative(Cube(), x, grow)[0], 3 + 1e-6, rtol=1e-10)
    assert_allclose(lie_derivative(Cube(), x, grow, step=0.1)[0], 3.01, rtol=1e-10)


def test_features_that_are_zero_have_no_derivative_and_no_error():
    zero = nn.Linear(2, 2, bias=False).double()
    nn.init.zeros_(zero.weight)
    turn = one_parameter_group(torch.tensor([[0.0, -1.0], [1.0, 0.0]]))
    x = torch.randn(3, 2).double()
    assert lie_derivatives(zero, x, turn)[-1].invariance == 0.0
    assert equivariance(zero, x, turn).output.invariance == 0.0


def test_features_that_begin_at_zero_and_move_have_an_infinite_error():
    cut = nn.ReLU()
    x = -torch.ones(3, 2).double()
    assert equivariance(cut, x, action({"sign": lambda v: -v})).output.invariance == float("inf")


def test_the_equivariant_derivative_turns_the_features_back():
    conv = nn.Conv2d(1, 2, 3, padding=1).double()  # zeros at the border break the symmetry
    x = torch.randn(3, 1, 6, 7).double()
    group = translations()
    found = lie_derivatives(nn.Sequential(conv), x, group)[0]
    s, h = 1e-3, conv(x).detach()

    def back(t):
        return group.flow(conv(group.flow(x, t)).detach(), -t)

    speed = (back(s) - back(-s)).flatten(1).norm(dim=1) / (2 * s) / h.flatten(1).norm(dim=1)
    assert_allclose(found.equivariance, speed.mean(), rtol=1e-8)
    half = 1.96 * float(speed.std()) / 3**0.5
    assert_allclose(found.equivariance_interval.high, float(speed.mean()) + half, rtol=1e-8)


def power_iteration(matrix, start, steps):
    v = start / np.linalg.norm(start)
    for _ in range(steps - 1):
        v = matrix.T @ (matrix @ v)
        v /= np.linalg.norm(v)
    return np.linalg.norm(matrix @ v)


@pytest.mark.parametrize("steps", [1, 2, 3, None])
def test_the_norm_of_a_commutator_takes_as_many_steps_as_it_says(steps):
    layer = nn.Linear(5, 5).double()
    matrix = torch.randn(5, 5).double()
    if steps is None:  # eigenvalues so close that fifty steps do not converge
        layer.weight.data = torch.diag(torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0]).double())
        matrix = torch.zeros(5, 5).double()
        matrix[0, 1], matrix[3, 2] = 1.0, 0.252
    w, m = layer.weight.detach().numpy(), matrix.numpy()
    start = torch.randn(1, 5, generator=torch.Generator().manual_seed(7), dtype=torch.float64).numpy()[0]
    options = {} if steps is None else {"steps": steps}
    found = commutator_norm(layer, lambda x: x @ matrix.T, (5,), seed=7, **options)
    assert_allclose(found, power_iteration(w @ m - m @ w, start, steps or 50), rtol=1e-12)


def test_one_round_of_matching_visits_every_layer_once():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    order = torch.tensor([2, 0, 3, 1])
    found = match_units(net, permute_units(net, order), rounds=1)
    assert found.distance_after == 0.0 and found.distance_before > 0.1
    assert order[found.orders[0]].tolist() == [0, 1, 2, 3]


def test_matching_of_two_hidden_layers_composes_the_orders():
    torch.manual_seed(2)  # with thirty inputs the first layer alone decides the order
    net = nn.Sequential(nn.Linear(30, 4), nn.Tanh(), nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)).double()
    first, second = torch.tensor([2, 0, 3, 1]), torch.tensor([4, 2, 0, 1, 3])
    found = match_units(net, permute_units(permute_units(net, first), second, 1))
    x = torch.randn(6, 30).double()
    assert_allclose(found.module(x).detach(), net(x).detach(), rtol=1e-9)
    assert found.distance_after < 1e-12
    assert first[found.orders[0]].tolist() == [0, 1, 2, 3] and second[found.orders[1]].tolist() == [0, 1, 2, 3, 4]


def test_reflections_of_a_dihedral_group_come_after_the_rotations():
    assert dihedral_group(3).labels == ("r0", "r1", "r2", "r0s", "r1s", "r2s")


def test_a_loss_without_gradient_leaks_nothing():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).double()
    assert gradient_along_orbit(net, 0 * net(torch.randn(4, 2).double()).sum()) == 0.0
