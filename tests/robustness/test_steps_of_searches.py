"""Steps of searches for small perturbations and large slopes, repeated in plain Python on networks with known slopes."""

from importlib import import_module
from math import cos, inf, pi

import pytest
import torch
from torch import nn

from gnomon.program.piecewise_linear import read_piecewise_linear
from gnomon.robustness.attacks.base import AttackedModel, ThreatModel, dlr_loss
from gnomon.robustness.attacks.minimum import MinimumNormAttack
from gnomon.robustness.attacks.universal import universal_perturbation
from gnomon.robustness.lipschitz import network as lipschitz
from gnomon.robustness.regions import cutting
from gnomon.robustness.robust import THOROUGH_ATTACKS, _Search

preflight = import_module("gnomon.robustness.preflight")  # the package exports a function of the same name


class Ring(nn.Module):
    """Scores (|z|^2 - 1, 0): inside the unit circle the class is 1."""

    def forward(self, z):
        inside = z.square().sum(1) - 1
        return torch.stack([inside, torch.zeros_like(inside)], 1)


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("begin", [(0.3, 0.4), (0.9, 1.2)])
def test_the_search_for_the_smallest_perturbation_follows_its_equations(steps, begin):
    """On the ring everything happens along one ray: the state is the distance r from the center, outside if r > 1."""
    x = torch.tensor([[0.3, 0.4]], dtype=torch.float64)
    threat = ThreatModel(10.0, "2", -inf, inf)
    z, size = MinimumNormAttack(steps)._search(
        AttackedModel(Ring()), x, torch.tensor([1]), torch.tensor([begin], dtype=torch.float64), threat
    )
    r, best, least = torch.tensor(begin, dtype=torch.float64).norm().item(), None, inf
    radius = abs(r - 0.5)
    for k in range(steps):
        fall = max((1 + cos(pi * k / steps)) / 2, 0.02)
        value, slope, distance = r * r - 1, 2 * r, abs(r - 0.5)
        if value > 0 and distance < least:
            best, least = r, distance
        needed = 1.02 * (distance - value / slope) + 1e-6
        if value > 0:
            radius = min(radius * (1 - 0.05 * fall), least)
        elif least < inf:
            radius = radius * (1 + 0.05 * fall)
        else:
            radius = needed
        step = fall * least if least < inf else min(needed, 10.0)
        r = 0.5 + min(max(r + max(step, 1e-6) - 0.5, -radius), radius)
    if best is None:
        assert size.item() == inf
    else:
        assert size.item() == pytest.approx(least, rel=1e-9)
        assert z.norm().item() == pytest.approx(best, rel=1e-9)
        assert least < 1.0 + 1e-6 and (steps < 20 or least < 0.6)


def test_the_steepest_point_is_searched_around_the_best_one_so_far():
    """f = x^2 / 2 has slope |x|; steps shrink from twice the spread by a factor of 256 over all rounds."""
    x = torch.tensor([[1.0], [-3.0]]).double()
    found = lipschitz._steepest(_Square(), x, 5, seed=4)
    g = torch.Generator().manual_seed(4)
    points, width = x.clone(), x.std().item()
    for k in range(5):
        tried = points + width * 2.0 ** (1 - 8 * k / 5) * torch.randn(2, 1, generator=g, dtype=torch.float64)
        points = torch.where(tried.abs() > points.abs(), tried, points)
    assert found == pytest.approx(points.abs().max().item(), rel=1e-9) and found > 3.0


class _Square(nn.Module):
    def forward(self, x):
        return x.square() / 2


@pytest.mark.parametrize(
    ("rounds", "allowed", "points", "left"), [(3, 1e9, 10, 3), (3, 4.1, 1, 3), (3, 8.1, 2, 3), (3, 2.1, 1, 2)]
)
def test_points_and_rounds_are_those_that_the_limit_on_multiplications_allows(
    monkeypatch, rounds, allowed, points, left
):
    """Work of a pass: 1 + 3 x 4 + 4 x 2 products of the linear layers."""
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    each = 4 * lipschitz.POWER_ITERATIONS * 21
    monkeypatch.setattr(lipschitz, "MAX_MULTIPLICATIONS", allowed * each)
    x = torch.zeros(10, 3).double()
    kept, searched = lipschitz._affordable(read_piecewise_linear(net, x[:1]), x, rounds)
    assert (len(kept), searched) == (points, left)


def test_the_work_of_a_convolution_is_that_of_each_output_pixel(monkeypatch):
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2)).double()
    work = 1 + 2 * 9 * 3 * 4 + 12 * 2  # kernel weights at four pixels, and the last layer
    for share, left in ((2.99, 2), (3.01, 3)):
        monkeypatch.setattr(lipschitz, "MAX_MULTIPLICATIONS", share * 4 * lipschitz.POWER_ITERATIONS * work)
        x = torch.zeros(1, 2, 4, 4).double()
        assert lipschitz._affordable(read_piecewise_linear(net, x), x, 9)[1] == left


def test_two_points_fit_into_any_memory(monkeypatch):
    graph, x = read_piecewise_linear(nn.ReLU(), torch.zeros(1, 2)), torch.zeros(5, 2)
    numbers = sum(value[0].numel() for value in graph.values(x[:1]))
    for held, points in ((1, 2), (3 * numbers - 1, 2), (3 * numbers, 3)):
        monkeypatch.setattr(cutting, "MAX_NUMBERS_HELD", held)
        assert cutting.points_per_pass(graph, x) == points


SQUARE = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]).double()


