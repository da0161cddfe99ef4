"""No two cures pull apart, a cause silences its effects, and levels keep to the family's."""

import itertools
from dataclasses import replace

import torch

from gnomon.core.results import Finding
from gnomon.examination.consistency import OPPOSED, consistent, standing
from gnomon.examination.input_relation import input_relation
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
