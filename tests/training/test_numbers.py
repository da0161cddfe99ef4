"""Schedules, plans, patience, adversaries and ablations: numbers written out by hand."""

import numpy as np
import pytest
import torch
from scipy.stats import t as student
from torch import nn

from gnomon.core.inputs.source import data_source
from gnomon.training import SGD, Adam, train
from gnomon.training.ablation import ablation
from gnomon.training.adversary import Adversary
from gnomon.training.evaluate import Objective
from gnomon.training.gradient import loss_gradient
from gnomon.training.plan import BatchPlan, TrainingPlan, _recorded_steps, deadline
from gnomon.training.progress import effective_lr, half_loss_time, stop_by_patience
from gnomon.training.schedule import ScheduledOptimizer
from gnomon.training.torch_optimizers import NAMES, as_gradient_descent, resolve_optimizer

G = torch.Generator().manual_seed(0)
X, Y = torch.rand(7, 3, generator=G).double(), torch.randn(7, generator=G).double()


def linear():
    net = nn.Linear(3, 1, bias=False).double()
    net.weight.data = torch.tensor([[0.3, -0.2, 0.5]]).double()
    return net


def test_effects_and_intervals_of_an_ablation_are_those_of_paired_seeds():
    scores = {("a", 0): 0.1, ("a", 1): 0.4, ("a", 2): 0.25, ("b", 0): 0.9, ("b", 1): 1.1, ("b", 2): 0.8}

    def score(on, seed):
        off = [name for name, used in on.items() if not used]
        return [1.0, 1.2, 0.9][seed] - sum(scores[name, seed] for name in off)

    found = ablation(score, ["a", "b"], seeds=(0, 1, 2), confidence=0.9)
    for name in "ab":
        gaps = np.array([scores[name, seed] for seed in range(3)])
        assert found.effects[name] == pytest.approx(gaps.mean())
        assert found.widths[name] == pytest.approx(student.ppf(0.95, 2) * gaps.std(ddof=1) / np.sqrt(3))
    assert found.score == pytest.approx(3.1 / 3) and found.helps == ("b",)
    assert ablation(score, ["a"]).seeds == 3


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_an_adversary_climbs_the_loss_and_returns_to_its_ball_and_bounds(norm):
    net = linear()
    objective = Objective.of((X, Y), net, None)
    adversary = Adversary(0.3, norm, iterations=3, step=0.5, ramp=4)
    for at, eps in ((1, 0.075), (8, 0.3)):
        x, y = objective.at(torch.arange(7))
        found = adversary.moved_inputs(net, objective, x, y, at)
        d, w = torch.zeros(7, 3).double(), net.weight.detach()
        for _ in range(3):
            g = ((x + d) @ w.T - y) * w
            d = d + 0.5 * eps * (g.sign() if norm == "inf" else g / g.norm(dim=1, keepdim=True))
            d = d.clamp(-eps, eps) if norm == "inf" else d * (eps / d.norm(dim=1, keepdim=True)).clamp(max=1)
            d = (x + d).clamp(0, 1) - x
        assert torch.allclose(found, x + d)
    default = Adversary(0.1)
    assert (default.iterations, default.step, default.ramp, default.bounds) == (7, 0.25, 0, (0.0, 1.0))


def test_the_gradient_is_the_mean_over_batches_of_unequal_size():
    net = linear()
    value, g = loss_gradient(net, Objective.of((X, Y), net, None), size=3)
    w = net.weight.detach()[0]
    assert value == pytest.approx(float((X @ w - Y).square().mean()) / 2)
    assert torch.allclose(g, X.T @ (X @ w - Y) / 7)


def test_records_are_spread_evenly_in_the_logarithm_of_the_step():
    steps = _recorded_steps(None, 1000)
    assert steps == {round(1001 ** (k / 59) - 1) for k in range(60)} | {1000} and {0, 1000} <= steps
    assert _recorded_steps(4, 10) == {0, 4, 8, 10} and _recorded_steps([3, 5], 10) == {3, 5, 10}


def test_batches_take_every_example_once_before_any_twice():
    plan = TrainingPlan.of(5, 3, None, 0, lambda: False)
    indices = plan.indices(7)
    drawn = torch.cat([next(indices) for _ in range(14)])
    for k in range(6):
        assert sorted(drawn[7 * k : 7 * k + 7].tolist()) == list(range(7))
    assert next(TrainingPlan.of(5, 7, None, 0, lambda: False).indices(7)) is None
    assert len(next(TrainingPlan.of(5, 6, None, 0, lambda: False).indices(7))) == 6
    assert plan.draws_examples and not TrainingPlan.of(5, None, None, 0, lambda: False).draws_examples


