"""Numbers of the instruments on sequences, computed again with numpy on cases where a wrong formula shows."""

from math import exp, inf, log

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.sequences.memory import MemoryLength


@pytest.mark.parametrize(
    ("length", "asked", "reach"), [(2.0, 12, True), (2.0, 14, False), (inf, 1000, True), (inf, 3, True)]
)
def test_memory_beyond_the_sequence_is_continued_by_its_fit(length, asked, reach):
    """From 1/e at lag 2 the fit exp(-lag / 2) falls below 1e-3 of the largest between lags 13 and 14."""
    found = MemoryLength((1.0, exp(-0.5), exp(-1.0)), length, asked)
    assert found._at(1) == exp(-0.5)
    if length < inf:
        assert found._at(asked) == pytest.approx(exp(-asked / 2))
    assert (not found.findings) == reach


def test_the_length_of_memory_is_a_fit_from_the_largest_sensitivity_on():
    class Weighted(nn.Module):
        def forward(self, x):
            return sum(w * x[:, -1 - k] for k, w in enumerate(weights))

    weights = (0.5, 2.0, 0.9, 0.7, 0.1, 0.08)
    found = sequences.memory_length(Weighted(), torch.randn(3, 6, 1).double())
    ratios = np.array(found.sensitivity) / found.sensitivity[0]
    np.testing.assert_allclose(ratios, np.array(weights) / 0.5)
    slope = np.polyfit(np.arange(1, 6), np.log(weights[1:]), 1)[0]
    assert found.length == pytest.approx(-1 / slope)
    assert MemoryLength((1.0, 2.0, 1.9e-3, 2.1e-3, 1.9e-3), 1.0).reach == 3


class Fixed(nn.Module):
    def __init__(self, matrix):
        super().__init__()
        self.matrix = matrix

    def forward(self, x):
        return torch.einsum("st,ntc->nsc", self.matrix, x)


def test_difference_and_rank_of_tokens_are_their_definitions():
    torch.manual_seed(0)
    x, mix = torch.randn(4, 5, 3).double(), torch.rand(5, 5).double()
    found = sequences.rank_collapse(nn.Sequential(Fixed(mix)), x)
    for tokens, difference, rank in zip(
        (x, torch.einsum("st,ntc->nsc", mix, x)), found.difference, found.rank, strict=True
    ):
        t = tokens.numpy()
        assert difference == pytest.approx(np.linalg.norm(t - t.mean(1, keepdims=True)) / np.linalg.norm(t))
        shares = [s**2 / (s**2).sum() for s in np.linalg.svd(t, compute_uv=False)]
        assert rank == pytest.approx(np.mean([np.exp(-(p * np.log(p)).sum()) for p in shares]))
    # orthogonal tokens of one size fill as many directions as there are
    eye = torch.eye(3).double().expand(2, 3, 3)
    assert sequences.rank_collapse(nn.Sequential(Fixed(torch.eye(3).double())), eye).rank == pytest.approx((3.0, 3.0))


def test_the_half_life_in_the_verdict_is_that_of_the_fit():
    assert f"halves every {3 * log(2):.3g} steps" in MemoryLength((1.0, 0.7), 3.0).verdict
