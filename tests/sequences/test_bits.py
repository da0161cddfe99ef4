"""Bits per character, counted by hand on two unequal batches."""

from math import exp, log2

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.core.errors import InputError
from gnomon.sequences.bits import BitsPerCharacter


class Table(nn.Module):
    def __init__(self, logits):
        super().__init__()
        self.logits = nn.Parameter(logits)

    def forward(self, x):
        return self.logits[x]


LOGITS = torch.tensor([[0.0, 1.0, 2.0], [0.5, 0.0, -1.0], [3.0, 0.0, 1.0]])


def entropy(pairs):
    _, counts = np.unique(np.array(pairs), axis=0, return_counts=True)
    p = counts / counts.sum()
    return -(p * np.log2(p)).sum()


def test_bits_and_both_baselines_over_batches_are_those_counted_by_hand():
    batches = [torch.tensor([[0, 1, 2, 2, 0, 1], [1, 1, 0, 2, 2, 2]]), torch.tensor([[2, 0, 0, 1, 2, 1]])]
    found = sequences.bits_per_character(Table(LOGITS), iter([{"x": b} for b in batches]))
    pairs = [(int(a), int(b)) for batch in batches for row in batch for a, b in zip(row[:-1], row[1:], strict=True)]
    weights = LOGITS.double().exp()
    bits = [-log2(float(weights[a, b] / weights[a].sum())) for a, b in pairs]
    assert found.characters == 15 and found.bits == pytest.approx(np.mean(bits), rel=1e-12)
    assert found.counts == pytest.approx(entropy([[b] for _, b in pairs]), rel=1e-12)
    assert found.pairs == pytest.approx(entropy(pairs) - entropy([[a] for a, _ in pairs]), rel=1e-12)
    assert found.perplexity == pytest.approx(exp(np.mean(bits) * np.log(2)), rel=1e-12)


def test_a_character_without_a_logit_is_refused():
    with pytest.raises(InputError, match="logits"):
        sequences.bits_per_character(Table(LOGITS[[0, 1, 2, 0], :]), torch.tensor([[0, 3, 1]]))
    two = torch.tensor([[0, 2]])
    assert sequences.bits_per_character(Table(LOGITS), two).bits == pytest.approx(log2((1 + exp(1) + exp(2)) / exp(2)))
    with pytest.raises(InputError, match="times >= 2"):
        sequences.bits_per_character(Table(LOGITS), torch.tensor([[0], [1]]))


def test_needing_more_bits_than_counts_is_a_finding():
    assert BitsPerCharacter(2.0, 2.0, 1.0, 50).findings == ()
    (found,) = BitsPerCharacter(2.1, 2.0, 1.0, 50).findings
    assert (found.level.name, found.false_alarm, [v.value for v in found.evidence]) == ("PROBLEM", 0.0, [2.1, 2.0])
