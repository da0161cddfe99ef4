"""Certificates and bounds against exact values: binomial intervals, closed forms, uniform draws."""

from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from torch import nn

from gnomon.robustness import lipschitz_bounds
from gnomon.robustness.certificates import output_bounds, smoothed_radius
from gnomon.robustness.certificates.proofs import CrownProof, IntervalProof, LipschitzProof
from gnomon.robustness.certificates.region import PerturbationRegion
from gnomon.robustness.lipschitz.chain import pair_norm, seqlip_bound
from gnomon.robustness.lipschitz.network import pair_bounds
from gnomon.robustness.radii import RobustRadii
from gnomon.robustness.regions.ball import _draw, patterns_in_ball
from gnomon.robustness.regions.exact import maximal_regions, regions_in_plane, regions_on_line


class Votes(nn.Module):
    """Ignores its inputs: chooses class 1 for the first 100 draws, then for ``count`` more, then class 0."""

    def __init__(self, count):
        super().__init__()
        self.count, self.seen = count, 0

    def forward(self, x):
        number = self.seen + torch.arange(len(x))
        self.seen += len(x)
        return nn.functional.one_hot((number < 100 + self.count).long(), 2).double()


@pytest.mark.parametrize("count", [0, 130, 181, 240, 300])
@pytest.mark.parametrize("confidence", [0.9, 0.999])
def test_smoothed_radius_uses_the_exact_binomial_bound(count, confidence):
    found = smoothed_radius(
        Votes(count), (torch.zeros(1, 2).double(), torch.tensor([1])), sigma=0.3, draws=300, confidence=confidence
    )
    exact = stats.binomtest(count, 300, alternative="greater").proportion_ci(confidence, method="exact").low
    assert_allclose(found.radii[0], 0.3 * stats.norm.ppf(exact) if exact > 0.5 else 0.0, rtol=1e-9)
    assert found.right.tolist() == [True]


def test_a_leaky_relu_has_the_line_between_its_ends():
    class Gap(nn.Module):
        def forward(self, x):
            return nn.functional.leaky_relu(x, 0.25) - x

    x = torch.tensor([[0.5]]).double()  # from -1 to 2: the difference is between 0 and (1 - 0.25) * 1
    found = output_bounds(Gap(), x, 1.5, bounds=(-9, 9))
    assert_allclose([found.low.item(), found.high.item()], [0.0, 0.75], atol=1e-12)


