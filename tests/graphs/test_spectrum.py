"""Spectra, resistances and distances of a weighted graph, against numpy."""

import numpy as np
import pytest
import torch

from gnomon import graphs
from gnomon.graphs.spectrum import GraphSpectrum, distances

WEIGHTED = np.zeros((6, 6))
WEIGHTED[[0, 1, 2, 0, 3], [1, 2, 3, 2, 4]] = [1.0, 2.5, 0.5, 4.0, 0.25]
WEIGHTED += WEIGHTED.T  # node 5 has no edge


def test_both_spectra_of_a_weighted_graph():
    degree = WEIGHTED.sum(1)
    scale = np.where(degree > 0, degree, np.inf) ** -0.5
    found = graphs.graph_spectrum(torch.tensor(WEIGHTED))
    np.testing.assert_allclose(found.laplacian, np.linalg.eigvalsh(np.diag(degree) - WEIGHTED), atol=1e-12)
    own = np.diag((degree > 0).astype(float))
    np.testing.assert_allclose(
        found.normalized, np.linalg.eigvalsh(own - scale[:, None] * WEIGHTED * scale), atol=1e-12
    )
    assert found.components == 2 and not found.bipartite


def test_components_are_eigenvalues_below_the_rounding_of_the_largest():
    assert GraphSpectrum((0.0, 0.9e-9, 1.1e-9, 0.5), (0.0, 1.0, 1.0, 1.0)).components == 2
    assert GraphSpectrum((0.0, 0.9e-7, 1.1e-7, 100.0), (0.0, 1.0, 1.0, 1.0)).components == 2
    assert GraphSpectrum((0.0, 0.0), (0.0, 0.0)).components == 2
    assert GraphSpectrum((0.0, 4.0), (0.0, 2 - 1e-10)).bipartite
    assert not GraphSpectrum((0.0, 4.0), (0.0, 2 - 1e-8)).bipartite


def test_the_spectral_gap_is_the_first_normalized_eigenvalue_above_rounding():
    assert "gap 0.25" in GraphSpectrum((0.0, 3.0, 4.0), (1e-12, 0.25, 1.5)).verdict
    assert "gap 0." in GraphSpectrum((0.0, 0.0), (0.0, 0.0)).verdict


def test_resistances_of_weighted_wires_in_rows_and_beside_each_other():
    found = graphs.effective_resistance(torch.tensor(WEIGHTED)).numpy()
    # a triangle of wires 1, 0.4 and 0.25 between nodes 0, 1, 2, and a tail of wires 2 and 4
    assert found[0, 2] == pytest.approx(1 / (4 + 1 / (1 + 0.4)), abs=1e-11)
    assert found[0, 1] == pytest.approx(1 / (1 + 1 / (0.25 + 0.4)), abs=1e-11)
    assert found[0, 4] == pytest.approx(found[0, 2] + 2 + 4, abs=1e-10)
    np.testing.assert_array_equal(found, found.T)
    assert np.isinf(found[5, :5]).all() and (np.diag(found) == 0).all()


def test_distances_count_edges_and_are_infinite_between_parts():
    found = distances(torch.tensor(WEIGHTED)).numpy()
    inf = np.inf
    expected = [[0, 1, 1, 2, 3, inf], [1, 0, 1, 2, 3, inf], [1, 1, 0, 1, 2, inf], [2, 2, 1, 0, 1, inf]]
    np.testing.assert_array_equal(found[:4], expected)
    np.testing.assert_array_equal(found[5], [inf] * 5 + [0])
    path = torch.diag(torch.ones(3), 1)
    assert distances(path)[0].tolist() == [0, 1, 2, 3]
