"""Attacks step by step against slow computations of their equations, for one example at a time."""

import inspect
import math

import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from torch import nn

from gnomon.core.errors import InputError
from gnomon.robustness.attacks import (
    FGSM,
    PGD,
    DeepFool,
    ShrinkingSteps,
    SquareAttack,
    minimal_distance,
    universal_perturbation,
)
from gnomon.robustness.attacks.apgd import ascend
from gnomon.robustness.attacks.base import AttackedModel, dlr_loss, margin_loss, targeted_dlr_loss
from gnomon.robustness.attacks.minimum import MinimumNormAttack, bisect_to_boundary
from gnomon.robustness.attacks.square import _heights, _pyramid, _stripes, _window
from gnomon.robustness.attacks.threat import ThreatModel


class NeverFooled(nn.Module):
    """Scores (g(x), 100) with a smooth bounded g: an example of class 1 is never misclassified."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(5, 3).double())

    def forward(self, x):
        g = torch.sin(3 * x @ self.w.T).sum(1, keepdim=True)
        return torch.cat([g, torch.full_like(g, 100.0)], 1)


def apgd_of_one_example(g, x, start, eps, norm, steps):
    """Algorithm 1 of the paper for one example without bounds of inputs; the point with the largest loss."""

    def clip(z):
        move = z - x
        if norm == "inf":
            return x + move.clamp(-eps, eps)
        return x + move * min(1.0, eps / float(move.norm()))

    def evaluate(z):
        leaf = z.clone().requires_grad_()
        value = g(leaf)
        (slope,) = torch.autograd.grad(value, leaf)
        return float(value.detach()), slope.sign() if norm == "inf" else slope / slope.norm()

    share, marks = [0.0, 0.22], []
    while share[-1] < 1:
        marks.append(math.ceil(round(share[-1] * steps, 9)))
        share.append(share[-1] + max(share[-1] - share[-2] - 0.03, 0.06))
    step, z = 2 * eps, start
    value, direction = evaluate(start)
    best = (value, start, direction)
    before, rises, last_mark, mark_best, halved = start, 0, 0, value, False
    for k in range(1, steps + 1):
        u = clip(z + step * direction)
        ahead = u if k == 1 else clip(z + 0.75 * (u - z) + 0.25 * (z - before))
        before, z = z, ahead
        old, (value, direction) = value, evaluate(z)
        rises += value > old
        if value > best[0]:
            best = (value, z, direction)
        if k in marks:
            halve = rises < 0.75 * (k - last_mark) or (not halved and best[0] <= mark_best)
            if halve:
                step, (value, z, direction) = step / 2, best
                before = z
            halved, mark_best, rises, last_mark = halve, best[0], 0, k
    return best[1]


@pytest.mark.parametrize("norm", ["inf", "2"])
@pytest.mark.parametrize("steps", [3, 25])
def test_apgd_takes_the_steps_of_its_algorithm(norm, steps):
    net = NeverFooled()
    x = torch.randn(6, 3).double()
    threat = ThreatModel(0.5, norm, -99.0, 99.0)
    start = threat.random(x, torch.Generator().manual_seed(1))
    with AttackedModel(net).attack_mode() as classifier:
        found = ascend(classifier, x, torch.ones(6, dtype=torch.long), start, threat, lambda f, y: f[:, 0], steps)
    for i in range(6):
        wanted = apgd_of_one_example(lambda z: net(z[None])[0, 0], x[i], start[i], 0.5, norm, steps)
        assert_allclose(found[i], wanted, rtol=1e-9, atol=1e-12)


def test_losses_of_attacks_are_those_of_their_equations():
    f = torch.tensor([[4.0, 9.0, 1.5, 3.0, -2.0], [7.0, 1.0, 2.5, 6.0, 5.0]]).double()
    y, target = torch.tensor([0, 3]), torch.tensor([3, 4])
    for i, row in enumerate(f.tolist()):
        own, other, s = row[y[i]], row[target[i]], sorted(row, reverse=True)
        rival = max(v for j, v in enumerate(row) if j != y[i])
        assert_allclose(margin_loss(f, y)[i], own - rival, rtol=1e-12)
        assert_allclose(dlr_loss(f, y)[i], -(own - rival) / (s[0] - s[2]), rtol=1e-9)
        assert_allclose(targeted_dlr_loss(target)(f, y)[i], -(own - other) / (s[0] - (s[2] + s[3]) / 2), rtol=1e-9)
    two = f[:, :2]
    assert_allclose(dlr_loss(two, torch.tensor([0, 0])), [5.0, -6.0], rtol=1e-9)  # minus the margins
    assert_allclose(targeted_dlr_loss(torch.tensor([1, 1]))(f[:, :3], torch.tensor([0, 0])), [5.0, -6.0], rtol=1e-12)


def quadratic():
    """Scores (0, |x|^2 - 4, x_0 + x_1 - 9) of three classes, with gradients that change from place to place."""

    class Scores(nn.Module):
        def forward(self, x):
            flat = x.flatten(1)
            return torch.stack([0 * flat[:, 0], flat.square().sum(1) - 4, flat[:, 0] + flat[:, 1] - 9], 1)

    return Scores()


def test_the_set_of_a_threat_and_its_directions():
    x, z = torch.tensor([[0.2, 0.9]]).double(), torch.tensor([[3.2, 4.9]]).double()
    cube, ball = ThreatModel(0.5, "inf", 0.0, 1.0), ThreatModel(0.5, "2", -9.0, 9.0)
    assert_allclose(cube.project(x, z), [[0.7, 1.0]])
    assert_allclose(ball.project(x, z), x + torch.tensor([[0.3, 0.4]]))
    assert_allclose(ball.project(x, x + 0.1), x + 0.1)
    assert_allclose(ball.project(x, z, torch.tensor([2.5]).double()), x + torch.tensor([[1.5, 2.0]]))
    g = torch.tensor([[3.0, -4.0]]).double()
    assert_allclose([cube.dual(g), ball.dual(g)], [[7.0], [5.0]])
    assert_allclose([cube.size(g), ball.size(g)], [[4.0], [5.0]])
    assert_allclose(cube.steepest(g), [[1.0, -1.0]])
    assert_allclose(ball.steepest(g), [[0.6, -0.8]])
    edges, x = ThreatModel(0.5, "2", 0.25, 0.75), torch.tensor([[0.25, 0.75]])
    assert edges.free(x, torch.tensor([[-1.0, 1.0]])).tolist() == [[0.0, 0.0]]
    assert edges.free(x, torch.tensor([[1.0, -1.0]])).tolist() == [[1.0, -1.0]]
    many = torch.zeros(2000, 3).double()
    for threat in (ThreatModel(0.5, "inf", -9.0, 9.0), ball):
        sizes = threat.size(threat.random(many, torch.Generator().manual_seed(0))) / 0.5
        power = 3 if threat.norm == "inf" else 1  # uniform in the cube; in the ball the distance itself is uniform
        assert stats.kstest(sizes**power, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_one_step_of_each_gradient_attack(norm):
    x, y = torch.tensor([[1.0, 0.5]]).double(), torch.tensor([0])
    threat, generator = ThreatModel(0.25, norm, -9.0, 9.0), torch.Generator().manual_seed(0)
    with AttackedModel(quadratic()).attack_mode() as classifier:
        f = [0.0, 1.25 - 4, 1.5 - 9]
        p = [math.exp(v) / sum(map(math.exp, f)) for v in f]
        slope = torch.tensor([p[1] * 2 * 1.0 + p[2], p[1] * 2 * 0.5 + p[2]]).double()
        direction = slope.sign() if norm == "inf" else slope / slope.norm()
        assert_allclose(FGSM().run(classifier, x, y, threat, generator)[0], x[0] + 0.25 * direction, rtol=1e-6)
        assert_allclose(PGD(1, 0.4).run(classifier, x, y, threat, generator)[0], x[0] + 0.1 * direction, rtol=1e-6)
        far = PGD(30, 0.4).run(classifier, x, y, threat, generator)[0]
        assert_allclose(threat.size(far[None] - x), 0.25, rtol=1e-6)
        found = DeepFool(steps=1, overshoot=0.1).run(classifier, x, y, threat, generator)[0]
        gaps, slopes = (2.75, 7.5), (torch.tensor([2.0, 1.0]).double(), torch.ones(2).double())
        distances = [gap / float(threat.dual(g[None])) for gap, g in zip(gaps, slopes, strict=True)]
        nearest = distances.index(min(distances))
        wanted = x[0] + (1.1 * distances[nearest] + 1e-6) * threat.steepest(slopes[nearest][None])[0]
        assert_allclose(found, wanted, rtol=1e-9)


def test_the_nearest_point_on_a_curved_border():
    """Within the circle of radius 2 class 0 wins: the distance is 2 - |x|, and along the diagonal in the cube."""
    x, y = torch.tensor([[1.0, 0.5], [0.3, -0.2]]).double(), torch.tensor([0, 0])
    found = minimal_distance(quadratic(), (x, y), norm="2", bounds=(-9, 9)).above
    assert_allclose(found, 2 - x.norm(dim=1), rtol=2e-3)
    cube = minimal_distance(quadratic(), (x, y), norm="inf", bounds=(-9, 9)).above
    sides = x.abs().numpy()
    exact = (-sides.sum(1) + (sides.sum(1) ** 2 - 2 * ((sides**2).sum(1) - 4)) ** 0.5) / 2  # |side + t|^2 = 4
    assert_allclose(cube, exact, rtol=2e-3)
    assert bool((found >= 2 - x.norm(dim=1) - 1e-9).all() and (cube.numpy() >= exact - 1e-9).all())


def test_points_are_drawn_back_to_the_border_by_bisection():
    x, z = torch.tensor([[1.0, 0.0]]).double(), torch.tensor([[5.0, 0.0]]).double()
    with AttackedModel(quadratic()).attack_mode() as classifier:
        back = bisect_to_boundary(classifier, x, torch.tensor([0]), z)
    assert 2 < float(back[0, 0]) <= 2 + 4 / 2**12


def test_windows_of_the_square_attack_shrink_and_have_the_shape_of_a_pyramid():
    image = torch.zeros(1, 1, 20, 20)
    sides = [SquareAttack(queries=10_000)._side(q, image) for q in (0, 11, 51, 201, 1001, 2001, 4001, 6001, 8001)]
    assert sides == [max(1, round((0.8 / 2**k * 400) ** 0.5)) for k in range(9)]
    assert SquareAttack(queries=100)._side(1, image) == sides[2]  # as far as 100 of 10,000 queries
    heights = _heights(5, 5)
    assert_allclose(heights[2], [1 / 9, 1 / 9 + 1 / 4, 1 / 9 + 1 / 4 + 1, 1 / 9 + 1 / 4, 1 / 9], rtol=1e-6)
    assert_allclose(heights, heights.T)
    x = torch.full((3, 2, 8, 8), 0.5).double()
    generator, wide = torch.Generator().manual_seed(0), ThreatModel(0.7, "2", -9.0, 9.0)
    z = _stripes(x, wide, generator)
    assert_allclose(wide.size(z - x), 0.7, rtol=1e-9)
    for _ in range(5):
        z = _pyramid(x, z, 3, wide, generator)
        assert_allclose(wide.size(z - x), 0.7, rtol=1e-9)  # the whole length stays in use
    small = torch.full((3, 2, 3, 4), 0.5).double()  # as high as the window
    assert_allclose(wide.size(_pyramid(small, _stripes(small, wide, generator), 3, wide, generator) - small), 0.7)
    assert_allclose(
        wide.size(_pyramid(small.mT, _stripes(small.mT, wide, generator), 3, wide, generator) - small.mT), 0.7
    )
    cube = ThreatModel(0.1, "inf", 0.0, 1.0)
    moved = _window(x, x, 3, cube, generator) - x
    assert_allclose(
        moved.abs().sum((2, 3)), torch.full((3, 2), 0.9).double(), rtol=1e-6
    )  # 3 x 3 pixels of each channel


def test_balls_shrink_to_the_threat_from_anywhere_within_the_bounds(monkeypatch):
    seen = []

    def watch(classifier, x, y, start, threat, score, steps, target=None):
        seen.append((threat.eps, steps, float((start - x).abs().max())))
        scores = torch.tensor([[3.0, 1.0, 2.5]]).double()
        assert_allclose(score(scores, torch.tensor([1])), [2.0])  # the best other class less the own one rises
        return start

    monkeypatch.setitem(inspect.unwrap(ShrinkingSteps._inwards).__globals__, "ascend", watch)
    x, y = torch.zeros(1, 2).double(), torch.tensor([0])
    with AttackedModel(quadratic()).attack_mode() as classifier:
        ShrinkingSteps(restarts=1, widths=(8.0,)).run(
            classifier, x, y, ThreatModel(0.1, "inf", -5.0, 5.0), torch.Generator().manual_seed(0)
        )
    assert_allclose([eps for eps, _, _ in seen], [0.1 * 8 ** (1 - k / 6) for k in range(1, 7)], rtol=1e-9)
    assert [steps for _, steps, _ in seen] == [10] * 6 and seen[0][2] > 0.5


def test_one_perturbation_of_a_linear_model_is_its_steepest_direction():
    net = nn.Linear(2, 2, bias=False).double()
    net.weight.data = torch.tensor([[3.0, 4.0], [0.0, 0.0]]).double()
    x = torch.tensor([[0.1, 0.1], [0.3, 0.1], [0.5, 0.5], [0.2, 0.0]]).double()  # scores 0.7, 1.3, 3.5, 0.6 of class 0
    found = universal_perturbation(net, (x, torch.zeros(4, dtype=torch.long)), eps=0.2, norm="2", bounds=(-9, 9))
    assert_allclose(found.perturbation, [-0.12, -0.16], atol=2e-3)
    assert (found.changed, found.examples, found.rate) == (2, 4, 0.5)  # the scores fall by 5 x 0.2 = 1


@pytest.mark.parametrize("moved", [0.0, 0.2, -0.2])
def test_the_first_step_of_the_minimum_norm_attack_ends_just_beyond_the_boundary(moved):
    """The margin of (3 x_1 + 4 x_2, 0) at (1, 1) is 7 with slope 5: the boundary is at distance 7 / 5 = 1.4.

    From a start moved along the slope, the linearized distance from the input is 1.4 again if it is moved towards the
    boundary, and 1.4 + 0.4 if away from it; the step goes 2 % and 1e-6 beyond, in the ball of that radius.
    """
    net = nn.Linear(2, 2, bias=False).double()
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    x, y = torch.ones(1, 2).double(), torch.tensor([0])
    down = torch.tensor([[-0.6, -0.8]], dtype=torch.float64)
    threat = ThreatModel(9.0, "2", -99.0, 99.0)
    best, size = MinimumNormAttack(steps=2)._search(AttackedModel(net), x, y, x + moved * down, threat)
    asked = 1.02 * (1.4 + (abs(moved) - moved)) + 1e-6
    reached = min(asked, moved + asked)
    assert_allclose(size, [reached], rtol=0, atol=1e-9)
    assert_allclose(best, x + reached * down, rtol=0, atol=1e-9)


@pytest.mark.parametrize("bounds", [(0.5, 0.5), (1.0, 0.0)])
def test_bounds_without_room_are_refused_by_their_name(bounds):
    with pytest.raises(InputError, match="bounds must be"):
        minimal_distance(nn.Linear(2, 2), (torch.full((3, 2), 0.5), torch.tensor([0, 0, 1])), bounds=bounds)
