"""A rare class that is never predicted is lost; one that is found, or one of many, is not."""

import torch

from gnomon.checks.run.rare_classes import rare_class_findings

LABELS = torch.tensor([0] * 900 + [1] * 60 + [2] * 40)


def test_the_largest_lost_class_is_named_with_its_recall():
    answers = torch.where((LABELS == 1) & (torch.arange(1000) % 12 == 0), 1, 0)
    (found,) = rare_class_findings(LABELS, answers, unit="pixels")
    assert found.values == {"label": 1, "recall": 5 / 60, "count": 60, "unit": "pixels", "share": 0.06}


def test_found_classes_few_examples_poor_networks_and_many_classes_raise_no_alarm():
    half = torch.where(torch.arange(1000) % 2 == 0, LABELS, 0)
    assert rare_class_findings(LABELS, half, unit="pixels") == ()
    few = LABELS[:925]
    assert rare_class_findings(few, torch.zeros_like(few), unit="pixels") == ()  # 25 examples
    assert rare_class_findings(LABELS, torch.full_like(LABELS, 2), unit="pixels") == ()  # right on 4 %
    many = torch.cat((torch.zeros(9000).long(), torch.arange(1, 21).repeat(40)))
    assert rare_class_findings(many, torch.zeros_like(many), unit="pixels") == ()