@pytest.mark.parametrize(
    ("pool", "shape", "exact"),
    [
        (nn.MaxPool1d(2, stride=1), (1, 3), 2**0.5),
        (nn.MaxPool1d(3, stride=2), (1, 5), 2**0.5),
        (nn.MaxPool2d(2, stride=1), (1, 3, 3), 2.0),
        (nn.MaxPool2d((2, 3), stride=(2, 1)), (1, 2, 5), 3**0.5),
        (nn.MaxPool2d(2), (1, 4, 4), 1.0),
    ],
)
def test_a_max_pool_stretches_by_the_root_of_its_overlapping_windows(pool, shape, exact):
    """One large entry that wins in every window that sees it moves as many outputs."""
    x = torch.zeros(1, *shape).double()
    x[(0, 0, *(n // 2 for n in shape[1:]))] = 5.0
    found = lipschitz_bounds(nn.Sequential(pool), x + 0.01 * torch.rand(1, *shape).double(), search=2)
    assert_allclose([found.lower, found.product], [exact, exact], rtol=1e-6)


@pytest.mark.parametrize(("norm", "shape"), [("2", (1, 4)), ("2", (1, 2, 3)), ("inf", (1, 3))])
def test_points_of_a_ball_are_drawn_uniformly(norm, shape):
    x = torch.zeros(shape).double()
    flat = _draw(2000, x, norm, torch.Generator().manual_seed(3)).flatten(1)
    d = flat.shape[1]
    size = flat.abs().amax(1) if norm == "inf" else flat.norm(dim=1)
    assert stats.kstest(size**d, "uniform").pvalue > 1e-3  # the volume within a radius grows as its power d
    assert stats.kstest((flat[:, 0] > 0).double() + torch.rand(2000), "uniform", args=(0, 2)).pvalue > 1e-3


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_proven_radii_of_a_linear_model_are_exact_and_never_above(norm):
    net = nn.Linear(3, 3).double()
    x = 0.5 + 0.1 * torch.randn(6, 3).double()
    y = net(x).argmax(1)
    w, f = net.weight.detach(), net(x).detach()
    gaps = [(w[y[i]] - w[j], f[i, y[i]] - f[i, j]) for i in range(6) for j in range(3) if j != y[i]]
    lengths = [float(gap / (g.abs().sum() if norm == "inf" else g.norm())) for g, gap in gaps]
    exact = np.array(lengths).reshape(6, 2).min(1)
    found = CrownProof().radii(net, x, y, norm, (-50.0, 50.0)).numpy()
    widest = 100 * (3**0.5 if norm == "2" else 1)
    assert (found <= exact).all() and (found >= exact * (1 - 1e-3) - widest / 2**16).all()
    near = CrownProof().radii(net, x, y, norm, (-50.0, 50.0), torch.from_numpy(exact)).numpy()
    assert (near <= exact).all() and (near >= exact * (1 - 1.25 / 2**10 - 1e-3)).all()
    lipschitz = [float(gap / g.norm()) / (3**0.5 if norm == "inf" else 1) for g, gap in gaps]
    assert_allclose(
        LipschitzProof().radii(net, x, y, norm, (-50.0, 50.0)),
        np.array(lipschitz).reshape(6, 2).min(1) * (1 - 1e-5),
        rtol=1e-9,
    )
    if norm == "inf":  # intervals add the widths of both scores
        sums = [
            float((f[i, y[i]] - f[i, j]) / (w[y[i]].abs() + w[j].abs()).sum())
            for i in range(6)
            for j in range(3)
            if j != y[i]
        ]
        boxes = IntervalProof().radii(net, x, y, norm, (-50.0, 50.0)).numpy()
        assert_allclose(boxes, np.array(sums).reshape(6, 2).min(1), rtol=1e-3, atol=100 / 2**16)


def test_the_least_value_over_a_region_is_that_of_its_corners_or_its_sphere():
    x, a = torch.rand(2, 3).double(), torch.randn(2, 4, 3).double()
    eps = torch.tensor([0.3, 0.6]).double()
    cube = PerturbationRegion.of(x, eps, "inf", (0.0, 1.0))
    for i in range(2):
        ends = [(max(0.0, float(v - eps[i])), min(1.0, float(v + eps[i]))) for v in x[i]]
        corners = torch.tensor(list(product(*ends))).double()
        assert_allclose(cube.least(a)[i], (a[i] @ corners.T).amin(1), rtol=1e-9)
    ball = PerturbationRegion.of(x, eps, "2", (-9.0, 9.0))
    assert_allclose(ball.least(a), (a * x[:, None]).sum(2) - eps[:, None] * a.norm(dim=2), rtol=1e-9)


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_chains_of_matrices_are_bounded_by_the_largest_corner(slope):
    a, b, c = (torch.randn(3, 3).double() for _ in range(3))
    corners = [torch.diag(torch.tensor(d)).double() for d in product((slope, 1.0), repeat=3)]
    exact = max(float(torch.linalg.matrix_norm(b @ d @ a, 2)) for d in corners)
    bound = pair_norm(b, a, slope)
    norms = [float(torch.linalg.matrix_norm(m, 2)) for m in (a, b)]
    assert exact <= bound + 1e-9 <= norms[0] * norms[1] + 2e-9
    assert_allclose(seqlip_bound([a, b], [slope]), exact, rtol=1e-9)  # two matrices: all corners are tried
    whole = max(float(torch.linalg.matrix_norm(c @ d @ b @ e @ a, 2)) for d in corners for e in corners)
    u, s, v = torch.linalg.svd(b)
    left = max(float(torch.linalg.matrix_norm(s.sqrt()[:, None] * (v @ d @ a), 2)) for d in corners)
    right = max(float(torch.linalg.matrix_norm(c @ d @ u * s.sqrt(), 2)) for d in corners)
    assert_allclose(seqlip_bound([a, b, c], [slope, slope]), left * right, rtol=1e-9)
    assert whole <= left * right + 1e-9


def test_lipschitz_bounds_are_products_of_norms_also_through_branches():
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x):
            h = self.a(x)
            return torch.relu(h) + self.b(h)

    net = Branches().double()
    a, b = (float(torch.linalg.matrix_norm(layer.weight.detach(), 2)) for layer in (net.a, net.b))
    found = lipschitz_bounds(net, torch.randn(5, 2).double())
    assert_allclose(found.product, a * (1 + b), rtol=1e-9)
    signs = [torch.diag(torch.tensor(d)).double() for d in product((0.0, 1.0), repeat=2)]  # all occur: a is invertible
    maps = [(d + net.b.weight.detach()) @ net.a.weight.detach() for d in signs]
    exact = max(float(torch.linalg.matrix_norm(m, 2)) for m in maps)
    assert 0.99 * exact < found.lower <= exact * (1 + 1e-9) <= found.upper
    chain = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 2)).double()
    told, w = lipschitz_bounds(chain, torch.randn(5, 3).double()), [p.weight.detach() for p in (chain[0], chain[2])]
    norms = [float(torch.linalg.matrix_norm(m, 2)) for m in w]
    assert_allclose([told.product, *told.layers.values()], [norms[0] * norms[1], *norms], rtol=1e-9)
    assert_allclose(told.seqlip, seqlip_bound(w, [0.2]), rtol=1e-9)
    assert told.refined == min(told.product, told.seqlip, pair_norm(w[1], w[0], 0.2))
    pairs = pair_bounds(chain, torch.randn(1, 3).double())
    assert_allclose(pairs[0, 1], min(float((w[1][0] - w[1][1]).norm()) * norms[0], 2**0.5 * told.upper), rtol=1e-9)


