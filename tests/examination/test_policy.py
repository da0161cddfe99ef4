"""The policy: one finding for one cause, no opposite fixes, no finding that a fact refutes; each rule from both sides."""

import itertools
from dataclasses import replace

import pytest
import torch
from torch import nn

from gnomon.core.results import Finding, FindingKind, Level
from gnomon.examination import STEPS
from gnomon.examination.policy import ExaminationFacts, findings_to_report, sections_to_report
from gnomon.findings import TABLE, data, groups, network, structured, training
from gnomon.report import PageContent, Section
from tests.examination.patients import examined


def kinds(*rows, facts=None):
    return [finding.kind for finding in findings_to_report([Finding(row) for row in rows], facts)]


def section(*findings, answer="An answer.", **declared):
    return Section("key", "Title", "?", PageContent(answer, findings, stated=findings), **declared)


def twelve_layers():
    torch.manual_seed(0)
    layers = [layer for i in range(12) for layer in (nn.Linear(32 if i else 20, 32), nn.Tanh())]
    net = nn.Sequential(*layers, nn.Linear(32, 2))
    for p in net.parameters():
        nn.init.normal_(p, std=0.01) if p.dim() > 1 else nn.init.zeros_(p)
    return net


@pytest.mark.parametrize("fit", [False, True])
def test_twelve_tanh_layers_with_small_weights_are_one_finding(fit):
    x = torch.randn(600, 20, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] + x[:, 1] > 0).long()
    train, test = (x[:400], y[:400]), (x[400:], y[400:])
    result = examined(twelve_layers, train, test, budget=10, fit=fit)
    assert [finding.kind for finding in result.findings] == ["vanishing-activations"], str(result)
    assert result.section("signal").status == result.section("kernel").status == "problem"  # its answer still says so


@pytest.mark.parametrize(
    "cause, effects",
    [
        (data.INPUT_SCALE, (network.VANISHING_GRADIENTS, network.DEAD_UNITS)),
        (data.COLUMN_SCALE, (data.INPUT_SCALE, training.TRAINING_DIVERGED, training.UNDERFIT)),
        (data.TARGET_SCALE, (training.TRAINING_DIVERGED, training.ABOVE_STABLE)),
        (network.VANISHING_GRADIENTS, (network.VANISHED_OUTPUTS, network.INDISTINCT_EXAMPLES, network.DEAD_UNITS)),
        (network.DEAD_LAYER, (network.VANISHING_ACTIVATIONS, training.NOT_LEARNING)),
        (network.STATISTICS_LOST, (network.DEAD_LAYER, network.VANISHING_ACTIVATIONS)),
        (network.NOT_REGISTERED, (network.EXAMPLES_MIXED, network.RANDOM_IN_EVAL, network.NOT_DETERMINISTIC)),
        (network.RANDOM_IN_EVAL, (network.INPUTS_IGNORED, network.MODES_DISAGREE)),
        (training.TOO_LARGE_TO_LEARN, (training.TRAINING_DIVERGED, training.EXPLODING_LOSS)),
        (training.WEIGHT_DECAY_WINS, (network.DEAD_LAYER, training.NOT_LEARNING)),
        (training.OVERFIT, (training.UNDERFIT, training.UNDERTRAINED, training.BELOW_LIMIT)),
        (training.NOT_LEARNING, (training.CHANCE_LEVEL,)),
        (network.SOFTMAX_BEFORE_LOSS, (training.UNDERFIT, training.CHANCE_LEVEL)),
    ],
)
def test_a_cause_suppresses_its_consequences_wherever_they_come_from(cause, effects):
    for order in (effects, effects[::-1]):
        assert kinds(*order, cause) == kinds(cause, *order) == [cause.id]
    for effect in effects:
        assert kinds(effect) == [effect.id]


def test_a_cause_suppresses_no_finding_of_a_higher_level():
    assert kinds(network.ZERO_LAST_LAYER, training.NOT_LEARNING) == ["zero-weights", "not-learning"]
    assert kinds(network.ZERO_WEIGHTS, training.NOT_LEARNING) == ["zero-weights"]


