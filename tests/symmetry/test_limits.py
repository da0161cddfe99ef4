"""Limits of group convolutions: against averages over the orbit, and against wide networks."""

import math

import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw, NoLimitError, UnsupportedModuleError
from gnomon.symmetry import (
    GroupBatchNorm2d,
    GroupConv2d,
    GroupPool,
    SetLinear,
    SetPool,
    cyclic,
    dihedral,
    orbit_average,
)
from gnomon.symmetry.orbit import without_group_convolutions


def network(group, width, *, mode="zeros", bias=True, pool=True, stride=1):
    """Two convolutions over the group, means over places and, where asked, over elements."""
    options = {"group": group, "padding": 1, "padding_mode": mode, "bias": bias}
    return nn.Sequential(
        GroupConv2d(1, width, 3, lifting=True, **options),
        nn.ReLU(),
        GroupConv2d(width, width, 3, stride=stride, **options),
        nn.ReLU(),
        *([GroupPool(group=group)] if pool else []),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width * (1 if pool else group.order), 1, bias=bias),
    ).double()


def images(count=3, side=4):
    return torch.randn(count, 1, side, side, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def tangent(net, x):
    """grad f . grad f of a finite network."""
    rows = [torch.autograd.grad(net(one[None]).sum(), list(net.parameters())) for one in x]
    flat = torch.stack([torch.cat([g.flatten() for g in row]) for row in rows])
    return flat @ flat.T


@pytest.mark.parametrize("group", [cyclic(4), dihedral(4), cyclic(2)], ids=["C4", "D4", "C2"])
@pytest.mark.parametrize("mode", ["zeros", "circular"])
def test_kernels_are_averages_over_the_orbit(group, mode):
    net, x = network(group, 4, mode=mode), images()
    options = {"parametrization": "ntk", "init": InitializationLaw(1.3, 0.2)}
    found, other = gnomon.limit(net, **options)(x), gnomon.limit(without_group_convolutions(net), **options)
    for kernel, expected in ((found.nngp, other.nngp), (found.ntk, other.ntk)):
        average = orbit_average(expected, x, group=group)
        assert torch.allclose(kernel, average, rtol=1e-10)
        assert not torch.allclose(expected(x), average, rtol=1e-4)


def test_in_the_standard_parametrization_the_tangent_kernel_is_not_the_average():
    net, x = network(cyclic(4), 4, bias=False), images()
    found, other = gnomon.limit(net)(x), gnomon.limit(without_group_convolutions(net))
    assert torch.allclose(found.nngp, orbit_average(other.nngp, x, group=cyclic(4)), rtol=1e-10)
    assert not torch.allclose(found.ntk, orbit_average(other.ntk, x, group=cyclic(4)), rtol=1e-2)


@pytest.mark.full
@pytest.mark.parametrize(("pool", "stride"), [(True, 1), (False, 2)])
def test_wide_networks_come_nearer_as_one_over_root_width(pool, stride):
    group, x, gaps, widths = cyclic(4), images(), [], (8, 16, 32, 64)
    for width in widths:
        limit = gnomon.limit(network(group, width, pool=pool, stride=stride)).ntk(x)
        draws = []
        for seed in range(2048 // width):
            torch.manual_seed(1000 * width + seed)
            draws.append(tangent(network(group, width, pool=pool, stride=stride), x))
        kernels, target = torch.stack(draws) / width, limit / width  # of order 1
        spread = kernels.std(0) / len(draws) ** 0.5
        bias = 3 / width * float(target.diagonal().mean())  # the next order of the mean
        assert bool(((kernels.mean(0) - target).abs() < 4.5 * spread + bias).all())
        gaps.append(float((kernels - target).square().mean(0).sqrt().norm()))
    x_axis = torch.tensor([math.log(w) for w in widths])
    slope = torch.linalg.lstsq(
        torch.stack([x_axis, torch.ones(4)], 1), torch.tensor([math.log(g) for g in gaps])[:, None]
    ).solution[0]
    assert -0.65 < float(slope) < -0.35  # fluctuations fall as width^(-1/2)


def test_batch_normalization_and_pooling_before_the_group_are_read():
    group, x = cyclic(4), images()
    parts = [GroupConv2d(1, 8, 3, group=group, lifting=True, padding=1, bias=False), nn.ReLU()]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 1, bias=False)]
    pooled = nn.Sequential(*parts, nn.AvgPool2d(2), GroupPool(group=group), *head).double()
    other = nn.Sequential(*parts, GroupPool(group=group), nn.AvgPool2d(2), *head).double()
    assert torch.allclose(gnomon.limit(pooled).ntk(x), gnomon.limit(other).ntk(x), rtol=1e-12)
    normal = nn.Sequential(parts[0], GroupBatchNorm2d(8, group=group), *parts[1:], GroupPool(group=group), *head)
    net = normal.double().eval()
    assert torch.allclose(gnomon.limit(net).nngp(x), gnomon.limit(other).nngp(x), rtol=1e-4)  # eps of the norm


def test_layers_on_sets_are_read():
    x = torch.randn(3, 5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    net = nn.Sequential(SetLinear(2, 16), nn.ReLU(), SetLinear(16, 16), nn.ReLU(), SetPool(), nn.Linear(16, 1)).double()
    kernel = gnomon.limit(net).ntk
    assert torch.allclose(kernel(x), kernel(x, x[:, torch.tensor([3, 0, 4, 1, 2])]), rtol=1e-10)


def test_what_has_no_limit_here_is_said():
    interpolated = nn.Sequential(GroupConv2d(1, 8, 3, group=cyclic(8), lifting=True), nn.Flatten(), nn.Linear(256, 1))
    with pytest.raises(NoLimitError, match="8 rotations interpolate the kernel"):
        gnomon.limit(interpolated).ntk(images())
    regular = nn.Sequential(GroupConv2d(2, 8, 3, group=cyclic(2)), nn.Flatten(), nn.Linear(64, 1))
    with pytest.raises(UnsupportedModuleError, match="start with a lifting layer"):
        gnomon.limit(regular).ntk(torch.randn(2, 4, 4, 4))
