"""Time limits: calls end with an error that says the expected cost, and leave the module as it was."""

import inspect
import threading
from functools import partial

import pytest
import torch
from torch import nn

from gnomon.attribution import attribution_overview, fourier_mask, invert_layer
from gnomon.bounds import certify, double_descent, learning_curve, memorization
from gnomon.bounds.memorization import network_rademacher
from gnomon.core.errors import InputError, TimeLimitError
from gnomon.core.machine import budget as limits
from gnomon.core.machine.budget import check_time, limit_time, time_limit
from gnomon.core.machine.progress import Progress, with_progress_bar, without_bars
from gnomon.core.machine.threads import run_in_threads
from gnomon.landscape import hessian, loss_plane, lr_range, sharpness
from gnomon.landscape.basins import basin_map
from gnomon.landscape.hessian import HessianOperator
from gnomon.robustness import (
    attack,
    minimal_distance,
    regions_in_plane,
    regions_on_line,
    robust_accuracy,
    robust_radius,
    universal_perturbation,
)
from gnomon.tangent.sweeps.spread import kernel_spread

DRAW = torch.Generator().manual_seed(0)
X = torch.rand(200, 4, generator=DRAW)
DATA = X, (X[:, 0] > 0.5).long()
IMAGES = X.reshape(200, 1, 2, 2), DATA[1]


def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.BatchNorm1d(8), nn.Linear(8, 2))


def plain(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


METHODS = {"top": {"iterations": 2}, "density": {"steps": 2}, "trace": {"products": 6}, "diagonal": {"samples": 2},
           "inverse_product": {"b": torch.ones(74), "damping": 1e3}}  # fmt: skip
"""Methods of the Hessian that take long, with arguments for a short call."""


def operate(name, net, **more):
    return getattr(hessian(net, DATA), name)(**METHODS[name], **more)


CALLS = {
    sharpness: lambda net, **more: sharpness(net, DATA, **more),
    loss_plane: lambda net, **more: loss_plane(net, DATA, points=3, **more),
    robust_accuracy: lambda net, **more: robust_accuracy(net, DATA, eps=0.1, **more),
    robust_radius: lambda net, **more: robust_radius(net, DATA, **more),
    attack: lambda net, **more: attack(net, DATA, eps=0.1, **more),
    minimal_distance: lambda net, **more: minimal_distance(net, DATA, **more),
    universal_perturbation: lambda net, **more: universal_perturbation(net, DATA, eps=0.1, **more),
    certify: lambda net, **more: certify(net, DATA, **more),
    memorization: lambda net, **more: memorization(lambda _: net, DATA, **more),
    network_rademacher: lambda net, **more: network_rademacher(lambda _: net, X, **more),
    learning_curve: lambda net, **more: learning_curve(X.double() @ X.double().T, DATA[1], **more),
    regions_on_line: lambda net, **more: regions_on_line(plain(), X[0], X[1], **more),
    regions_in_plane: lambda net, **more: regions_in_plane(plain(), X[0], X[1:3], **more),
    attribution_overview: lambda net, **more: attribution_overview(net, DATA, **more),
    fourier_mask: lambda net, **more: fourier_mask(nn.Sequential(nn.Flatten(), net), IMAGES, epochs=2, **more),
    invert_layer: lambda net, **more: invert_layer(net, "0", X[:3], iterations=3, **more),
    double_descent: lambda net, **more: double_descent(lambda *_: lambda x: x[:, :1], (1, 2, 3), (X, X[:, :1]),
                                                       (X, X[:, :1]), **more),
    kernel_spread: lambda net, **more: kernel_spread(lambda width, seed: nn.Linear(4, width), X[:5], widths=(1, 2, 3),
                                                     **more),
    lr_range: lambda net, **more: lr_range(net, DATA, steps=3, **more),
    basin_map: lambda net, **more: basin_map(lambda w: w.square().sum(1), steps=3, points=3, **more),
    **{getattr(HessianOperator, name): partial(operate, name) for name in METHODS},
}  # fmt: skip


def state(net):
    return {
        "weights": {name: value.clone() for name, value in net.state_dict().items()},
        "modes": [part.training for part in net.modules()],
        "gradients": [(p.requires_grad, p.grad) for p in net.parameters()],
        "hooks": [len(part._forward_hooks) + len(part._forward_pre_hooks) for part in net.modules()],
    }


def assert_same(before, after):
    assert all(torch.equal(value, after["weights"][name]) for name, value in before["weights"].items())
    assert {k: before[k] for k in before if k != "weights"} == {k: after[k] for k in after if k != "weights"}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_a_spent_budget_ends_the_call_and_leaves_the_module_unchanged(function):
    assert "budget" in inspect.signature(function).parameters
    net = network().train()
    before = state(net)
    with pytest.raises(TimeLimitError, match=rf"{function.__name__}\(.*budget of 1e-09 s was spent after"):
        CALLS[function](net, budget=1e-9)
    assert_same(before, state(net))


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_an_interrupt_leaves_the_module_unchanged(function, monkeypatch):
    """The interrupt comes at the first place where a loop looks at the clock."""

    def interrupt():
        raise KeyboardInterrupt

    net = network().train()
    before = state(net)
    monkeypatch.setattr(limits, "monotonic", interrupt)
    token = limits.DEADLINE.set(limits._Deadline(1.0, 0.0))
    try:
        with pytest.raises(KeyboardInterrupt):
            CALLS[function](net)
    finally:
        limits.DEADLINE.reset(token)
    assert_same(before, state(net))


def test_the_message_says_what_was_done_and_the_expected_cost(monkeypatch):
    seconds = iter([0.0, 1.0, 9.0])
    monkeypatch.setattr(limits, "monotonic", lambda: next(seconds))
    with pytest.raises(
        TimeLimitError, match=r"budget of 5 s was spent after 10 of 40 steps \(these need about 20 s in"
    ):
        with time_limit(5):
            check_time("steps", 1, 40)
            check_time("steps", 10, 40)


def test_the_earlier_of_nested_limits_holds_and_ends_with_its_block():
    with time_limit(60.0), pytest.raises(TimeLimitError, match="1e-09 s"):
        with time_limit(1e-9), time_limit(30.0):
            check_time("steps", 1, 2)
    check_time("steps", 1, 2)


def test_a_budget_must_be_positive():
    @limit_time
    def count(*, budget=None):
        return 1

    assert count() == count(budget=None) == count(budget=10) == 1
    for bad in (0, -1.0, "1m", True, float("nan")):
        with pytest.raises(InputError, match="positive number of seconds"):
            count(budget=bad)


def test_work_in_threads_ends_too():
    stopped = threading.Event()
    with pytest.raises(TimeLimitError), time_limit(1e-9):
        run_in_threads(lambda task, room: stopped.wait(0.01), range(1000), lambda: None, "tasks")


def test_every_bar_looks_at_the_clock_and_a_display_of_its_own_hides_it():
    with pytest.raises(TimeLimitError, match="1 of 3 products"), time_limit(1e-9):
        list(with_progress_bar(range(3), "products"))
    with without_bars():
        assert Progress.drawn is not None
    assert Progress.drawn is None
