"""A fix is proven if it helps a planted fault, and never on a network that needs no fix."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Finding, Interval
from gnomon.examination.fixes.fix import Fix, TrialChange
from gnomon.examination.fixes.prove import FixTrialBudget, _together, held_out_split, try_fixes
from gnomon.examination.fixes.table import FIXES
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix
from gnomon.examination.subject import build_subject
from gnomon.findings import data, network, training
from gnomon.training import SGD, Adam
from gnomon.training.plan import BatchPlan

GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(400, 6, generator=GENERATOR)
Y = (X[:, 0] * X[:, 1] > 0).long()
TRAIN, TEST = (X[:300], Y[:300]), (X[300:], Y[300:])


def net(*end, act=nn.ReLU, depth=1):
    torch.manual_seed(0)
    hidden = [part for _ in range(depth - 1) for part in (nn.Linear(32, 32), act())]
    return nn.Sequential(nn.Linear(6, 32), act(), *hidden, nn.Linear(32, 2), *end)


def proven(module, finding, *, train=TRAIN, test=TEST, optimizer=None, steps=150, loss=None):
    """What `try_fixes` finds for one finding, with ample time."""
    of = build_subject(module, train, test, seed=0)
    source, held, _ = held_out_split(of, 0)
    trial = TrialRun(of.module, source, held, loss or of.loss, optimizer or Adam(0.01), BatchPlan(32), steps)
    movable = any(p.requires_grad for p in of.module.parameters())
    first = trial if movable else replace(trial, module=net(), steps=0)
    clock = FakeClock(1e-3)
    return try_fixes(of, [finding], trial, first.run(seed=0), FixTrialBudget(clock() + 1e6, 1e-3, clock), seed=0)


def dead():
    made = net()
    nn.init.constant_(made[0].bias, -30.0)
    return made


def frozen():
    return net().requires_grad_(False)


FAULTS = [
    (dead(), Finding(network.DEAD_LAYER), {}, "initialize"),
    (net(), Finding(data.COLUMN_SCALE, "", {"column": 1, "ratio": 1e3}),
     {"train": (X[:300] * 100 + 500, Y[:300]), "test": (X[300:] * 100 + 500, Y[300:])}, "standardize-inputs"),
    (net(), Finding(training.TOO_LARGE_TO_LEARN, "", {"other": 0.3}), {"optimizer": SGD(300.0)}, "lower-rate"),
    (net(), Finding(training.LEARNING_RATE_TOO_SMALL, "", {"other": 1e-3}), {"optimizer": SGD(1e-5)}, "higher-rate"),
    (net(act=nn.Sigmoid, depth=8), Finding(network.VANISHING_GRADIENTS), {}, "use-relu"),
    (frozen(), Finding(network.FROZEN), {}, "unfreeze"),
    (net(), Finding(training.WEIGHT_DECAY_WINS, "", {"decay": 5.0}), {"optimizer": SGD(0.1, decay=5.0)}, "usual-decay"),
]  # fmt: skip
QUICK = ("initialize", "unfreeze")


@pytest.mark.parametrize(
    "module, finding, options, id",
    [pytest.param(*row, id=row[3], marks=() if row[3] in QUICK else pytest.mark.full) for row in FAULTS],
)
def test_the_fix_of_a_planted_fault_is_proven_and_leaves_the_module_alone(module, finding, options, id):
    before = {name: t.clone() for name, t in module.state_dict().items()}
    found = proven(module, finding, **options)
    assert [one.fix for one in found.proven_fixes] == [id], found
    one = found.proven_fixes[0]
    assert one.after - one.before > 0.1 and one.gain.low > 0 and one.diff
    assert one.after - one.before == pytest.approx((one.gain.low + one.gain.high) / 2, abs=0.05)
    assert all(bool((module.state_dict()[name] == t).all()) for name, t in before.items())


@pytest.mark.full
@pytest.mark.parametrize("id", ["standardize-inputs", "initialize", "lower-rate"])
def test_no_fix_is_proven_on_a_network_that_needs_none(id, monkeypatch):
    """A fix that cannot help is tried on a healthy network that was trained long enough."""
    monkeypatch.setattr("gnomon.examination.fixes.prove.fixes_for", lambda finding: (FIXES[id],))
    found = proven(net(), Finding(training.UNDERFIT), steps=300)
    assert not found.proven_fixes, found


def test_a_softmax_too_many_is_removed_whether_it_is_a_layer_or_a_function():
    class Functional(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net()

        def forward(self, x):
            return torch.softmax(self.net(x), dim=1)

    for module in (net(nn.Softmax(1)), Functional()):
        finding = Finding(network.SOFTMAX_BEFORE_LOSS, "", {"least": 0.3})
        of = build_subject(module, TRAIN, TEST, seed=0)
        trial = TrialRun(of.module, of.train, of.test, of.loss, Adam(), BatchPlan(32), 10)
        (change,) = FIXES["remove-softmax"].apply(trial, finding, of)
        assert torch.equal(change.trial.module(X).softmax(1), module(X))


def test_class_weights_are_inverse_to_the_class_frequencies_and_scored_by_class():
    of = build_subject(net(), (X[:300], (torch.arange(300) < 30).long()), TEST, seed=0)
    trial = TrialRun(of.module, of.train, of.test, of.loss, Adam(), BatchPlan(32), 10)
    (change,) = FIXES["weight-classes"].apply(trial, Finding(data.IMBALANCE), of)
    assert change.trial.loss.weight.tolist() == pytest.approx([300 / (2 * 270), 300 / (2 * 30)])
    assert change.trial.balanced


@pytest.mark.full
def test_two_faults_that_hide_each_other_are_fixed_together():
    made = dead()
    shifted = {"train": (X[:300] * 100 + 500, Y[:300]), "test": (X[300:] * 100 + 500, Y[300:])}
    of = build_subject(made, shifted["train"], shifted["test"], seed=0)
    trial = TrialRun(of.module, of.train, of.test, of.loss, Adam(0.01), BatchPlan(32), 150)
    clock = FakeClock(1e-3)
    findings = [Finding(network.DEAD_LAYER), Finding(data.COLUMN_SCALE, "", {"column": 1, "ratio": 1e3})]
    found = try_fixes(of, findings, trial, trial.run(seed=0), FixTrialBudget(clock() + 1e6, 1e-3, clock), seed=0)
    (both,) = found.proven_fixes
    assert both.fix == "initialize+standardize-inputs" and both.after > 0.8, both


def test_fixes_together_apply_the_first_change_of_each_to_the_result_of_the_one_before():
    def by(*rates):
        """A fix with one change for each rate, which multiplies the number of steps by it."""
        return lambda trial, finding, of: tuple(
            TrialChange(replace(trial, steps=trial.steps * rate), f"{finding.kind} {rate}", f"+ {rate}")
            for rate in rates
        )

    dead, large = Finding(network.DEAD_LAYER), Finding(training.TOO_LARGE_TO_LEARN, "", {"other": 0.3})
    fix = _together([(dead, Fix("one", by(2, 3))), (dead, Fix("none", by())), (large, Fix("two", by(5, 7)))])
    of = build_subject(net(), TRAIN, TEST, seed=0)
    trial = TrialRun(of.module, of.train, of.test, of.loss, Adam(), BatchPlan(32), 10)
    (change,) = fix.apply(trial, dead, of)
    assert fix.id == "one+none+two" and change.trial.steps == 10 * 2 * 5
    assert change.words == f"{dead.kind} 2 and {large.kind} 5" and change.diff == "+ 2\n+ 5"
    assert _together([(dead, Fix("none", by()))]).apply(trial, dead, of) == ()


def test_without_time_nothing_is_tried_and_the_reason_is_given():
    of = build_subject(dead(), TRAIN, TEST, seed=0)
    trial = TrialRun(of.module, of.train, of.test, of.loss, Adam(0.01), BatchPlan(32), 150)
    found = try_fixes(
        of, [Finding(network.DEAD_LAYER)], trial, trial.run(seed=0), FixTrialBudget(0.1, 1.0, FakeClock(1.0)), seed=0
    )
    assert not found.tried and found.untried == ("initialize: no time", "lower-rate: no time")


@pytest.mark.parametrize("after, unit, proven", [
    (-0.01, "explained variance", False), (0.01, "explained variance", True), (-0.01, "loss", True),
])  # fmt: skip
def test_a_network_that_explains_nothing_with_the_fix_proves_nothing(after, unit, proven):
    gain = Interval(0.3, 0.5, 0.95)
    one = TriedFix("underfit", "use-adam", "Adam", "", after - 0.4, after, gain, unit, 300, 100)
    assert one.is_proven is proven
