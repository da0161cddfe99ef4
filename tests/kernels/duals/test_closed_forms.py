"""What only one or another closed form can get wrong."""

import pytest
import torch

from gnomon.core.errors import NotFiniteError
from gnomon.kernels.duals import Cos, Erf, Exp, LeakyReLU, Polynomial, ReLU, Sign, Sin, monomial
from tests.oracles import quadrature as oracle

F64 = torch.float64


def scalars(*values):
    return (torch.tensor(v, dtype=F64) for v in values)


def test_sine_neither_overflows_nor_cancels():
    assert float(Sin().dual(*scalars(3000.0, 3000.0, 2999.0))) == pytest.approx(0.5 * torch.e**-1, rel=1e-12)
    assert float(Sin().dual(*scalars(3000.0, 3000.0, -2999.0))) == pytest.approx(-0.5 * torch.e**-1, rel=1e-12)
    assert float(Sin().dual(*scalars(1e-20, 1e-20, 1e-20))) == pytest.approx(1e-20, rel=1e-15, abs=0)
    assert float(Cos().dual(*scalars(1e6, 1e6, 1e6))) == 0.5


def test_erf_is_steep_for_large_variances():
    """As the variance grows, erf tends to sign, at the rate a^(-1/2) where u = v."""
    a = torch.tensor([1e4, 1e6, 1e8], dtype=F64)
    gap = Sign().dual(a, a, a) - Erf().dual(a, a, a)
    slope = (gap[2] / gap[0]).log10() / 4
    assert float(slope) == pytest.approx(-0.5, abs=1e-3)


def test_leaky_meets_relu_and_the_identity():
    a, b, c = (torch.tensor(x, dtype=F64) for x in ([1.3, 0.4], [0.6, 2.0], [0.4, -0.8]))
    assert torch.allclose(LeakyReLU(0.0).dual(a, b, c), ReLU().dual(a, b, c), rtol=1e-14)
    assert torch.allclose(LeakyReLU(1.0).dual(a, b, c), c, rtol=1e-14)


def test_polynomials_of_high_degree():
    coefficients = tuple((-1.0) ** k / (k + 1) for k in range(13))
    found = Polynomial(coefficients).dual(*scalars(0.8, 0.5, 0.3))

    def function(x):
        return sum(p * x**k for k, p in enumerate(coefficients))

    assert float(found) == pytest.approx(oracle.pair(function, function, 0.8, 0.5, 0.3), rel=1e-10)


def test_even_monomials_at_one_are_odd_factorials():
    one = torch.ones((), dtype=F64)
    found = [float(monomial(n).variance(one)) for n in range(7)]
    assert found == pytest.approx([1, 1, 3, 15, 105, 945, 10395])


def test_exp_refuses_to_overflow():
    with pytest.raises(NotFiniteError, match=r"exceeds the range of torch.float64 \(expected finite second moments"):
        Exp().dual(*scalars(400.0, 400.0, 400.0))
    with pytest.raises(NotFiniteError, match="torch.float32"):
        Exp().variance(torch.tensor(50.0))
