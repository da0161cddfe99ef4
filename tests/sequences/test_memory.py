"""Memory: sensitivity of a linear network with several outputs, and the limits of its fit."""

from math import inf, log

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.core.modules.preserve import random_state
from gnomon.sequences.memory import MemoryLength, _length


def test_sensitivity_is_the_root_of_the_mean_square_of_gradients_along_four_directions():
    torch.manual_seed(0)
    weights, x = torch.randn(5, 3, 2).double(), torch.randn(4, 5, 3).double()

    class Mixed(nn.Module):
        def forward(self, x):
            return torch.einsum("tfo,ntf->no", weights, x)

    found = sequences.memory_length(Mixed(), x)
    with random_state(0):
        directions = [torch.randn(4, 2, dtype=torch.float64).numpy() for _ in range(4)]
    squares = [(np.einsum("tfo,no->ntf", weights.numpy(), d) ** 2).sum(2).mean(0) for d in directions]
    np.testing.assert_allclose(found.sensitivity, np.sqrt(np.mean(squares, 0))[::-1], rtol=1e-10)


def test_the_last_of_all_outputs_is_used():
    class Running(nn.Module):
        def forward(self, x):
            return (0.5 ** torch.arange(6.0).flip(0)[:, None] * x).cumsum(1)

    x = torch.randn(2, 6, 1)
    curve = np.array(sequences.memory_length(Running(), x).sensitivity)
    np.testing.assert_allclose(curve / curve[0], 0.5 ** np.arange(6), rtol=1e-6)


def test_a_network_that_sees_one_input_alone_has_the_length_of_rounding():
    assert _length((1.0, 0.0, 0.0)) == pytest.approx(1 / (12 * log(10)))
    assert _length((0.0, 2.0, 1e-12)) == pytest.approx(1 / (12 * log(10)))
    assert _length((0.0, 2.0, 4e-12)) == pytest.approx(-1 / log(2e-12))  # above 1e-12 of the largest
    assert _length((1.0, 0.5, 0.25)) == pytest.approx(1 / log(2)) and _length((0.1, 0.2)) == inf
    assert _length((1.0, 1.0, 1.0)) == inf


def test_reach_and_finding_change_at_a_thousandth_of_the_largest():
    assert MemoryLength((0.5, 1.0, 1.1e-3, 0.9e-3), 1.0).reach == 2
    assert MemoryLength((0.5, 1.0, 1.1e-3, 0.9e-3), 1.0, 2).findings == ()
    (found,) = MemoryLength((0.5, 2.0, 1.1e-3, 1.8e-3), 7.0, 3).findings
    assert found.level.name == "PROBLEM" and [v.value for v in found.evidence] == [pytest.approx(0.9e-3), 7.0]