def test_findings_that_explain_each_other_leave_one():
    zeros = [Finding(network.ZERO_WEIGHTS, where, {"layer": "Linear"}) for where in ("fc1", "fc2", "fc3")]
    others = [
        Finding(network.VANISHED_OUTPUTS, "outputs"),
        Finding(training.NOT_LEARNING),
        Finding(training.CHANCE_LEVEL),
    ]
    for order in itertools.permutations([*zeros, *others]):
        kept = findings_to_report(order)
        assert [finding.kind for finding in kept] == ["zero-weights"]


def test_what_a_consequence_causes_is_left_out_with_it():
    last = FindingKind("last", Level.WARNING, "", "")
    middle = FindingKind("middle", Level.PROBLEM, "", "", causes=("last",))
    first = FindingKind("first", Level.PROBLEM, "", "", causes=("middle",))
    assert kinds(last, middle, first) == ["first"]


def test_findings_that_do_not_follow_from_each_other_are_both_reported():
    assert kinds(data.LEAKED_TEST, network.VANISHING_ACTIVATIONS) == ["leaked-test", "vanishing-activations"]
    assert kinds(data.TARGET_SCALE, data.COLUMN_SCALE) == ["target-scale", "feature-scale"]


def test_opposite_fixes_are_never_reported_together():
    fast = [row for row in TABLE if row.excludes]
    slow = [row for row in TABLE if any(row.id in other.excludes for other in TABLE)]
    assert len(fast) > 5 and len(slow) > 8
    for one, other in itertools.product(fast, slow):
        assert len(kinds(one, other)) == len(kinds(other, one)) == 1


def test_of_opposite_fixes_the_more_serious_finding_is_reported():
    assert kinds(training.LEARNING_RATE_SMALL, training.TRAINING_DIVERGED) == ["training-diverged"]
    assert kinds(training.ENDS_UNSTABLE, training.LEARNING_RATE_TOO_SMALL) == ["learning-rate-too-small"]


def test_one_kind_at_one_place_is_reported_once_and_an_outcome_once_at_all():
    one, other = Finding(network.DEAD_UNITS, "fc1"), Finding(network.DEAD_UNITS, "fc2")
    assert findings_to_report([one, replace(one), other]) == (one, other)
    whole = Finding(network.DEAD_LAYER, "fc1")
    assert findings_to_report([one, whole, other]) == (whole,)  # a dead layer explains dead units after it
    gap, rise = Finding(training.OVERFIT), Finding(training.TEST_LOSS_ROSE, "optimizer")
    assert findings_to_report([rise, gap]) == (gap,)


@pytest.mark.parametrize(
    "row, fact",
    [(data.LABELS_UNRELATED, "labels_related"), (data.NO_RELATION_SEEN, "labels_related"),
     (training.FAR_BELOW_STABLE, "learning_rates_tried")],
)  # fmt: skip
def test_a_fact_refutes_a_finding_and_the_section_says_why(row, fact):
    assert kinds(row) == [row.id] and kinds(row, facts=ExaminationFacts(**{fact: True})) == []
    before, after = (
        sections_to_report((section(Finding(row)),), ExaminationFacts(**{fact: on}))[0] for on in (False, True)
    )
    assert before.status != "good" and after.status == "good" and len(after.answer) > len(before.answer)


def test_targets_of_train_that_do_not_match_are_not_refuted_by_training():
    assert kinds(data.SHUFFLED_IN_TRAIN, facts=ExaminationFacts(labels_related=True, training_wanted=True)) == [
        "labels-unrelated"
    ]
    assert (
        findings_to_report([Finding(data.SHUFFLED_IN_TRAIN)], ExaminationFacts(training_wanted=True))[0].level
        is Level.PROBLEM
    )


@pytest.mark.parametrize(
    "row, facts",
    [(network.DEAD_UNITS, ExaminationFacts(does_well=True)), (network.DEAD_AFTER_TRAINING, ExaminationFacts(fits=True)),
     (structured.OVERSMOOTHED, ExaminationFacts(loss_fell=True)), (data.LABELS_UNRELATED, ExaminationFacts(training_wanted=True)),
     (structured.MEMORY_TOO_SHORT, ExaminationFacts())],
)  # fmt: skip
def test_a_fact_makes_a_problem_a_warning(row, facts):
    assert [finding.level for finding in findings_to_report([Finding(row)], facts)] == [Level.WARNING]
    otherwise = ExaminationFacts(trained_enough=True, training_wanted=True)
    assert [finding.level for finding in findings_to_report([Finding(row)], otherwise)] == [Level.PROBLEM]


