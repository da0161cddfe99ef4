"""Regions against all patterns of signs, each asked whether a point has it; against known counts; and against samples."""

import itertools
import sys

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from torch import nn

from gnomon.core import BudgetError, InputError
from gnomon.robustness import maximal_regions, patterns_in_ball, regions_in_plane, regions_on_line
from gnomon.robustness.regions.cutting import ROUNDING_SHARE, cut_polygon, zero_crossings


def brute_force(weights, biases, radius):
    """Patterns of a dense relu network of two inputs that some point inside the square has, by a linear program each."""
    count = 0
    for bits in itertools.product((0.0, 1.0), repeat=sum(len(w) for w in weights)):
        bits, rows, right = list(bits), [], []
        a, c = np.eye(2), np.zeros(2)
        for w, b in zip(weights, biases, strict=True):
            here = np.array([bits.pop(0) for _ in range(len(w))])
            a, c = w @ a, w @ c + b
            sign = 2 * here - 1
            size = np.linalg.norm(a, axis=1)
            rows += list(
                np.c_[-sign[:, None] * a, size]
            )  # -sign (a z + c) + size t <= 0: t is a distance to the border
            right += list(sign * c)
            a, c = here[:, None] * a, here * c
        bounds = [(-radius, radius)] * 2 + [(None, 1)]
        found = linprog([0, 0, -1], np.array(rows), np.array(right), bounds=bounds, method="highs")
        count += found.status == 0 and -found.fun > 1e-9
    return count


def counts(seed, sizes):
    torch.manual_seed(seed)
    layers = [p for a, b in zip([2, *sizes], sizes, strict=False) for p in (nn.Linear(a, b), nn.ReLU())]
    net = nn.Sequential(*layers, nn.Linear(sizes[-1], 1)).double()
    linears = [m for m in net if isinstance(m, nn.Linear)][:-1]
    weights, biases = ([getattr(m, k).detach().numpy() for m in linears] for k in ("weight", "bias"))
    return regions_in_plane(net, torch.zeros(2), torch.eye(2), radius=2.0).count, brute_force(weights, biases, 2.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_plane_has_as_many_regions_as_brute_force_finds(seed):
    ours, theirs = counts(seed, [(4,), (3, 2), (2, 2, 1)][seed % 3])
    assert ours == theirs


@pytest.mark.full
def test_the_plane_has_as_many_regions_as_brute_force_finds_for_200_networks():
    for seed in range(200):
        ours, theirs = counts(seed, [(6,), (4, 3), (3, 2, 2), (5, 2)][seed % 4])
        assert ours == theirs, seed


def test_units_in_general_position_have_zaslavskys_number():
    """Id zaslavsky-regions: 7, 22 and 37 for 3, 6 and 8 lines whose crossings are all inside the square."""
    for m in (3, 6, 8):
        net = nn.Sequential(nn.Linear(2, m), nn.ReLU(), nn.Linear(m, 1)).double()
        angle = torch.linspace(0.1, 3.0, m, dtype=torch.float64)
        with torch.no_grad():
            net[0].weight.copy_(torch.stack([angle.cos(), angle.sin()], 1))
            net[0].bias.copy_(0.3 * torch.sin(7 * angle))
        found = regions_in_plane(net, torch.zeros(2), torch.eye(2), radius=200.0)
        assert found.count == found.bound == maximal_regions(2, m)
        assert_allclose(found.areas.sum(), 400.0**2)


@pytest.mark.parametrize(("width", "depth"), [(2, 1), (2, 3), (3, 2), (2, 5), (3, 5)])
def test_a_folding_network_has_montufars_number(width, depth):
    """Id montufar-regions: (m + 1) m^(L - 1) pieces on the line, from folds of [0, 1] and one layer of kinks inside."""
    folded = torch.tensor([[float(width)] + [(-1.0) ** i * 2 * width for i in range(1, width)]])
    layers = []
    for level in range(depth):
        linear = nn.Linear(1 if level == 0 else width, width).double()
        shift = 0.5 if level == depth - 1 else 0.0
        with torch.no_grad():
            linear.weight.copy_((torch.ones(1, 1) if level == 0 else folded).expand(width, -1))
            linear.bias.copy_(-(torch.arange(width) + shift) / width)
        layers += [linear, nn.ReLU()]
    net = nn.Sequential(*layers, nn.Linear(width, 1).double())
    expected = (width + 1) * width ** (depth - 1)
    assert regions_on_line(net, torch.zeros(1), torch.ones(1)).count == maximal_regions(1, width, depth) == expected


def test_a_line_through_a_network_with_pools_changes_where_samples_change():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1),
        nn.LeakyReLU(0.1),
        nn.MaxPool2d(2),
        nn.Conv2d(2, 2, 2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(8, 2),
    )
    a, b = torch.randn(2, 1, 6, 6)
    found = regions_on_line(net, a, b)
    t = torch.linspace(0, 1, 40_001, dtype=torch.float64)
    with torch.no_grad():
        f = net.double()((a + t[:, None, None, None] * (b - a)).double())
    bend = (f[2:] - 2 * f[1:-1] + f[:-2]).abs().amax(1)
    kinks = t[1:-1][bend > 1e-9]
    assert found.count > 10
    nearest = (kinks[:, None] - found.places).abs().amin(1)
    assert float(nearest.max()) < 1e-4  # every bend that samples see is a border
    net.float()
    plane = regions_in_plane(net, a, (b, torch.randn(1, 6, 6)), radius=0.5)
    assert_allclose(plane.areas.sum(), 1.0, rtol=1e-9)
    assert plane.count > 20 and int(plane.picture.max()) < plane.count and plane.plots() and found.plots()


