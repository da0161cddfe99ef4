"""Rotation, alignment and effective rank on matrices whose values are known."""

import pytest
import torch

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.linalg.alignment import effective_rank, kernel_rotation, participation_ratio
from gnomon.tangent import alignment


def test_rotation_does_not_see_scale_and_is_the_angle():
    k = torch.randn(5, 5).double()
    assert kernel_rotation(k, 3 * k) == pytest.approx(0, abs=1e-12)
    assert kernel_rotation(torch.diag(torch.tensor([1.0, 0.0])), torch.diag(torch.tensor([1.0, 1.0]))) == pytest.approx(
        1 - 2**-0.5
    )


def test_alignment_is_centered_cosine():
    x, y = torch.randn(7, 3).double(), torch.randn(7, 2).double()
    k, h = x @ x.T + 5, torch.eye(7).double() - 1 / 7
    a, b = (h @ k @ h).flatten(), (h @ y @ y.T @ h).flatten()
    assert alignment(k, y) == pytest.approx(float(torch.dot(a, b) / (a.norm() * b.norm())), rel=1e-12)
    assert alignment(k + 100, y) == pytest.approx(alignment(k, y), rel=1e-9)  # constants are not labels
    assert alignment(y @ y.T, y) == pytest.approx(1)


def test_ranks_of_known_spectra():
    values = torch.tensor([0.5, 0.25, 0.25, 0.0]).double()
    assert effective_rank(torch.diag(values)) == pytest.approx(2**1.5)  # entropy 1.5 bits
    assert participation_ratio(torch.diag(values)) == pytest.approx(1 / 0.375)
    spread = torch.rand(6).double()
    assert participation_ratio(torch.diag(spread)) <= effective_rank(torch.diag(spread)) <= 6


def test_bad_kernels_are_refused():
    with pytest.raises(NotFiniteError, match="holds NaN"):
        kernel_rotation(torch.full((2, 2), float("nan")), torch.eye(2))
    with pytest.raises(InputError, match="is zero"):
        effective_rank(torch.zeros(2, 2))
    with pytest.raises(InputError, match="constant"):
        alignment(torch.eye(3), torch.ones(3))


def test_rotation_of_unequal_matrices_by_hand():
    """<A, B> = 2 x 1 + 1 x 3 + 4 = 9 with |A|^2 = 4 + 1 + 4 = 9 and |B|^2 = 1 + 9 + 4 = 14."""
    a, b = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.0, 2.0]]), torch.tensor([[1.0, 3.0, 0.0], [0.0, 0.0, 2.0]])
    assert kernel_rotation(a, b) == pytest.approx(1 - 9 / (3 * 14**0.5), rel=1e-12)
    assert kernel_rotation(a, -a) == pytest.approx(2)


def test_rotation_is_never_below_zero_by_rounding():
    generator = torch.Generator().manual_seed(0)
    kernels = [torch.rand(n, n, generator=generator, dtype=torch.float64) for n in range(2, 60)]
    assert min(kernel_rotation(k, 3 * k) for k in kernels) == 0.0


def test_eigenvalues_below_zero_by_rounding_have_no_rank():
    assert effective_rank(torch.diag(torch.tensor([1.0, 1.0, -0.5]).double())) == pytest.approx(2.0)


def test_participation_of_a_kernel_that_is_not_diagonal():
    """Trace 5, sum of squares 4 + 9 + 2 x 1."""
    assert participation_ratio(torch.tensor([[2.0, 1.0], [1.0, 3.0]])) == pytest.approx(25 / 15)