@pytest.mark.parametrize("row", [row for row in TABLE if row.level is Level.PROBLEM], ids=lambda row: row.id)
def test_good_results_leave_no_problem_that_contradicts_them(row):
    contradicts = row.id in groups.CONTRADICTED_BY_RESULTS
    left = findings_to_report([Finding(row)], ExaminationFacts(good_results=True, trained_enough=True))
    if row.refuted_if == "good_results":  # a reason for poor results, of which there are none
        assert left == ()
        return
    (found,) = left
    if row.milder_if == "good_results":
        assert found.row is row.milder and found.level < Level.PROBLEM
        return
    assert found.level is (Level.WARNING if contradicts else Level.PROBLEM)
    assert found.row.message.startswith(row.message) or found.row is row.milder
    (otherwise,) = findings_to_report([Finding(row)], ExaminationFacts(trained_enough=True))
    assert otherwise.level is Level.PROBLEM


def test_results_that_are_good_do_not_excuse_what_makes_them_doubtful():
    for row in (data.LEAKED_TEST, network.EXAMPLES_MIXED, structured.SEES_THE_FUTURE, network.INPUTS_IGNORED):
        assert row.id not in groups.CONTRADICTED_BY_RESULTS


def test_a_whole_dead_layer_stays_a_problem_in_a_network_that_does_well():
    for row in (network.DEAD_LAYER, network.CONSTANT_LAYER):
        assert findings_to_report([Finding(row)], ExaminationFacts(does_well=True))[0].level is Level.PROBLEM


def test_a_finding_in_doubt_suppresses_nothing():
    assert kinds(data.LABELS_UNRELATED, training.UNDERFIT) == ["labels-unrelated"]
    short = ExaminationFacts(training_wanted=True)
    assert kinds(data.LABELS_UNRELATED, training.UNDERFIT, facts=short) == ["labels-unrelated", "underfit"]


def test_a_suppressed_finding_still_marks_its_section():
    cause, effect = Finding(data.COLUMN_SCALE, "inputs"), Finding(training.UNDERFIT, "", {"train": 0.5, "simple": 0.9})
    first, second = sections_to_report((section(cause), section(effect)), ExaminationFacts())
    assert first.findings == (cause,) and second.findings == () and second.stated_elsewhere == (effect,)
    assert second.status == "warning" and second.answer.endswith("Another finding of this report contains the fix.")
    unsaid = Section("key", "Title", "?", PageContent("Another answer.", (effect,)))
    assert sections_to_report((section(cause), unsaid), ExaminationFacts())[1].answer == "Another answer."


@pytest.mark.parametrize(
    "row, rests_on, unsure",
    [(training.UNTRAINED, "decisions", True), (training.UNTRAINED, "training", False),
     (training.CHANCE_LEVEL, "decisions", True), (training.CHANCE_LEVEL, "training", True),
     (data.TOO_FEW_EXAMPLES, "examples", True), (data.TOO_FEW_EXAMPLES, "", False),
     (network.BROADCAST_LOSS, "prediction", True), (data.LEAKED_TEST, "prediction", False),
     (data.NO_RELATION_SEEN, "prediction", False)],
)  # fmt: skip
def test_an_answer_that_rests_on_something_unreliable_cannot_tell(row, rests_on, unsure):
    resting = section(rests_on=(rests_on,))
    assert sections_to_report((resting,), ExaminationFacts())[0].status == "good"
    values = {"score": "", "examples": 3, "least": 16}
    marked = sections_to_report((resting, section(Finding(row, "", values), answer="Found.")), ExaminationFacts())[0]
    assert marked.status == ("unsure" if unsure else "good")


def test_every_fact_is_stated_by_a_step_and_steps_state_no_other():
    stated = {name for step in STEPS for name in step.states}
    fields = {name for name in ExaminationFacts.__dataclass_fields__ if name != "training_wanted"}
    assert stated == fields


def test_kinds_that_are_not_in_the_table_are_reconciled_like_others():
    own = FindingKind("own", Level.PROBLEM, "It is own.", "Keep it.", causes=("underfit",))
    assert kinds(own, training.UNDERFIT) == ["own"]
