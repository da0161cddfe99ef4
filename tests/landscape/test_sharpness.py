"""Sharpness against what descent really bears, and the edge where it ends up."""

import json
from math import inf

import matplotlib
import pytest
import torch
from torch import nn

from gnomon.core import InputError
from gnomon.landscape import edge_of_stability, sharpness
from gnomon.landscape.edge import EdgeOfStability
from gnomon.training import SGD, Adam, train


@pytest.mark.parametrize("momentum", [pytest.param(0.0, marks=pytest.mark.full), 0.6])
def test_a_quadratic_loss_bears_steps_up_to_the_limit_and_no_further(momentum):
    x, y, net = torch.randn(20, 4).double(), torch.randn(20).double(), nn.Linear(4, 1).double()
    found = sharpness(net, (x, y), momentum=momentum)
    features = torch.cat([x, torch.ones(20, 1).double()], 1)
    assert found.value == pytest.approx(float(torch.linalg.eigvalsh(features.T @ features / 20)[-1]), rel=1e-8)
    for factor in (0.98, 1.02):
        way = SGD(factor * found.largest_lr, momentum=momentum)
        told = sharpness(net, (x, y), lr=way.lr, momentum=momentum)
        run = train(net, (x, y), optimizer=way, steps=1000)
        assert told.stable == (not run.diverges) == (factor < 1)
        assert ("use an lr below" in told.verdict) == (factor > 1) == bool(told.findings)
        assert told.ratio == pytest.approx(factor)


def test_several_eigenvalues_a_fixed_number_of_products_and_plain_values():
    x, y, net = torch.randn(20, 4).double(), torch.randn(20).double(), nn.Linear(4, 1).double()
    found = sharpness(net, (x, y), k=3)
    assert list(found.values) == sorted(found.values, reverse=True) and len(found.values) == 3
    assert sharpness(net, (x, y), iterations=2).products == 2
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["lr"] is None and plain["verdict"] == found.verdict and "learning rates below" in found.verdict
    flat = sharpness(net, (x, y.unsqueeze(1)), loss=lambda f, t: (f - t).mean())
    assert flat.value == 0 and flat.largest_lr == inf


def test_an_unstable_learning_rate_is_a_finding_with_its_measurement():
    """Squared loss of w x at x = 2: the Hessian is 4, and lr 1 is stable up to 2."""
    net, x, y = nn.Linear(1, 1, bias=False).double(), torch.tensor([[2.0]]).double(), torch.zeros(1).double()
    (finding,) = sharpness(net, (x, y), lr=1.0).findings
    assert finding.kind == "learning-rate-unstable" and finding.level.name == "PROBLEM" and "below 0.5" in finding.fix
    measured, limit = finding.evidence
    assert 4.0 in measured.interval and limit.value == 2.0
    bars, line = sharpness(net, (x, y), lr=1.0).plots()[0].marks
    assert bars.values == (pytest.approx(4.0),) and line.at == 2.0


@pytest.mark.full
@pytest.mark.parametrize("step", [0.1, 0.2])  # the limits are 20 and 10
def test_descent_on_a_network_sharpens_to_the_edge_of_stability_and_stays(step):
    """The finding of [cohen2021gradient]: full-batch descent sharpens up to 2 / step and hovers there, loss still falling.

    At the edge the path is chaotic: a last digit moves every later spike of the loss, so that no two single losses may be
    compared. What lasts is where the sharpness hovers, and how the loss falls over windows much longer than a spike:
    its median over a thousand steps, tenfold to fortyfold here whatever the last digits, while single losses go up and
    down a hundredfold.
    """
    torch.manual_seed(0)
    x = torch.linspace(-1, 1, 20).double()[:, None]
    y = 4 * x[:, 0] ** 3 - 3 * x[:, 0]
    net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1)).double()
    see = {"sharpness": lambda _s, model, _l: sharpness(model, (x, y), iterations=10).value}
    run = train(net, (x, y), optimizer=SGD(step), steps=2000, record=50, watch=see)
    found = edge_of_stability(run)
    assert found.place == "at" and "edge of stability" in found.verdict, found.ratio
    assert float(found.sharpness[0]) < 0.6 * found.limit  # it started below and sharpened
    early, late = run.loss[1:21], run.loss[21:]
    assert not run.diverges and float(late.median()) < float(early.median())


def test_momentum_moves_the_edge():
    net, x, y = nn.Linear(1, 1), torch.ones(3, 1), torch.zeros(3)
    run = train(net, (x, y), optimizer=SGD(0.1, momentum=0.9), steps=2, watch={"sharpness": lambda *_: 19.0})
    found = edge_of_stability(run)
    assert found.limit == pytest.approx(2 * 1.9 / 0.1) and found.ratio == pytest.approx(0.5) and found.place == "below"


def test_the_record_tells_and_plots():
    matplotlib.use("Agg")
    steps = torch.arange(6)
    below = EdgeOfStability(steps, torch.linspace(1, 2, 6).double(), 8.0)
    beyond = EdgeOfStability(steps, torch.linspace(1, 30, 6).double(), 8.0)
    assert below.place == "below" and beyond.place == "beyond" and "too large" in beyond.verdict
    assert below.ratio == pytest.approx(1.9 / 8) and below.sharpening == 2
    assert json.loads(json.dumps(below.to_dict()))["sharpness"][0] == 1 and below.findings == ()
    (finding,) = beyond.findings
    assert finding.kind == "learning-rate-unstable" and finding.evidence[0].value == beyond.ratio
    assert len(below.plot().lines) == 2
    matplotlib.pyplot.close("all")


def test_runs_that_cannot_tell_are_refused():
    net, x, y = nn.Linear(1, 1), torch.ones(3, 1), torch.zeros(3)
    with pytest.raises(InputError, match="a watcher named 'sharpness'"):
        edge_of_stability(train(net, (x, y), steps=1))
    with pytest.raises(InputError, match="the optimizer was Adam"):
        edge_of_stability(train(net, (x, y), steps=1, optimizer=Adam(), watch={"sharpness": lambda *_: 1.0}))
    with pytest.raises(InputError, match="lr must be a number above 0 and finite, but it is 0.0"):
        sharpness(net, (x, y), lr=0.0)
