"""Numbers of statements about a user's network, on networks small enough to compute them by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.check import kernel, layers, trial
from gnomon.atlas.check.descent import check_edge_of_stability, check_margin_growth
from gnomon.atlas.check.trial import _affordable, _margin, _norm, train_trial
from gnomon.core.machine.clock import FakeClock
from gnomon.examination.subject import Examples

EYE = torch.eye(2)


def linear(weight, *more):
    """Linear layers without bias, with these weights."""
    parts = []
    for matrix in (weight, *more):
        table = torch.tensor(matrix)
        parts.append(nn.Linear(table.shape[1], table.shape[0], bias=False))
        with torch.no_grad():
            parts[-1].weight.copy_(table)
    return nn.Sequential(*parts)


def told(judgment):
    return [value.value for value in judgment.values]


def test_the_rate_is_one_over_the_curvature_and_is_quartered_if_the_loss_rises():
    """L = mean (w x - y)^2 / 2 on x = (4, 0), (0, 1): H = diag(8, 1/2)."""
    x, y = torch.tensor([[4.0, 0.0], [0.0, 1.0]]), torch.ones(2)
    found = train_trial(linear([[0.0, 0.0]]), (x, y), steps=40)
    assert found.sharpness == pytest.approx(8.0, rel=1e-4) and found.lr == pytest.approx(1 / 8, rel=1e-4)
    w = 1 - (1 - torch.tensor([8.0, 0.5]) / 8) ** 40  # of each mode, as a share of its solution (1/4, 1)
    expected = torch.tensor([0.25, 1.0]) * w
    torch.testing.assert_close(found.after[0].weight.detach()[0], expected, rtol=1e-3, atol=1e-4)
    assert len(found.run.steps) == 21  # every second step, and the first
    assert train_trial(linear([[0.0, 0.0]]), (x, y), steps=4, lr=0.01).lr == 0.01
    short = train_trial(linear([[0.0, 0.0]]), (x, y), steps=1, lr=0.3)
    assert short.lr == 0.3 and short.run.loss[-1] > short.run.loss[0]  # a given rate is kept


def test_norms_and_margins_are_those_of_all_examples():
    net = linear([[3.0, 0.0], [0.0, 4.0]])
    assert _norm(net) == 5.0
    x = torch.tensor([[1.0, 1.0], [2.0, 0.5]])
    assert _margin(net, x, torch.tensor([1, 0])) == 1.0  # 4 - 3, and 6 - 2
    assert _margin(net, x, torch.tensor([0, 0])) == -1.0


@pytest.mark.parametrize(("seconds", "kept"), [(1000.0, 200), (320.0, 160), (32.0, 32)])
def test_examples_are_those_whose_curvature_takes_half_of_the_time(seconds, kept):
    """A pass of 16 examples takes 0.16 s: 0.01 s each, and a hundred passes."""
    x = torch.randn(200, 2)
    found = _affordable(linear([[1.0, 1.0]]), Examples(x, x[:, :1]), seconds, FakeClock(0.16))
    assert len(found) == kept


def test_the_curvature_may_exceed_its_limit_by_a_fifth():
    x = torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    found = train_trial(linear([[0.0, 0.0]]), (x, torch.ones(2)), steps=2)
    for lr, verdict in ((2 * 1.19 / 8, "HOLDS"), (2 * 1.21 / 8, "REFUTED")):
        judged = check_edge_of_stability(replace(found, lr=lr))
        assert judged.verdict.name == verdict
        assert told(judged) == pytest.approx([8.0, 2 / lr], rel=1e-4)


def test_margins_are_divided_by_the_norm_to_the_degree():
    found = train_trial(
        linear([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]), (EYE, torch.tensor([0, 1])), steps=1
    )
    grown = check_margin_growth(replace(found, margins=((-1.0, 1.0), (1.0, 1.0), (4.0, 2.0), (10.0, 3.0))))
    assert told(grown) == pytest.approx([1.0, 10 / 9, 2]) and grown.verdict.name == "HOLDS"
    fallen = check_margin_growth(replace(found, margins=((1.0, 1.0), (4.0, 2.0), (8.0, 3.0))))
    assert told(fallen) == pytest.approx([1.0, 8 / 9, 2]) and fallen.verdict.name == "REFUTED"
    few = check_margin_growth(replace(found, margins=((1.0, 1.0), (4.0, 2.0), (0.0, 3.0))))
    assert few.verdict.name == "INCONCLUSIVE"


@pytest.mark.parametrize(("factor", "verdict"), [(1.4, "HOLDS"), (1.42, "REFUTED"), (0.71, "HOLDS"), (0.7, "REFUTED")])
def test_signals_may_change_by_two_for_each_layer(factor, verdict):
    """Layers that multiply by c multiply mean squares by c^2: 2 is reached at c = 1.414."""
    layer = [[factor, 0.0], [0.0, factor]]
    judged = layers.check_signal_propagation(
        train_trial(linear(layer, layer, layer, [[1.0, 0.0]]), (EYE, torch.ones(2)), steps=1)
    )
    assert judged.verdict.name == verdict
    assert told(judged) == pytest.approx([factor**2, factor**-2], rel=1e-4)


def test_the_factor_per_layer_is_a_geometric_mean():
    assert layers._factor([1.0, None, 5.0, 8.0]) == pytest.approx(8**0.5)
    assert layers._factor([3.0]) == 1.0 and layers._factor([0.0, 1.0]) == layers._factor([1.0, 0.0]) == float("inf")


def test_the_lipschitz_bound_is_the_product_of_norms_and_the_ratio_is_the_largest():
    net = linear([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]])
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    judged = layers.check_lipschitz_bound(train_trial(net, (x, torch.zeros(3, 2)), steps=1, lr=1e-12))
    assert told(judged) == pytest.approx([3.0, 6.0], rel=1e-4)  # 2 along the first axis, 3 along the second


def test_a_normalization_with_a_large_epsilon_is_not_scale_invariant():
    """The gradient with respect to a single weight is parallel to it: the cosine is 1."""
    net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1, eps=1.0)).double()
    x = torch.tensor([[1.0], [2.0], [6.0]]).double()
    judged = layers.check_scale_invariance(train_trial(net, (x, torch.tensor([1.0, 0.0, 3.0]).double()), steps=1))
    assert judged.verdict.name == "REFUTED" and told(judged) == pytest.approx([1.0])


def test_exchanged_units_change_nothing_and_are_counted():
    net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    change, pairs = told(layers.check_permutation_symmetry(train_trial(net, (EYE, torch.ones(2)), steps=1)))
    assert pairs == 2 and change < 1e-5


@pytest.mark.parametrize(("kept", "verdict"), [(0.979, "HOLDS"), (0.981, "INCONCLUSIVE")])
def test_a_run_says_something_if_the_loss_fell_by_a_fiftieth(kept, verdict):
    run = SimpleNamespace(run=SimpleNamespace(loss=[2.0, 2.0 * kept]))
    assert kernel._of_training(run, True, "", ()).verdict.name == verdict


def test_modes_that_hold_nine_tenths_of_the_trace_lead():
    """Kernel diag(16, 1): the first direction holds 94 %. After one step of rate 1/8 it is fitted, the other to 1/16."""
    x = torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    judged = kernel.check_order_of_learned_eigenvectors(train_trial(linear([[0.0, 0.0]]), (x, torch.ones(2)), steps=1))
    assert told(judged) == pytest.approx([0.0, 15 / 16], abs=1e-3) and judged.verdict.name == "HOLDS"
    even = kernel.check_order_of_learned_eigenvectors(train_trial(linear([[0.0, 0.0]]), (EYE, torch.ones(2)), steps=1))
    assert even.verdict.name == "INCONCLUSIVE"


def test_the_error_of_a_linearization_is_relative_to_what_training_changed():
    """f = u v x at u = v = 1; after w the line is u + v - 1 and the network u v: they differ by (u - 1)(v - 1)."""
    found = train_trial(linear([[1.0]], [[1.0]]), (torch.ones(4, 1), torch.zeros(4)), steps=1, lr=0.2)
    u, v = (float(layer.weight.detach()) for layer in found.after)
    (error,) = told(kernel.check_linearization(found))
    assert error == pytest.approx((u - 1) * (v - 1) / (1 - u * v), rel=1e-3)


def test_without_curvature_the_rate_is_a_thousand():
    found = train_trial(linear([[0.0, 0.0]]), (torch.zeros(2, 2), torch.zeros(2)), steps=1)
    assert found.lr == 1000.0


def test_a_rate_is_quartered_if_the_loss_rises_or_has_not_fallen_after_many_steps():
    """H = diag(c, 1/2) at rate 1/c: the error lies along the second axis, where a step keeps 1 - 1/(2c) of it."""

    def trial(c, steps):
        x, y = torch.tensor([[(2 * c) ** 0.5, 0.0], [0.0, 1.0]]), torch.tensor([0.0, 2.0])
        return train_trial(linear([[0.0, 0.0]]), (x, y), steps=steps)

    assert trial(800.0, 1).lr == pytest.approx(1 / 800, rel=1e-3)  # a short run that does not rise is kept
    assert trial(8e4, 99).lr == pytest.approx(1 / 8e4, rel=1e-3)
    assert trial(8e4, 100).lr == pytest.approx(1 / 8e4 / 4**3, rel=1e-3)  # the fourth rate is the last
    lost = {c: float(trial(c, 100).run.loss[-1] / trial(c, 100).run.loss[0]) for c in (4000.0, 6000.0)}
    assert lost[4000.0] == pytest.approx((1 - 1 / 8000) ** 200, rel=1e-4)  # 0.975: fallen, the rate is kept
    assert trial(4000.0, 100).lr == pytest.approx(1 / 4000, rel=1e-3)
    assert trial(6000.0, 100).lr == pytest.approx(1 / 6000 / 64, rel=1e-3)  # 0.983 at every rate: not fallen


def test_a_rate_at_which_the_loss_rises_is_quartered_in_short_runs_too():
    """L = mean cosh(w x): the curvature at w = 0 is the smallest one, so a step of 1 / H from large w overshoots."""
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    net = nn.Sequential(nn.Linear(2, 1, bias=False), _Cubed())
    with torch.no_grad():
        net[0].weight.fill_(0.3)
    found = train_trial(net, (x, torch.full((2,), 8.0)), steps=3)
    tried = found.lr * max(found.sharpness, 1e-3)
    assert tried in (pytest.approx(0.25), pytest.approx(1 / 16), pytest.approx(1 / 64))
    before = train_trial(net, (x, torch.full((2,), 8.0)), steps=3, lr=4 * found.lr).run
    assert before.stopped == "diverged" or float(before.loss.max()) > float(before.loss[0])


class _Cubed(nn.Module):
    def forward(self, x):
        return x**3


def test_residuals_of_classes_lie_along_eigenvectors_of_the_kernel():
    """Linear network without bias: its kernel is x x^T, here computed with numpy."""
    g = torch.Generator().manual_seed(3)
    x, y = torch.randn(7, 4, generator=g) * torch.tensor([3.0, 2.0, 1.0, 0.3]), torch.arange(7) % 3
    net = linear(torch.randn(3, 4, generator=g).tolist())
    found = train_trial(net, (x, y), steps=9)
    values, vectors = np.linalg.eigh((x @ x.T).double().numpy())
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    lead = next(k for k in range(1, 8) if values[:k].sum() >= 0.9 * values.sum())
    parts = []
    for model in (net, found.after):
        f = (x @ model[0].weight.detach().T).double().numpy()
        p = np.exp(f) / np.exp(f).sum(1, keepdims=True)
        parts.append(((vectors.T @ (np.eye(3)[y.numpy()] - p)) ** 2).sum(1))
    expected = [(parts[1][s].sum() / parts[0][s].sum()) ** 0.5 for s in (slice(0, lead), slice(lead, 7))]
    judged = kernel.check_order_of_learned_eigenvectors(found)
    assert lead < 4 and told(judged) == pytest.approx(expected, rel=1e-4)  # the null space counts
    assert judged.plot.marks[0].y[:4] == pytest.approx(((parts[1] / parts[0]) ** 0.5)[:4], rel=1e-3)


def test_the_worst_layer_decides_about_scale_invariance():
    """The second layer's normalization has a large epsilon; cosines of all its weights with their gradient."""
    torch.manual_seed(0)
    parts = nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 3), nn.BatchNorm1d(3, eps=1.0), nn.Linear(3, 1)
    net = nn.Sequential(*parts).double()
    x, y = torch.randn(9, 2).double(), torch.randn(9).double()
    judged = layers.check_scale_invariance(train_trial(net, (x, y), steps=1))
    net.train()
    loss = 0.5 * (net(x)[:, 0] - y).square().mean()
    w = net[2].weight
    (g,) = torch.autograd.grad(loss, w)
    cosine = abs(float(nn.functional.cosine_similarity(w.detach().flatten(), g.flatten(), dim=0)))
    assert told(judged) == pytest.approx([cosine], rel=1e-6) and cosine > 0.01


