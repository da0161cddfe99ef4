"""Errors along the kernel's directions, and rates of convergence, on kernels that are known."""

import numpy
import pytest
import torch
from torch import nn

from gnomon.tangent import convergence_rate, residual_modes
from gnomon.tangent.residuals import ConvergenceRate, ResidualModes


def line():
    return nn.Linear(3, 1, bias=False).double()


def rows(*eigenvalues):
    """Inputs whose linear kernel is diagonal with these eigenvalues."""
    return torch.diag(torch.tensor(eigenvalues).double().sqrt())


@pytest.mark.parametrize(("smallest", "counts"), [(1.2e-6, False), (1.7e-6, True)])
def test_an_eigenvalue_below_float32_rounding_is_zero(smallest, counts):
    """The floor is eps x largest x n = 1.19e-7 x 4 x 3 = 1.43e-6, whatever the precision of the module."""
    found = convergence_rate(line(), rows(4.0, 1.0, smallest), lr=0.25)
    assert found.fastest == pytest.approx(4 / 3) and found.lr == 0.25
    assert found.slowest == pytest.approx(smallest / 3 if counts else 0, rel=1e-6)
    assert found.steps == (pytest.approx(1 / (0.25 * smallest / 3), rel=1e-6) if counts else float("inf"))


def test_steps_are_the_inverse_of_rate_and_learning_rate():
    assert ConvergenceRate(5.0, 0.2, 0.1).steps == pytest.approx(50)
    assert ConvergenceRate(5.0, 0.0, 0.1).steps == float("inf")


def test_energies_are_squared_projections_summed_over_outputs():
    torch.manual_seed(0)
    net, other = (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double() for _ in range(2))
    x, y = torch.randn(5, 3).double(), torch.randn(5, 2).double()
    found = residual_modes(net, [other, net], (x, y))
    jacobian = numpy.array([
        [torch.cat([g.flatten() for g in torch.autograd.grad(net(x)[i, a], list(net.parameters()))]).numpy()
         for a in range(2)] for i in range(5)
    ])  # fmt: skip
    values, vectors = numpy.linalg.eigh(numpy.einsum("iap,jap->ij", jacobian, jacobian) / 2)
    for row, model in zip(found.energy, (net, other, net), strict=True):
        error = (model(x) - y).detach().numpy()
        wanted = [sum((vectors[:, i] @ error[:, a]) ** 2 for a in range(2)) for i in reversed(range(5))]
        assert numpy.allclose(row, wanted, rtol=1e-8)
    assert numpy.allclose(found.values, values[::-1], rtol=1e-8)


def test_what_is_left_is_the_last_energy_over_the_first():
    energy = torch.tensor([[4.0, 2.0, 0.0], [9.0, 9.0, 9.0], [1.0, 3.0, 5.0]]).double()
    found = ResidualModes(torch.ones(3).double(), energy)
    assert found.left.tolist() == [0.25, 1.5, 0.0]


def test_eigenvalues_below_zero_by_rounding_are_zero():
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)).double()
    found = residual_modes(line(), [], (x, torch.ones(6).double()))  # six examples, rank three
    assert (found.values >= 0).all() and found.values[3:].max() < 1e-12 < found.values[2]
