"""What further cases of practice showed: each fault is named, and its healthy twin is not accused."""

import random
from dataclasses import replace

import pytest
import torch
from torch import nn

import gnomon
from gnomon.checks import signal_propagation, suspect_labels
from gnomon.checks.network.chance import randomness_findings
from gnomon.checks.network.normalization import normalization_findings
from gnomon.checks.run.outcome import AccuracyOutcome, outcome_findings
from gnomon.checks.run.step_size import learning_rate_findings
from gnomon.core.results import Level
from gnomon.examination.steps.columns import DataChecks
from gnomon.examination.steps.outcome import _alike

G = torch.Generator().manual_seed(0)
X = torch.randn(64, 6, generator=G)


def kinds(findings):
    return [finding.kind for finding in findings]


class Draws(nn.Module):
    """Looks at a place that Python draws: nine times of ten the same one."""

    def forward(self, x):
        return x.roll(int(random.random() < 0.1), 1)


def test_a_draw_that_is_mostly_the_same_is_seen():
    """In two passes it differs in 18 of 100 cases, in six in 47."""
    random.seed(0)
    hits = 0
    for _ in range(60):
        hits += kinds(randomness_findings(Draws(), X)) == ["not-deterministic"]
        random.random()
    assert 0.25 < hits / 60 < 0.7
    assert randomness_findings(nn.Linear(6, 2), X) == ()


def normed(*, trained=False):
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    if trained:
        rule = torch.optim.Adam(net.parameters(), 1e-2)
        for _ in range(30):
            rule.zero_grad()
            nn.functional.cross_entropy(net(X), (X[:, 0] > 0).long()).backward()
            rule.step()
    return net


def test_batch_norm_that_has_lost_its_statistics():
    y, loss = (X[:, 0] > 0).long(), nn.functional.cross_entropy
    net = normed(trained=True)
    assert normalization_findings(net, X, y, loss) == ()
    seen = int(net[1].num_batches_tracked)
    net[1].reset_running_stats()
    net[1].num_batches_tracked.fill_(seen)
    assert kinds(normalization_findings(net, X, y, loss)) == ["batch-norm-statistics"]
    assert normalization_findings(normed(), X, y, loss) == ()  # new, and not lost
    drawn = normed()
    nn.init.normal_(drawn[1].weight, 1.0, 0.02)
    nn.init.normal_(drawn[1].bias, 0.0, 0.02)
    assert normalization_findings(drawn, X, y, loss) == ()  # new, of weights that are drawn


def test_a_rate_at_which_the_loss_rises_and_a_smaller_one_at_which_it_does_not():
    falls = {1.0: -0.3, 0.1: 0.02, 0.01: 0.01}
    assert kinds(learning_rate_findings(falls, start=1.0, lr=0.3, steps=12, fall_in_whole_run=-0.4)) == [
        "learning-rate-too-large"
    ]
    assert (
        learning_rate_findings(falls, start=1.0, lr=0.3, steps=12, fall_in_whole_run=0.5) == ()
    )  # it only began badly
    assert learning_rate_findings(falls, start=1.0, lr=0.3, steps=12) == ()  # too short to say without a whole run
    assert learning_rate_findings({1.0: -0.3, 0.1: -0.2}, start=1.0, lr=0.3, steps=12, fall_in_whole_run=-0.4) == ()


def test_training_that_hardly_beats_a_guess_is_told_and_a_hard_problem_is_not():
    low = AccuracyOutcome(0.26, 0.21, 1000, 500, guess=0.205, simple=0.28)
    assert kinds(outcome_findings(low)) == ["not-learning"] and outcome_findings(low)[0].level is Level.WARNING
    assert outcome_findings(replace(low, train=0.5, test=0.48)) == ()
    assert outcome_findings(AccuracyOutcome(0.96, 0.95, 1000, 500, guess=0.94, simple=0.96)) == ()


def test_a_gap_that_the_shares_of_classes_explain_is_no_overfitting():
    train = torch.tensor([0] * 98 + [1] * 2)
    y = torch.tensor([0] * 80 + [1] * 20)
    right = (y == 0).double()  # it always says 0
    alike = _alike(right, y, train)
    assert alike == pytest.approx(0.98)
    told = AccuracyOutcome(0.98, 0.8, 1000, 1000, guess=0.98, alike=alike)
    assert outcome_findings(told) == () and kinds(outcome_findings(replace(told, alike=0.8))) == ["overfit"]


def backbone(*, frozen):
    net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
    with torch.no_grad():
        net[0].bias[:24] = -50.0
    net[0].requires_grad_(not frozen)
    return net


def test_dead_units_behind_frozen_layers_are_a_warning():
    for frozen in (False, True):
        dead = next(f for f in signal_propagation(backbone(frozen=frozen), X).findings if f.kind == "dead-units")
        assert (dead.level is Level.PROBLEM) is not frozen and ("frozen" in dead.message) is frozen


def test_a_simple_model_that_predicts_labels_shows_that_they_are_related():
    assert DataChecks(0.2, 0.28, 2000).related and not DataChecks(0.2, 0.22, 1000).related
    assert not DataChecks(0.2, None).related


def test_shapes_that_pixels_do_not_tell_are_a_hint_and_no_fault():
    """Where two dots are, not which pixels they are: votes by pixels see nothing, and labels are right all the same."""
    g = torch.Generator().manual_seed(0)
    x, y = 0.5 * torch.randn(1200, 24, 24, generator=g), torch.randint(0, 2, (1200,), generator=g)
    i, j = (torch.randint(0, 24, (1200,), generator=g) for _ in range(2))
    rows = torch.arange(1200)
    x[rows, i, j] = x[rows, (i + 4 - 4 * y) % 24, (j + 4 * y) % 24] = 3.0
    found = suspect_labels((x, y)).findings
    assert kinds(found) == ["labels-unrelated"] and found[0].level is Level.WARNING


@pytest.mark.parametrize(("names", "found"), [(["a", "b"], "2 names"), ("abcd", "the text 'abcd'")])
def test_names_that_are_not_one_for_each_column_are_refused(names, found):
    x = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
    with pytest.raises(gnomon.InputError, match=f"columns is {found}, and an example has 4 numbers"):
        gnomon.examine(nn.Linear(4, 2), (x, (x[:, 0] > 0).long()), columns=names, budget=1)
