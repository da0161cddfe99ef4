"""Mehler's series: its error lies below its certificate, and falls as the corners of the function let it."""

from math import pi

import pytest
import torch

from gnomon.kernels.duals import ReLU, Step
from gnomon.kernels.duals.numeric.line import Sampler
from gnomon.kernels.duals.numeric.mehler import coefficients, series

CPU = torch.device("cpu")
F64 = torch.float64


def step(x):
    return (x > 0).double()


@pytest.mark.parametrize("function, closed", [(torch.relu, ReLU()), (step, Step())])
@pytest.mark.parametrize("terms", [32, 128, 512])
def test_the_certificate_holds_and_is_not_idle(function, closed, terms):
    root = torch.tensor([0.7, 1.6], dtype=F64)
    found = coefficients(Sampler(function, CPU), root, terms)
    rho = torch.tensor([0.5, 0.9, -0.9, 0.99, -0.99], dtype=F64)
    i, j = torch.zeros(5, dtype=torch.int64), torch.ones(5, dtype=torch.int64)
    a, b = root[i] ** 2, root[j] ** 2
    error = (series(found, found, i, j, rho) - closed.dual(a, b, rho * (a * b).sqrt())).abs()
    bound = rho.abs() ** terms * (found.tail[i] * found.tail[j]).sqrt()
    assert bool((error <= bound + 1e-15).all())
    assert float(error[3]) > 1e-4 * float(bound[3])


@pytest.mark.parametrize("function, rate", [(step, -0.5), (torch.relu, -1.5), (torch.nn.functional.elu, -2.5)])
def test_tails_fall_at_the_rate_of_the_corner(function, rate):
    """A jump in the m-th derivative leaves a tail of order K^(-m - 1/2)."""
    sampler, one = Sampler(function, CPU), torch.ones(1, dtype=F64)
    tails = [float(coefficients(sampler, one, terms).tail[0]) for terms in (128, 512)]
    slope = torch.log(torch.tensor(tails[1] / tails[0])) / torch.log(torch.tensor(4.0))
    assert float(slope) == pytest.approx(rate, abs=0.1)


def test_coefficients_of_relu():
    """E[relu(z)] = (2 pi)^(-1/2), E[relu(z) z] = 1/2, E[relu(z) he_2(z)] = (4 pi)^(-1/2)."""
    found = coefficients(Sampler(torch.relu, CPU), torch.ones(1, dtype=F64), 32).alpha[0, :4]
    assert found.tolist() == pytest.approx([(2 * pi) ** -0.5, 0.5, (4 * pi) ** -0.5, 0.0], abs=1e-14)