def test_patterns_in_a_ball_are_those_of_lines_through_it():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 5), nn.LeakyReLU(0.1), nn.Linear(5, 1)).double()
    center, radius = torch.tensor([0.3, -0.2]).double(), 0.5
    found = patterns_in_ball(net, center, radius, norm="inf", draws=4000)
    cells = regions_in_plane(net, center, torch.eye(2).double(), radius=radius)
    assert found.seen <= cells.count and found.units == 11  # nothing is seen that is not there
    large = cells.areas > 0.01 * float(cells.areas.sum())
    assert found.seen >= int(large.sum()) and found.unseen < 0.02
    assert found.stable + found.flipped <= found.units
    small = patterns_in_ball(net, center, 1e-6)
    assert small.seen == 1 and small.stable == 11 and small.unseen == 0


@pytest.mark.parametrize(("radius", "bias", "stable"), [(0.1, 0.1 + 1e-10, 1), (0.7, 0.7 - 1e-9, 0)])
def test_units_are_proven_stable_for_the_radius_that_was_asked_for(radius, bias, stable):
    """relu(x + b) has no kink in |x| <= r for b > r; in float32 0.1 is larger than in float64, and 0.7 smaller."""
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)).double()
    nn.init.ones_(net[0].weight)
    nn.init.constant_(net[0].bias, bias)
    for norm in ("2", "inf"):
        assert patterns_in_ball(net, torch.zeros(1).double(), radius, norm=norm, draws=10).stable == stable


def test_bad_arguments_are_refused():
    with pytest.raises(InputError, match="no relu or max-pool"):
        regions_on_line(nn.Linear(2, 1), torch.zeros(2), torch.ones(2))
    with pytest.raises(InputError, match="width must be at least inputs"):
        maximal_regions(3, 2, 2)


@pytest.mark.full
def test_places_on_a_line_do_not_depend_on_how_many_are_held_at_once(monkeypatch):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 9), nn.ReLU(),
                        nn.Linear(9, 2)).double()  # fmt: skip
    a, b = torch.randn(2, 1, 6, 6).double()
    whole = regions_on_line(net, a, b)
    plane = regions_in_plane(net, a, torch.stack([b, a + b]), radius=0.3, pixels=6)
    monkeypatch.setattr("gnomon.robustness.regions.exact.points_per_pass", lambda graph, x: 3)
    assert_allclose(regions_on_line(net, a, b).places, whole.places, atol=1e-9)
    parts = regions_in_plane(net, a, torch.stack([b, a + b]), radius=0.3, pixels=6)
    assert whole.count > 20 and plane.count > 20 and parts.count == plane.count
    assert_allclose(parts.areas.sort().values, plane.areas.sort().values, atol=1e-9)


def test_a_segment_with_more_than_200_000_pieces_is_refused(monkeypatch):
    line = sys.modules["gnomon.robustness.regions.exact"]
    net = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))

    def pieces(count):
        monkeypatch.setattr(line, "kink_positions", lambda *_: iter([torch.linspace(0, 1, count).double()]))
        return line.regions_on_line(net, torch.zeros(1), torch.ones(1))

    assert pieces(200_000).units == 2
    with pytest.raises(BudgetError, match="over 200000 pieces"):
        pieces(200_001)


def test_a_plane_with_more_than_200_000_cells_is_refused(monkeypatch):
    plane = sys.modules["gnomon.robustness.regions.exact"]
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    copy, graph = plane._read(net, torch.zeros(2).double())
    step = next(step for step in graph.steps if step.kind == "relu")
    square = torch.tensor([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]).double()

    def cells(count):
        monkeypatch.setattr(plane, "cut_polygon", lambda cell, z: [cell] * count)
        return plane._all_cut(graph, step, [square], lambda points: points, 100)

    assert len(cells(200_000)) == 200_000
    with pytest.raises(BudgetError, match="over 200000 cells"):
        cells(200_001)


@pytest.mark.parametrize(("share", "crosses"), [(0.5, []), (2.0, [0])])
def test_a_sign_change_within_the_rounding_of_the_largest_value_is_none(share, crosses):
    small = share * ROUNDING_SHARE * 1000
    values = torch.tensor([[-small, 1000.0], [small, 900.0]], dtype=torch.float64)
    assert zero_crossings(values)[0].tolist() == crosses
    assert len(cut_polygon(torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).double(),
                           torch.tensor([[-small, 1000.0], [small, 900.0], [small, 800.0]]).double())) == 1 + len(crosses)  # fmt: skip
