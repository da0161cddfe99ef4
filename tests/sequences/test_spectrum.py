"""Spectra of recurrences: time scales, order, and the threshold of growth."""

from math import inf, log

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import sequences
from gnomon.sequences.spectrum import StateSpectrum


def test_eigenvalues_are_sorted_by_size_and_have_their_time_scales():
    matrix = torch.tensor([[0.3, 5.0, 1.0], [0.0, -0.8, 2.0], [0.0, 0.0, 0.5]]).double()
    found = sequences.state_spectrum(matrix)
    np.testing.assert_allclose(np.array(found.eigenvalues[0]), [(-0.8, 0), (0.5, 0), (0.3, 0)], atol=1e-12)
    assert found.scales[0] == pytest.approx([-1 / log(v) for v in (0.8, 0.5, 0.3)])
    assert found.radius == (pytest.approx(0.8),)


def test_modes_of_size_one_last_forever_and_those_of_size_zero_not_at_all():
    rows = (((0.6, 0.8), (0.0, 0.0), (0.3, -0.4)),)
    found = StateSpectrum(("a",), rows, (True,))
    assert found.scales[0] == (inf, 0.0, pytest.approx(1 / log(2))) and found.radius == (1.0,)


def test_linear_recurrences_above_one_grow():
    rows = (((1.0 + 2e-6, 0.0),), ((1.0 + 5e-7, 0.0),), ((1.5, 0.0),), ((0.2, 0.0), (1.2, 1.6)))
    found = StateSpectrum(("a", "b", "c", "d"), rows, (True, True, False, True)).findings
    assert [(f.where, f.level.name, f.false_alarm) for f in found] == [("a", "PROBLEM", 0.0), ("d", "PROBLEM", 0.0)]
    assert found[1].evidence[0].value == 2.0


def test_the_recurrent_matrix_of_an_rnn_is_used():
    net = nn.RNN(3, 2)
    net.weight_hh_l0.data = torch.tensor([[0.0, -0.5], [0.5, 0.0]])
    found = sequences.state_spectrum(net)
    assert found.radius == (pytest.approx(0.5),) and found.linear == (False,)
    np.testing.assert_allclose(sorted(found.eigenvalues[0]), [(0.0, -0.5), (0.0, 0.5)], atol=1e-7)
