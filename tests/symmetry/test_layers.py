import pytest
import torch
from torch import nn

import gnomon
from gnomon import InputError
from gnomon.symmetry import GroupBatchNorm2d, GroupConv2d, GroupPool, SetLinear, cyclic, dihedral, orbit_average
from gnomon.symmetry.orbit import without_group_convolutions

GROUPS = {"C2": cyclic(2), "C4": cyclic(4), "D4": dihedral(4), "D1": dihedral(1)}


def matrix(group, g, rng=torch.float64):
    """The element as a matrix of the plane: rows down, columns to the right; quarter turns as torch.rot90 has them."""
    flip, turn = divmod(g, group.rotations)
    angle = torch.tensor(2 * torch.pi * turn / group.rotations, dtype=rng)
    rotation = torch.stack([torch.stack([angle.cos(), -angle.sin()]), torch.stack([angle.sin(), angle.cos()])])
    return rotation @ torch.diag(torch.tensor([1.0, -1.0 if flip else 1.0], dtype=rng))


@pytest.mark.parametrize("name", GROUPS)
def test_products_are_those_of_matrices_and_of_turned_images(name):
    group = GROUPS[name]
    x = torch.randn(5, 5)
    for g in range(group.order):
        for h in range(group.order):
            product = group.product(g, h)
            assert torch.allclose(matrix(group, g) @ matrix(group, h), matrix(group, product), atol=1e-12)
            assert torch.equal(group.turn(group.turn(x, h), g), group.turn(x, product))


def network(group, channels=4, **options):
    torch.manual_seed(0)
    return nn.Sequential(
        GroupConv2d(2, channels, 3, group=group, lifting=True, padding=1, **options),
        GroupBatchNorm2d(channels, group=group),
        nn.ReLU(),
        GroupConv2d(channels, 3, 5, group=group, padding=2, **options),
    ).double()


@pytest.mark.parametrize("name", ["C2", "C4", "D4"])
@pytest.mark.parametrize("mode", ["zeros", "circular"])
def test_turned_images_give_turned_features(name, mode):
    group = GROUPS[name]
    net, x = network(group, padding_mode=mode), torch.randn(3, 2, 9, 9, dtype=torch.float64)
    y = net(x)
    pool = GroupPool(group=group)
    for g in range(group.order):
        turned = net(group.turn(x, g))
        assert torch.allclose(turned, group.turn_features(y, g), atol=1e-12)
        assert torch.allclose(pool(turned).mean((2, 3)), pool(y).mean((2, 3)), atol=1e-12)
        if g:
            assert not torch.allclose(turned, y, atol=1e-3)
    assert net[0].interpolation_error == 0 == net[3].interpolation_error


def test_a_plain_convolution_does_not_commute():
    x, layer = torch.randn(1, 2, 7, 7), nn.Conv2d(2, 3, 3, padding=1)
    assert not torch.allclose(layer(x.rot90(1, (2, 3))), layer(x).rot90(1, (2, 3)), atol=1e-2)


def test_eight_rotations_are_interpolated_and_say_so():
    group = cyclic(8)
    layer = GroupConv2d(1, 4, 7, group=group, lifting=True, padding=3, bias=False)
    assert 0.1 < layer.interpolation_error < 1
    place = torch.arange(7.0) - 3
    bumps = [torch.exp(-((place[:, None] - a) ** 2 + place**2) / 2) for a in (-0.5, 0.0, 0.5, 1.0)]
    layer.weight.data = torch.stack(bumps)[:, None, None]  # smooth kernels: interpolation is good for them
    at = torch.linspace(-4, 4, 33)
    x = torch.exp(-((at[:, None] - 0.5) ** 2) / 2 - at**2)[None, None]  # smooth, and zero at the border
    y = layer(x)
    quarter = layer(group.turn(x, 2)) - group.turn_features(y, 2)
    eighth = layer(group.turn(x, 1)) - group.turn_features(y, 1)
    assert quarter.norm() < 1e-5 * y.norm()
    assert eighth.norm() < 0.1 * y.norm()


def wide(group, width):
    """A network whose limit is known, without biases."""
    options = {"group": group, "padding": 1, "padding_mode": "circular", "bias": False}
    return nn.Sequential(
        GroupConv2d(1, width, 3, lifting=True, **options),
        nn.ReLU(),
        GroupConv2d(width, width, 3, **options),
        nn.ReLU(),
        GroupPool(group=group),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width, 1, bias=False),
    ).double()


def empirical(net, x):
    """The kernel of the last layer's inputs, with the variance 1 / (3 fan_in) of its weights."""
    with torch.no_grad():
        features = net[:-1](x)
    return features @ features.T / (3 * features.shape[1])


@pytest.mark.parametrize("name", ["C4", pytest.param("D4", marks=pytest.mark.full)])
def test_the_kernels_of_wide_networks_are_averages_over_the_orbit(name):
    group = GROUPS[name]
    rows = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)[:, None].expand(4, 4)
    x = torch.stack([rows, rows.T, torch.eye(4, dtype=torch.float64) - 0.25])[:, None]
    limit = gnomon.limit(without_group_convolutions(wide(group, 8)))
    torch.manual_seed(1)
    mean = torch.stack([empirical(wide(group, 64), x) for _ in range(40)]).mean(0)
    expected = orbit_average(limit.nngp, x, group=group)
    gap = (mean - expected).norm()
    assert gap < 0.4 * (limit.nngp(x) - expected).norm()  # not the plain network's
    assert gap < 0.06 * expected.norm()


def test_sets():
    layer = SetLinear(2, 3).double()
    x = torch.randn(4, 5, 2, dtype=torch.float64)
    order = torch.randperm(5)
    assert torch.allclose(layer(x[:, order]), layer(x)[:, order])
    single = SetLinear(1, 1, bias=False).double()
    theta = torch.autograd.functional.jacobian(lambda v: single(v[:, None])[:, 0], torch.zeros(4, dtype=torch.float64))
    assert torch.allclose(theta - torch.diag(theta.diag()), theta[0, 1] * (1 - torch.eye(4, dtype=torch.float64)))
    assert torch.allclose(theta.diag(), theta[0, 0].expand(4))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: GroupConv2d(1, 1, 2, group=cyclic(4)), "kernel_size must be an odd number"),
        (lambda: GroupConv2d(1, 1, 3, group=cyclic(4), padding_mode="reflect"), "padding_mode must be"),
        (lambda: GroupConv2d(1, 1, 3, group=cyclic(4))(torch.ones(1, 3, 5, 5)), r"takes \(n, 4, height, width\)"),
        (lambda: GroupPool(group=cyclic(4))(torch.ones(1, 3, 5, 5)), "the group has 4 elements"),
        (
            lambda: GroupBatchNorm2d(4, group=cyclic(4))(torch.ones(2, 12, 3, 3)),
            "x has 3 channels for each group element",
        ),
        (lambda: orbit_average(lambda a, b: a, torch.ones(1, 1, 2, 2), group=cyclic(8)), "images turn exactly by 90"),
        (lambda: without_group_convolutions(GroupPool(group=cyclic(4), largest=True)), "takes the maximum"),
        (lambda: cyclic(0), "n must be a whole number of at least 1"),
    ],
)
def test_what_cannot_be_is_said(make, match):
    with pytest.raises(InputError, match=match):
        make()