def test_a_deadline_is_seconds_after_the_start():
    now = [10.0]
    late = deadline(lambda: now[0], 10.0, 5.0)
    assert not late()
    now[0] = 15.0
    assert not late()
    now[0] = 15.1
    assert late() and not deadline(lambda: 1e9, 0.0, None)()


def test_half_of_the_loss_is_reached_between_two_records():
    """One weight with curvature 1: the loss 1 / 2 (1 - lr)^(2 k) at step k, and a straight line in between."""
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.ones_(net.weight)
    run = train(
        net, (torch.ones(4, 1).double(), torch.zeros(4).double()), optimizer=SGD(0.2), steps=6, record=[0, 1, 5]
    )
    first, last = 0.5 * 0.8**2, 0.5 * 0.8**10
    assert half_loss_time(run) == pytest.approx(0.2 + (first - 0.25) / (first - last) * 0.8)


def test_patience_stops_after_so_many_checks_without_a_better_loss():
    losses = [5.0, 4.0, 4.5, 4.2, 3.0, 3.5, 3.6, 3.7]
    found = stop_by_patience(losses, checks=2)
    assert (found.stop, found.best, found.stops) == (3, 1, True)
    found = stop_by_patience(losses, checks=3)
    assert (found.stop, found.best, found.stops) == (7, 4, False)
    found = stop_by_patience([*losses, 4.0], checks=3)
    assert (found.stop, found.best, found.stops) == (7, 4, True)
    found = stop_by_patience(losses, checks=4)
    assert (found.stop, found.best, found.stops) == (7, 4, False)


def test_momentum_lengthens_steps_by_its_geometric_series():
    assert effective_lr(SGD(0.2, momentum=0.75)) == pytest.approx(0.8)
    torch_rule = lambda p: torch.optim.SGD(p, lr=0.2, momentum=0.75, dampening=0.5)  # noqa: E731
    assert effective_lr(torch_rule) == pytest.approx(0.4)


def test_named_optimizers_have_their_settings():
    assert NAMES["adamw"] == Adam(decay=0.01) and NAMES["sgd"] == SGD(0.001) and NAMES["adam"] == Adam(1e-3)
    read = as_gradient_descent(
        resolve_optimizer(lambda p: torch.optim.SGD(p, lr=0.2, momentum=0.75, weight_decay=0.03), None)
    )
    assert read == SGD(0.2, momentum=0.75, decay=0.03)


@pytest.mark.parametrize("epoch", [1, 2])
def test_a_schedule_changes_the_rate_after_each_epoch(epoch):
    rule = ScheduledOptimizer(SGD(0.4), lambda o: torch.optim.lr_scheduler.StepLR(o, 1, gamma=0.5), epoch)
    w = [nn.Parameter(torch.tensor([1.0]).double())]
    memory, places = rule.memory(w), []
    for count in range(1, 5):
        rule.move(w, lambda: (torch.tensor(0.0), [torch.ones(1).double()]), memory, count)
        places.append(float(w[0].detach()))
    rates = [0.4 * 0.5 ** ((k - 1) // epoch) for k in range(1, 5)]
    assert places == pytest.approx(list(1 - np.cumsum(rates)))


def test_losses_are_measured_in_batches_of_at_least_256():
    sizes = []

    class Counting(nn.Linear):
        def forward(self, x):
            sizes.append(len(x))
            return super().forward(x)

    net = Counting(2, 1)
    objective = Objective.of((torch.ones(600, 2), torch.ones(600)), net, None)
    sizes.clear()
    objective.measure(net, 10)
    assert sizes == [256, 256, 88]
    sizes.clear()
    objective.measure(net, 300)
    assert sizes == [300, 300]


def test_targets_of_a_loader_beside_data_in_memory_are_converted_like_those_of_the_data():
    generator = torch.Generator().manual_seed(3)
    x, y = torch.randn(12, 3, generator=generator), torch.randn(12, generator=generator)
    ends = []
    for targets in (y, y[:, None]):
        torch.manual_seed(5)
        net = nn.Linear(3, 1)
        batches = BatchPlan(loader=data_source([(x[:6], targets[:6]), (x[6:], targets[6:])], None, module=net))
        ends.append(train(net, (x, y), optimizer=SGD(0.1), steps=6, batch=batches).model.weight.detach())
    assert torch.equal(*ends)