@pytest.mark.parametrize(("eps", "verdict"), [(1e-5, "HOLDS"), (0.1, "REFUTED")])
def test_a_cosine_of_a_thousandth_is_rounding(eps, verdict):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3, eps=eps), nn.Linear(3, 1)).double()
    judged = layers.check_scale_invariance(
        train_trial(net, (torch.randn(9, 2).double(), torch.randn(9).double()), steps=1)
    )
    assert judged.verdict.name == verdict and (told(judged)[0] < 1e-3) == (verdict == "HOLDS")


def test_exchanged_units_of_a_network_whose_outputs_are_zero_change_nothing():
    net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    found = train_trial(net, (EYE, torch.ones(2)), steps=1)
    nn.init.zeros_(found.before[2].weight)
    nn.init.zeros_(found.before[2].bias)
    judged = layers.check_permutation_symmetry(found)
    assert judged.verdict.name == "HOLDS" and told(judged) == [0.0, 1]


@pytest.mark.parametrize(("worst", "rates"), [(1.5, 4), (0.999, 1)])
def test_a_short_run_that_rose_by_half_on_its_way_is_repeated_with_smaller_rates(worst, rates, monkeypatch):
    tried = []

    def made(*data, optimizer, **known):
        tried.append(optimizer.lr)
        run = original(*data, optimizer=optimizer, **known)
        return replace(run, curves=replace(run.curves, loss=torch.tensor([1.0, worst, 0.999]).double()))

    original = trial.train
    monkeypatch.setattr(trial, "train", made)
    train_trial(linear([[0.5, 0.0]]), (EYE, torch.tensor([0.0, 3.0])), steps=2)
    assert len(tried) == rates and tried == pytest.approx([tried[0] / 4**k for k in range(rates)])


def test_equal_examples_do_not_decide_about_the_lipschitz_bound():
    x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    judged = layers.check_lipschitz_bound(
        train_trial(linear([[2.0, 0.0], [0.0, 1.0]]), (x, torch.zeros(3, 2)), steps=1, lr=1e-12)
    )
    assert told(judged) == pytest.approx([(8 / 5) ** 0.5, 2.0], rel=1e-4) and judged.verdict.name == "HOLDS"