@pytest.mark.parametrize(("corner", "pieces"), [(0.0, 1), (-0.5, 1), (-2.0, 2)])
def test_a_polygon_is_cut_where_a_function_changes_its_sign_beyond_rounding(corner, pieces):
    tiny = cutting.ROUNDING_SHARE
    for sign in (1.0, -1.0):
        values = sign * torch.tensor([[corner * tiny], [1.0], [0.5], [1.0]]).double()
        assert len(cutting.cut_polygon(SQUARE, values)) == pieces
        found = cutting.zero_crossings(values)[0].tolist()
        assert found == ([0] if pieces == 2 else [])
    assert len(cutting.cut_polygon(SQUARE, torch.zeros(4, 2).double())) == 1


@pytest.mark.parametrize(("slope", "holds"), [(0.5e-12, False), (1.5e-12, True)])
def test_a_gradient_counts_as_zero_below_a_trillionth_of_the_margin(slope, holds):
    net = nn.Linear(1, 2).double()
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[slope], [0.0]]))
        net.bias.copy_(torch.tensor([1.0, 0.0]))
    with AttackedModel(net).attack_mode() as classifier:
        found = preflight.check_gradients(
            classifier, torch.zeros(1, 1).double(), torch.tensor([0]), ThreatModel(1.0, "2", -9.0, 9.0)
        )
    assert ("gradients are zero" in str(found)) == (not holds)


@pytest.mark.parametrize(("shift", "differ"), [(0.9, False), (1.1, True)])
def test_scores_differ_beyond_a_share_of_their_spread_within_an_example(shift, differ):
    """Scores (0, 2) and (10, 14): distances from the mean of the example are 1 and 2, on average 1.5."""
    f = torch.tensor([[0.0, 2.0], [10.0, 14.0]]).double()
    moved = f.clone()
    moved[1, 0] -= shift * preflight.SCORE_TOLERANCE * 1.5
    assert preflight._differ(f, moved) == differ and preflight._differ(f, f + torch.tensor([[0.0], [torch.nan]]))


def test_a_universal_perturbation_is_counted_within_the_bounds():
    """The class changes at x = 1.05, which a perturbation of 0.1 reaches only beyond the bound 1."""
    net = nn.Linear(1, 2)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        net.bias.copy_(torch.tensor([-1.05, 1.05]))
    data = torch.ones(6, 1), torch.ones(6).long()
    for high, fooled in ((1.0, 0), (2.0, 6)):
        assert universal_perturbation(net, data, eps=0.1, bounds=(0, high), iterations=3).changed == fooled


def _state(net, x, y):
    return _Search(
        AttackedModel(net), x, y, ThreatModel(0.5, "2", -9, 9), torch.Generator(), torch.ones(len(y)).bool(), 8
    )


def test_the_point_with_the_smallest_margin_is_kept_and_decides_the_order():
    """Margin of class 0 is 2 x for weights (1, -1), and its gradient has size 2: the distance is x."""
    net = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[1.0], [-1.0]]))
    x, y = torch.tensor([[3.0], [1.0], [2.0]]), torch.zeros(3).long()
    state = _state(net, x, y)
    every = torch.arange(3)
    assert state._order(every).tolist() == [1, 2, 0]
    assert not state._wrong(every, x).any() and state.least.tolist() == [6.0, 2.0, 4.0]
    assert state._wrong(torch.tensor([0, 2]), torch.tensor([[0.5], [2.5]])).tolist() == [False, False]
    assert state.near[:, 0].tolist() == [0.5, 1.0, 2.0] and state.least.tolist() == [1.0, 2.0, 4.0]
    assert state._order(every).tolist() == [0, 1, 2] and state._order(torch.tensor([1, 2])).tolist() == [0, 1]
    assert state._wrong(torch.tensor([1]), torch.tensor([[-0.1]])).tolist() == [True]


def test_thorough_attacks_run_all_steps_on_all_examples():
    shown = {type(a).__name__: tuple(getattr(a, n) for n in ("steps", "step", "restarts", "targets", "queries") if hasattr(a, n))
             for a in THOROUGH_ATTACKS}  # fmt: skip
    assert shown == {
        "FGSM": (), "PGD": (10, 0.25, 1), "APGD": (100, 1), "ShrinkingSteps": (100, 40), "TargetedAPGD": (100, 9),
        "SquareAttack": (5000,),
    }  # fmt: skip


def test_with_two_classes_the_loss_without_scale_is_minus_the_margin():
    """Divided by the spread of two scores it would be 1 or -1 everywhere, and its gradient zero."""
    f = torch.tensor([[3.0, 1.0], [0.5, 2.0]], requires_grad=True)
    loss = dlr_loss(f, torch.tensor([0, 0]))
    (slope,) = torch.autograd.grad(loss.sum(), f)
    assert loss.tolist() == [-2.0, 1.5] and slope.tolist() == [[-1.0, 1.0], [-1.0, 1.0]]
    three = dlr_loss(torch.tensor([[5.0, 1.0, 3.0], [5.0, 1.0, 3.0]]), torch.tensor([0, 1]))
    assert three.tolist() == [-0.5, 1.0]  # - (5 - 3) / (5 - 1) and - (1 - 5) / (5 - 1)


@pytest.mark.parametrize(("signs", "drawn"), [(29, 9), (30, 10), (3, 2), (1000, 50)])
def test_the_signs_of_all_points_fit_into_their_limit(signs, drawn, monkeypatch):
    """Three units: ten points have thirty signs; two points are drawn in any case."""
    ball = import_module("gnomon.robustness.regions.ball")
    monkeypatch.setattr(ball, "MAX_SIGNS", signs)
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert ball.patterns_in_ball(net, torch.zeros(2), 1.0, draws=50).points == drawn
