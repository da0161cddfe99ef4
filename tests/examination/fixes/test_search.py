"""The search for a repair names planted causes, and finds nothing in a network that learns what can be learned."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Finding, Interval, Level
from gnomon.examination.fixes.candidates import RepairCandidate, candidates
from gnomon.examination.fixes.fix import TrialChange
from gnomon.examination.fixes.positions import PositionLoss, class_axis, share_correct
from gnomon.examination.fixes.prove import FixTrialBudget
from gnomon.examination.fixes.repairs import guess_score, has_poor_results, repair_findings
from gnomon.examination.fixes.score import HeldOutScores
from gnomon.examination.fixes.search import Repairs, _sort_by_gain, _Tested, search_repairs
from gnomon.examination.fixes.table import FIXES
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.fixes.tried import TriedFix
from gnomon.examination.subject import build_subject
from gnomon.findings import repairs
from gnomon.training import SGD, Adam
from gnomon.training.plan import BatchPlan

GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(500, 6, generator=GENERATOR)
Y = (X[:, 0] * X[:, 1] > 0).long()
ASKED = Finding(repairs.REPAIR_FOUND, "", {"cause": "", "gain": "", "advice": ""})


def net(first=None, last=None):
    torch.manual_seed(0)
    layers = [first, nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2), last]
    return nn.Sequential(*(layer for layer in layers if layer is not None))


def planted(module, x=X, y=Y, *, optimizer=None, steps=200, loss=None, test=None, batch=32):
    of = build_subject(module, (x[:300], y[:300]), test or (x[300:], y[300:]), seed=0)
    return of, TrialRun(of.module, of.train, of.test, loss or of.loss, optimizer or Adam(0.01), BatchPlan(batch), steps)


def apply(id, trial, of):
    return FIXES[id].apply(trial, ASKED, of)


class Divided(nn.Module):
    """Divides scores by 100, as a temperature would."""

    def forward(self, x):
        return x / 100


PLANTED = [
    (net(first=nn.ReLU()), {}, {"leave-out"}),
    (net(last=Divided()), {"optimizer": SGD(0.1)}, {"leave-out"}),
    (net(), {"optimizer": SGD(1e-5)}, {"higher-rate", "use-adam"}),
    (net(), {"optimizer": SGD(300.0)}, {"lower-rate", "use-adam"}),
]
FEW = ("leave-out", "use-adam", "higher-rate", "lower-rate", "initialize")


@pytest.mark.full
@pytest.mark.parametrize("module, options, ids", PLANTED, ids=["relu", "divided", "slow", "diverged"])
def test_the_search_names_a_planted_cause(module, options, ids, monkeypatch):
    monkeypatch.setattr("gnomon.examination.fixes.candidates.ORDER", FEW)
    of, trial = planted(module, **options)
    clock = FakeClock(1e-3)
    found = search_repairs(of, ASKED, trial, trial.run(seed=0), FixTrialBudget(clock() + 1e6, 1e-3, clock), seed=0)
    assert found.best is not None and found.best.fix in ids, [(one.fix, one.after) for one in found.tried]


@pytest.mark.full
def test_no_repair_of_a_network_that_cannot_learn_more(monkeypatch):
    """Labels with 25 % of noise: no change may look like a repair, for any of three draws."""
    monkeypatch.setattr("gnomon.examination.fixes.candidates.ORDER", FEW)
    for seed in range(3):
        g = torch.Generator().manual_seed(seed)
        y = torch.where(torch.rand(500, generator=g) < 0.25, 1 - (X[:, 0] > 0).long(), (X[:, 0] > 0).long())
        of, trial = planted(net(), y=y, steps=120)
        run, clock = trial.run(seed=seed), FakeClock(1e-3)
        found = search_repairs(of, ASKED, trial, run, FixTrialBudget(clock() + 1e6, 1e-3, clock), seed=seed)
        best = None if found.best is None else repair_findings(found.best, (), guess=0.5)
        assert not best, found.tried[0]


def test_operations_without_parameters_are_left_out_one_by_one():
    class Net(nn.Module):
        """Clamps its inputs, and ends in an absolute value."""

        def __init__(self):
            super().__init__()
            self.body = net()

        def forward(self, x):
            return self.body(x.clamp(-1, 1)).abs()

    module = Net()
    of, trial = planted(module)
    changes = apply("leave-out", trial, of)
    assert [one.words for one in changes] == [
        "without 'abs' after the last layer", "without 'clamp(-1, 1)' before the first layer",
    ]  # fmt: skip
    assert torch.equal(changes[0].trial.module(X), module.body(X.clamp(-1, 1)))
    assert torch.equal(changes[1].trial.module(X), module.body(X).abs())


def test_learned_operands_and_activations_between_layers_stay():
    class Scaled(nn.Module):
        """Adds a learned vector and multiplies by a buffer."""

        def __init__(self):
            super().__init__()
            self.shift = nn.Parameter(torch.ones(6))
            self.register_buffer("scale", torch.full((6,), 2.0))
            self.body = net()

        def forward(self, x):
            return self.body((x + self.shift) * self.scale)

    of, trial = planted(Scaled())
    words = [one.words for one in apply("leave-out", trial, of)]
    assert len(words) == 1 and "*" in words[0]  # neither "+" nor ReLU


def test_a_saturated_softmax_gets_softer_scores_and_another_one_does_not():
    class Attention(nn.Module):
        """Weights the inputs by a softmax of scores."""

        def __init__(self, size):
            super().__init__()
            self.size, self.body = size, net()

        def forward(self, x):
            return self.body(x * (self.size * x).softmax(1))

    of, trial = planted(Attention(50.0))
    (change,) = apply("sharpness-of-softmax", trial, of)
    assert float((50 * X).std()) == pytest.approx(float(change.words.split()[3]), rel=0.3)
    of, trial = planted(Attention(1.0))
    assert apply("sharpness-of-softmax", trial, of) == ()


def test_test_inputs_are_changed_without_training():
    scaled = X * torch.tensor([1.0, 3.0, 9.0, 27.0, 81.0, 243.0])
    of, trial = planted(net(), x=scaled, test=(scaled[300:].flip(1), Y[300:]))
    changes = apply("test-inputs", trial, of)
    assert not any(one.trains for one in changes)
    order = next(one for one in changes if "x[:, " in one.words)
    assert torch.equal(order.trial.test.whole().x, scaled[300:])
    images = torch.rand(60, 1, 4, 4)
    torch.manual_seed(0)
    of, trial = planted(nn.Sequential(nn.Flatten(), nn.Linear(16, 2)), x=torch.cat([images] * 10)[:500])
    assert {"test inputs changed to x.transpose(2, 3)", "test inputs changed to x.rot90(1, (2, 3))"} <= {
        one.words for one in apply("test-inputs", trial, of)
    }


def test_the_usual_loss_of_positions_finds_the_axis_of_the_classes():
    assert class_axis((5, 12, 32), (5, 32), largest=11) == 1 and class_axis((5, 32, 32), (5, 32), largest=3) == 2
    assert class_axis((5, 4, 32), (5, 32), largest=11) is None
    scores, y = torch.randn(4, 7, 3), torch.randint(3, (4, 7))
    assert torch.allclose(PositionLoss(3)(scores, y), F.cross_entropy(scores.flatten(0, 1), y.flatten()))
    right = (scores.argmax(2) == y).double().mean(1)
    assert torch.equal(share_correct(scores, y), right) and share_correct(scores[..., 0], y) is None


def test_a_narrow_layer_gets_more_units_and_blocks_get_residual_connections():
    narrow = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2), nn.ReLU(), nn.Linear(2, 16), nn.Linear(16, 2))
    of, trial = planted(narrow)
    (change,) = apply("widen", trial, of)
    assert [part.out_features for part in change.trial.module if isinstance(part, nn.Linear)] == [16, 64, 16, 2]
    assert change.trial.module(X).shape == (500, 2)
    deep = nn.Sequential(nn.Linear(6, 6), nn.Sequential(*(nn.Linear(6, 6) for _ in range(3))), nn.Linear(6, 2))
    of, trial = planted(deep)
    (change,) = apply("add-residuals", trial, of)
    h = deep[0](X)
    for block in deep[1]:
        h = h + block(h)
    assert torch.allclose(change.trial.module(X), deep[2](h))
    of, trial = planted(net())
    assert apply("widen", trial, of) == () == apply("add-residuals", trial, of) == apply("float32-weights", trial, of)


def test_large_batches_become_smaller_and_momentum_usual():
    of, trial = planted(net(), batch=300, optimizer=SGD(0.1, momentum=0.999), steps=20)
    (change,) = apply("smaller-batch", trial, of)
    assert change.trial.batches.size == 32 and change.trial.steps == 20 * 300 // 32
    (change,) = apply("usual-sgd-momentum", trial, of)
    assert change.trial.optimizer.momentum == 0.9 and change.trial.optimizer.lr == 0.1
    assert apply("smaller-batch", replace(trial, batches=BatchPlan(64)), of) == ()


def test_candidates_that_need_a_condition_are_listed_only_then():
    of, trial = planted(net())
    listed = {one.fix for one in candidates(of, ASKED, trial)}
    assert not listed & {"unfreeze", "all-parameters", "connect", "remove-hooks", "no-augmentation", "constant-rate",
                         "usual-loss", "add-activations", "add-biases", "standardize-inputs"}  # fmt: skip
    assert {"use-adam"} & listed == set() and {"higher-rate", "lower-rate", "initialize", "longer-training"} <= listed
    frozen = net()
    frozen[0].requires_grad_(False)
    of, trial = planted(frozen, x=10 * X + 3)
    assert {"unfreeze", "standardize-inputs"} <= {one.fix for one in candidates(of, ASKED, trial)}


def scored(rank, fix, scores):
    values = torch.tensor(scores)
    change = TrialChange(None, fix, "")
    run = SimpleNamespace(steps=torch.tensor([10]))
    return _Tested(
        RepairCandidate(rank, fix, change), None, run, HeldOutScores(values, "accuracy"), float(values[0::2].mean())
    )


def test_the_half_that_chooses_does_not_state_the_gain(monkeypatch):
    base = HeldOutScores(torch.zeros(8), "accuracy")
    monkeypatch.setattr("gnomon.examination.fixes.search._score", lambda *_: base)
    lucky = scored(3, "lucky", [1.0, 0.0] * 4)
    real = scored(5, "real", [0.99, 1.0] * 4)
    found = _sort_by_gain(None, ASKED, None, None, [real, lucky], 0)
    assert isinstance(found, Repairs) and found.equal == 2
    assert [(one.fix, one.after) for one in found.tried] == [("lucky", 0.0), ("real", 1.0)]
    assert found.best is None


@pytest.mark.parametrize(
    "before, after, guess, level",
    [
        (0.3, 0.85, 0.1, Level.PROBLEM), (0.6, 0.72, 0.1, None), (0.85, 0.93, 0.1, Level.WARNING),
        (0.9, 0.95, 0.75, Level.PROBLEM), (0.95, 0.975, 0.1, None),
    ],
)  # fmt: skip
def test_a_repair_is_reported_if_it_removes_many_errors(before, after, guess, level):
    gain = Interval(after - before - 0.01, after - before + 0.01, 0.95)
    one = TriedFix("repair-found", "use-adam", "Adam", "", before, after, gain, "accuracy", 500, 400)
    found = repair_findings(one, (replace(one, fix="higher-rate", words="lr=1"),), guess=guess)
    assert [finding.level for finding in found] == ([] if level is None else [level])
    if found:
        assert found[0].message.startswith("The optimizer does not suit this network. With Adam:")
        assert found[0].fix == "Train with Adam. Equally good: lr=1."


@pytest.mark.parametrize(
    "fix, steps, explained, level",
    [
        ("lower-rate", 100, False, Level.PROBLEM), ("lower-rate", 99, False, Level.WARNING),
        ("lower-rate", 100, True, Level.WARNING), ("usual-loss", 99, True, Level.PROBLEM),
    ],
)  # fmt: skip
def test_a_general_change_is_no_problem_after_few_steps_or_if_a_problem_is_known(fix, steps, explained, level):
    gain = Interval(0.5, 0.6, 0.95)
    one = TriedFix("repair-found", fix, "a change", "", 0.3, 0.85, gain, "accuracy", steps, steps)
    (found,) = repair_findings(one, (), guess=0.1, explained=explained)
    assert found.level is level


def test_results_are_poor_compared_with_a_guess():
    y = (torch.arange(500) % 10 == 0).long()
    of, trial = planted(net(), y=y)
    with torch.no_grad():
        of.module[2].weight.zero_()
        of.module[2].bias.copy_(torch.tensor([1.0, 0.0]))
    run = replace(trial, steps=0).run(seed=0)
    assert guess_score(of, "accuracy") == pytest.approx(0.9) and guess_score(of, "explained variance") == 0.0
    assert has_poor_results(of, trial, run, seed=0)