def test_shares_of_patterns_areas_and_places():
    found = maximal_regions(2, 5)
    assert found == 1 + 5 + 10 and maximal_regions(2, 5, 3) == 16 * 2**4 and maximal_regions(3, 2) == 4
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU(), nn.Linear(2, 1)).double()
    net[0].weight.data = torch.tensor([[1.0, 0.0], [1.0, 1.0]]).double()
    plane = regions_in_plane(net, torch.tensor([0.25, 0.0]), directions=([1.0, 0.0], [0.0, 1.0]), radius=1.0)
    # the lines x = 0 and x + y = 0 within [-0.75, 1.25] x [-1, 1]
    assert plane.count == 4 and plane.bound == 4
    assert_allclose(sorted(plane.areas.tolist()), [0.46875, 0.5, 1.03125, 2.0], rtol=1e-9)
    line = regions_on_line(net, torch.tensor([-1.0, 0.5]), torch.tensor([2.0, 0.0]))
    assert_allclose(line.places, [0.5 / 2.5, 1 / 3], rtol=1e-9)
    told = patterns_in_ball(net, torch.tensor([3.0, 0.0]), 1.0, draws=400)
    assert (told.seen, told.stable, told.flipped, told.unseen, told.points) == (1, 2, 0, 0.0, 400)
    many = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 1)).double()
    ball = patterns_in_ball(many, torch.zeros(2), 2.0, draws=60, seed=5)
    points = 2.0 * _draw(60, torch.zeros(1, 2).double(), "2", torch.Generator().manual_seed(5))
    signs = (many[0](points) > 0).int()
    _, counts = signs.unique(dim=0, return_counts=True)
    assert (ball.seen, ball.flipped) == (len(counts), int((signs != signs[0]).any(0).sum()))
    assert_allclose(ball.unseen, int((counts == 1).sum()) / 60)
    w, b = many[0].weight.detach(), many[0].bias.detach()
    assert ball.stable == int((b.abs() > 2 * w.norm(dim=1)).sum())  # one layer: the bounds are exact


def test_shares_of_examples_that_are_proven_and_unbroken():
    below, above = torch.tensor([0.1, 0.3, 0.5, 0.2]), torch.tensor([0.2, 0.25, torch.inf, 0.9])
    radii = RobustRadii(below, above, torch.tensor([True, True, True, False]), "2", "a", "b")
    assert [radii.proven(0.2), radii.unbroken(0.2), radii.unknown(0.15)] == [0.5, 0.5, 0.25]
    assert radii.contradictions == 1  # broken at 0.25 within the proven 0.3
