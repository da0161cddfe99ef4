"""No two cures pull apart, a cause silences its effects, and levels keep to the family's."""

import itertools
from dataclasses import replace

import pytest
import torch

from gnomon.checks.data.input_relation import input_relation
from gnomon.core.results import Finding
from gnomon.examination.consistency import OPPOSED, consistent, standing
from gnomon.examination.levels import FAMILY, LEVELS
from gnomon.report import Content, Section


def found(kind, severity=0.5):
    return Finding(kind, f"{kind}.", "Cure it.", severity)


def test_opposed_cures_never_stand_together():
    for one, other in OPPOSED:
        for a, b in itertools.product(one, other):
            kinds = {f.kind for f in standing((found(a, 0.6), found(b, 0.7)))}
            assert len(kinds) == 1


def test_a_cause_silences_its_effects():
    kept = standing((found("input-scale", 0.9), found("vanishing-gradients", 0.95), found("dead-units", 0.6)))
    assert [f.kind for f in kept] == ["input-scale"]
    assert [f.kind for f in standing((found("vanishing-gradients"),))] == ["vanishing-gradients"]


@pytest.mark.parametrize("cause", ["feature-scale", "input-scale", "target-scale"])
@pytest.mark.parametrize("effect", ["vanishing-gradients", "underfit", "training-diverged", "learning-rate-too-large"])
def test_unscaled_numbers_explain_vanishing_gradients_and_failed_training(cause, effect):
    """One cure is stated; the section that lost its finding keeps its mark."""
    found_in_data, found_later = found(cause, 0.91), found(effect, 0.95)
    assert standing((found_later, found_in_data)) == (found_in_data,)
    data = Section("columns", "Columns", "?", Content("A column drowns the others.", (found_in_data,)))
    later = Section("signal", "Signal", "?", Content(found_later.what, (found_later,)))
    columns, signal = consistent((data, later), learned=False)
    assert columns.findings == (found_in_data,) and signal.findings == ()
    assert signal.status == "fault" and signal.answer.endswith("What to do about it is said in another section.")


def test_a_cause_silences_no_consequence_of_a_higher_level():
    """Zeros in the last layer are a note; that nothing was learned stays a fault beside it."""
    assert len(standing((found("zero-weights", 0.2), found("not-learning", 0.56)))) == 2
    assert [f.kind for f in standing((found("zero-weights", 0.98), found("not-learning", 0.56)))] == ["zero-weights"]


def test_the_same_fault_in_two_sections_is_listed_once_and_marks_both():
    limit = replace(found("learning-rate-too-large", 0.85), where="optimizer")
    tried = replace(limit, severity=0.87, what="The loss rose.")
    sections = consistent(
        (Section("stability", "S", "?", Content(limit.what, (limit,))),
         Section("optimizer", "O", "?", Content(tried.what, (tried,)))), learned=False)  # fmt: skip
    assert [len(section.findings) for section in sections] == [0, 1]
    assert [section.status for section in sections] == ["fault", "fault"]


def test_a_refuted_finding_leaves_its_section_fine_and_says_why():
    small = found("learning-rate-small", 0.3)
    stability = Section("stability", "S", "?", Content(small.what, (small,)))
    tried = Section("optimizer", "O", "?", Content("No other does better."))
    section = consistent((stability, tried), learned=False)[0]
    assert section.status == "good" and section.answer.endswith("so there is no need to change it.")


def test_an_outcome_that_two_steps_find_is_told_once():
    assert [f.severity for f in standing((found("overfit", 0.3), found("overfit", 0.4)))] == [0.4]
    assert [f.severity for f in standing((found("dead-units", 0.6), found("dead-units", 0.7)))] == [0.7]
    elsewhere = replace(found("dead-units", 0.7), where="fc2")
    assert len(standing((found("dead-units", 0.6), elsewhere))) == 2


def test_labels_that_a_trained_network_tells_are_not_called_shuffled():
    section = Section("kernel", "Kernel", "?", Content("No.", (found("labels-unrelated", 0.9),)))
    assert consistent((section,), learned=False)[0].status == "fault"
    assert consistent((section,), learned=True)[0].status == "good"
    assert consistent((section,), learned=False, short=True)[0].status == "warning"  # training could not tell
    split = replace(section, key="split")  # where test showed the relation that train lacks, training has no say
    assert consistent((split,), learned=False, short=True)[0].status == "fault"


def test_the_levels_of_all_tests_add_up_to_that_of_the_family():
    assert 0 < sum(LEVELS.values()) <= FAMILY == 0.05


def test_inputs_tell_of_relations_that_no_line_sees_and_of_none_where_there_is_none():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(300, 4, generator=g)
    assert input_relation(x, (x[:, 0] * x[:, 1] > 0).long(), seed=0).related
    tokens = torch.randint(0, 20, (300, 8), generator=g)
    assert input_relation(tokens, (tokens == 3).any(1).long(), seed=0).related
    chance = [input_relation(x, torch.randint(2, (300,), generator=g), seed=s).related for s in range(4)]
    assert sum(chance) <= 1  # at 1 % each
    assert input_relation(torch.ones(30, 2), torch.arange(30) % 2, seed=0) is None
