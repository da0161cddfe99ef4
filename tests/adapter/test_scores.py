"""Scores over several batches, compared with one computation on all examples."""

from math import isnan, log

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from gnomon.adapter import read_output_meaning
from gnomon.adapter.scores import EXAMPLES_AT_ONCE, DecisionScore, score_decisions

CLASSES, POSITIONS = 3, 4


def test_a_score_over_batches_weighs_each_label_once():
    n = 2 * EXAMPLES_AT_ONCE + 5
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, CLASSES * POSITIONS, generator=g)
    y = torch.randint(0, CLASSES, (n, POSITIONS), generator=g)
    y[:40, 1:] = -100  # batches have different numbers of labels
    net = nn.Unflatten(1, (POSITIONS, CLASSES))
    found = score_decisions(net, x, y, read_output_meaning(net(x), y))
    flat, labels = net(x).double().reshape(-1, CLASSES), y.flatten()
    counted = labels != -100
    assert found.loss == pytest.approx(float(F.cross_entropy(flat, labels)), rel=1e-12)
    assert found.decisions == int(counted.sum())
    assert found.right == int((flat.argmax(1) == labels)[counted].sum())
    assert found.accuracy == found.right / found.decisions


def test_a_batch_without_labels_does_not_count():
    n = 2 * EXAMPLES_AT_ONCE
    x = torch.zeros(n, CLASSES * POSITIONS)
    y = torch.zeros(n, POSITIONS, dtype=torch.long)
    y[:EXAMPLES_AT_ONCE] = -100
    net = nn.Unflatten(1, (POSITIONS, CLASSES))
    reading = read_output_meaning(net(x), y)
    assert score_decisions(net, x, y, reading).loss == pytest.approx(log(3), rel=1e-12)
    nothing = score_decisions(net, x, torch.full_like(y, -100), reading)
    assert isnan(nothing.loss)
    assert (nothing.right, nothing.decisions, nothing.accuracy) == (0, 0, 0.0)


def test_perplexity_and_bits_of_a_known_loss():
    found = DecisionScore(loss=3 * log(2), right=1, decisions=4, unit="token")
    assert found.perplexity == pytest.approx(8)
    assert found.bits == pytest.approx(3)
    assert [value.value for value in found.values("test")] == pytest.approx([0.25, 8, 3])
    assert DecisionScore(loss=1e4, right=0, decisions=1, unit="token").perplexity < float("inf")
    assert len(DecisionScore(loss=1.0, right=0, decisions=1, unit="pixel").values("test")) == 1
