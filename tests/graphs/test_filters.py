"""Frequency responses on a weighted graph with a node without edges, against numpy."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import graphs
from gnomon.graphs.filters import FilterResponse

WEIGHTED = np.zeros((5, 5))
WEIGHTED[[0, 1, 2, 0], [1, 2, 3, 2]] = [1.0, 2.5, 0.5, 4.0]
WEIGHTED += WEIGHTED.T  # node 4 has no edge


def laplacian(normalized):
    degree = WEIGHTED.sum(1)
    if not normalized:
        return np.diag(degree) - WEIGHTED
    scale = np.where(degree > 0, degree, np.inf) ** -0.5
    return np.eye(5) - scale[:, None] * WEIGHTED * scale


@pytest.mark.parametrize("normalized", [True, False])
def test_response_and_leak_are_those_of_the_eigenvectors(normalized):
    matrix = np.random.default_rng(0).standard_normal((5, 5))
    values, vectors = np.linalg.eigh(laplacian(normalized))
    graph = torch.tensor(WEIGHTED)
    found = graphs.filter_response(lambda x: torch.tensor(matrix) @ x, graph, normalized=normalized)
    made = matrix @ vectors
    response = (vectors * made).sum(0)
    leak = np.linalg.norm(made - response * vectors, axis=0) / np.linalg.norm(made, axis=0)
    np.testing.assert_allclose(found.frequencies, values, atol=1e-12)
    simple = np.array([np.abs(np.delete(values, k) - values[k]).min() > 1e-6 for k in range(5)])
    assert simple.sum() >= 3  # eigenvectors of equal values are not unique
    np.testing.assert_allclose(np.array(found.response)[simple], response[simple], rtol=1e-8)
    np.testing.assert_allclose(np.array(found.leak)[simple], leak[simple], rtol=1e-8)
    assert min(found.frequencies) >= 0.0


def test_a_module_of_float32_is_given_float32_and_a_zero_output_leaks_nothing():
    net = nn.Linear(1, 1, bias=False)
    net.weight.data.fill_(-0.5)
    found = graphs.filter_response(net, torch.tensor(WEIGHTED))
    np.testing.assert_allclose(found.response, -0.5, rtol=1e-6)
    nothing = graphs.filter_response(lambda x: 0 * x, torch.tensor(WEIGHTED))
    assert set(nothing.response) == set(nothing.leak) == {0.0}
    assert not np.isnan(graphs.filter_response(lambda x: 1e-200 * x, torch.tensor(WEIGHTED)).leak).any()
    tiny = graphs.filter_response(lambda x: 1e-5 * x.roll(1, 0), torch.tensor(WEIGHTED))
    large = graphs.filter_response(lambda x: 1e5 * x.roll(1, 0), torch.tensor(WEIGHTED))
    np.testing.assert_allclose(tiny.leak, large.leak, rtol=1e-8)


def test_frequencies_are_never_negative():
    for seed in range(20):
        a = torch.tensor(np.random.default_rng(seed).uniform(size=(7, 7)))
        for normalized in (True, False):
            assert min(graphs.filter_response(lambda x: x, a, normalized=normalized).frequencies) >= 0.0
        spectrum = graphs.graph_spectrum(a)
        assert min(spectrum.laplacian) >= 0.0 and min(spectrum.normalized) >= 0.0


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        ((1.0, 0.49), "A low"),
        ((-1.0, 0.49), "A low"),
        ((1.0, 0.51), "Neither"),
        ((0.51, 1.0), "Neither"),
        ((0.49, -1.0), "A high"),
    ],
)
def test_a_filter_has_a_kind_above_a_factor_of_two(response, kind):
    assert FilterResponse((0.0, 2.0), response, (0.0, 0.1)).verdict.startswith(kind)
