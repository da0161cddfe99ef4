"""Half times, patience, effective rates, ablations: against hand counts."""

import math

import pytest
import torch
from torch import nn

from gnomon.core import InputError
from gnomon.training import SGD, Adam, ablation, effective_lr, half_loss_time, stop_by_patience, train


def test_the_time_to_half_the_loss():
    """characteristic-time-tc: L(t) = L(0) exp(-2 lambda t) halves at log 2 / (2 lambda)."""
    net = nn.Linear(1, 1, bias=False).double()
    run = train(
        net, (torch.full((1, 1), 2.0).double(), torch.zeros(1).double()), optimizer=SGD(1e-3), steps=200, record=1
    )
    assert half_loss_time(run) == pytest.approx(math.log(2) / 8, rel=0.01)  # curvature x^2 = 4
    still = train(net, (torch.zeros(1, 1).double(), torch.ones(1).double()), optimizer=SGD(1e-3), steps=2)
    assert half_loss_time(still) == math.inf


def test_patience_keeps_the_best_so_far():
    """early-stopping-patience: stop when the best is p records old, by a plain loop."""
    g = torch.Generator().manual_seed(0)
    for _ in range(20):
        losses = torch.rand(30, generator=g).tolist()
        found = stop_by_patience(losses, checks=4)
        stop = next((i for i in range(len(losses)) if i - losses.index(min(losses[: i + 1])) >= 4), len(losses) - 1)
        assert found.stop == stop and losses[found.best] == min(losses[: stop + 1])
    with pytest.raises(InputError, match="no test losses"):
        stop_by_patience(train(nn.Linear(1, 1), (torch.ones(1, 1), torch.ones(1)), steps=1), checks=2)


def test_momentum_multiplies_the_rate():
    """heavy-ball-momentum: a constant gradient moves by lr / (1 - momentum) a step in the long run."""
    w, v = 0.0, 0.0
    for _ in range(500):
        v = 0.9 * v + 1.0
        last, w = w, w - 0.1 * v
    assert effective_lr(SGD(0.1, momentum=0.9)) == pytest.approx(last - w, rel=1e-9)
    with pytest.raises(InputError, match="descent with momentum"):
        effective_lr(Adam(0.1))


def test_an_ablation_finds_what_matters():
    """training-recipe-ingredients: the effect of an ingredient with the interval of paired differences."""
    noise = {(name, s): 0.01 * math.sin(7 * s + len(name)) for name in ("a", "bb", "") for s in range(4)}

    def score(on, seed):
        missing = next((name for name, kept in on.items() if not kept), "")
        return 0.5 + 0.2 * on["a"] + noise[missing, seed]

    found = ablation(score, ("a", "bb"), seeds=range(4))
    assert found.helps == ("a",) and found.effects["a"] == pytest.approx(0.2, abs=0.02)
    assert found.effects["bb"] == pytest.approx(sum(noise["", s] - noise["bb", s] for s in range(4)) / 4)
