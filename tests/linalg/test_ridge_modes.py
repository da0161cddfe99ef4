"""Ridge regression in eigenvectors: against dense linear algebra and fits without one point."""

import numpy as np
import pytest
import torch
from scipy.linalg import expm
from scipy.stats import multivariate_normal

from gnomon.linalg.ridge_modes import MIN_RELATIVE_RIDGE, ridge_modes

rng = np.random.default_rng(1)
ROOT, TARGETS = rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
K = ROOT @ ROOT.T
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.5, 1.0])


def modes(time=np.inf, weights=WEIGHTS):
    return ridge_modes(torch.tensor(K), torch.tensor(TARGETS), torch.tensor(weights), time=time)


@pytest.mark.parametrize("time", [0.02, np.inf])
def test_coefficients_are_those_of_the_weighted_flow(time):
    """D K D + r in the basis D = sqrt(weights); after a time T the inverse is (1 - exp(-A T)) A^-1."""
    D = np.diag(np.sqrt(WEIGHTS))
    A = D @ K @ D + 0.3 * np.eye(6)
    progress = np.eye(6) - expm(-A * time) if time < np.inf else np.eye(6)
    expected = progress @ np.linalg.solve(A, D @ TARGETS)
    np.testing.assert_allclose(modes(time).coefficients(0.3), expected, rtol=1e-9)


def test_the_evidence_is_the_density_at_the_best_amplitude():
    unit = np.ones(6)
    found, r = modes(weights=unit), 0.4
    A = K + r * np.eye(6)
    s = np.trace(TARGETS.T @ np.linalg.solve(A, TARGETS)) / 12
    assert found.amplitude(r) == pytest.approx(s)
    density = sum(multivariate_normal(np.zeros(6), s * A).logpdf(y) for y in TARGETS.T)
    assert found.log_evidence(r) == pytest.approx(density)
    assert found.amplitude(0.0) == pytest.approx(found.amplitude(MIN_RELATIVE_RIDGE))


def test_an_eigenvalue_that_rounding_made_negative_is_zero():
    gram = torch.diag(torch.tensor([2.0, -1e-9])).double()
    y = torch.tensor([[3.0], [5.0]]).double()
    found = ridge_modes(gram, y, torch.ones(2).double(), time=4.0)
    assert found.values.tolist() == [0.0, 2.0]
    assert found.coefficients(0.0).flatten().tolist() == pytest.approx([3 / 2 * (1 - np.exp(-8.0)), 20.0], rel=1e-12)
    assert found.left_out(0.0).flatten().tolist() == pytest.approx([3.0, 5.0])
