"""Dependence of outputs on inputs, for a linear network with known weights."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.core.errors import InputError
from gnomon.sequences.causality import CausalityCheck, predicts_next


class Mixes(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = nn.Parameter(weights)

    def forward(self, x):
        return torch.einsum("ts,nsc->ntc", self.weights, x)


def test_dependence_is_the_largest_change_relative_to_the_largest_output():
    generator = torch.Generator().manual_seed(0)
    w, x = (torch.randn(s, generator=generator).double() for s in ((4, 4), (3, 4, 2)))
    found = sequences.causality(Mixes(w), x)
    a, v = w.numpy(), x.numpy()
    change = np.abs(np.roll(v, 1, 0) - v).max((0, 2))
    expected = np.abs(a) * change / np.abs(np.einsum("ts,nsc->ntc", a, v)).max()
    np.testing.assert_allclose(found.dependence, expected, rtol=1e-12)


def test_leaks_start_above_one_part_in_a_hundred_thousand():
    rows = ((1.0, 0.9e-5, 0.0), (0.3, 1.0, 1.1e-5), (0.0, 0.2, 1.0))
    assert CausalityCheck(rows).leaks == ((1, 2),) and CausalityCheck(rows).ahead == 1
    assert CausalityCheck(rows, 1).leaks == () and CausalityCheck(rows, 1).findings == ()
    assert CausalityCheck(rows, -1).leaks == ((0, 0), (1, 1), (1, 2), (2, 2))
    assert CausalityCheck(((0.0, 0.0), (0.0, 0.0))).ahead == 0
    seen = CausalityCheck(((1.0, 0.2, 0.4), (1.0, 1.0, 0.3), (1.0, 1.0, 1.0)))
    (finding,) = seen.findings
    assert (finding.level.name, finding.false_alarm, finding.evidence[0].value) == (
        "PROBLEM",
        0.0,
        0.4,
    ) and seen.ahead == 2


def test_outputs_and_inputs_without_features_are_accepted_and_single_sequences_are_not():
    class Later(nn.Module):
        def forward(self, x):
            return x.double().roll(-1, 1)

    x = torch.tensor([[1, 2, 3], [4, 6, 8]])
    found = sequences.causality(Later(), x)
    np.testing.assert_allclose(found.dependence, np.array([[0, 4, 0], [0, 0, 5], [3, 0, 0]]) / 8)
    with pytest.raises(InputError, match="at least two"):
        sequences.causality(Later(), x[:1])
    silent = sequences.causality(Mixes(torch.zeros(3, 3)), torch.randn(2, 3, 1))
    assert silent.dependence == ((0.0,) * 3,) * 3


def test_targets_are_the_next_inputs():
    x = torch.tensor([[1.0, 2.0, 3.0], [2.0, 5.0, 7.0]])
    y = torch.tensor([[2.0, 3.0, 9.0], [5.0, 7.0, 9.0]])
    assert predicts_next(x, y) and predicts_next(x[..., None], y) and not predicts_next(x, x)
    wrong = y.clone()
    wrong[0, 0] = 4.0
    assert not predicts_next(x, wrong) and not predicts_next(x, y[:, :2]) and not predicts_next(x[:, :2], y[:, :2])
    wrong = y.clone()
    wrong[1, 1] = 4.0
    assert not predicts_next(x, wrong)
    still = torch.full((2, 4), 3.0)
    assert not predicts_next(still, still)  # a constant sequence says nothing
    assert predicts_next(
        torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]]), torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    )
    assert not predicts_next(x[0], y[0]) and not predicts_next(x[None, None], y)
