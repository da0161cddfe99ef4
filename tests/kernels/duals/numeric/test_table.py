"""Tables of double integrals agree with the double integrals, and these with closed forms."""

import pytest
import torch
from torch.nn import functional

from gnomon.kernels.duals import Erf, ReLU
from gnomon.kernels.duals.numeric import table
from gnomon.kernels.duals.numeric.functions import Derivative
from gnomon.kernels.duals.numeric.line import Sampler, second_moment
from gnomon.kernels.duals.numeric.ridge import ridge
from gnomon.kernels.duals.numeric.table import double_integrals

CPU = torch.device("cpu")
F64 = torch.float64


def pairs(n, spread, gap):
    root_a, root_b = torch.exp(spread * torch.randn(2, n, dtype=F64))
    rho = 1 - gap * torch.rand(n, dtype=F64)
    return root_a, root_b, torch.where(torch.arange(n) % 4 == 0, -rho, rho)


@pytest.mark.parametrize("function, closed", [(torch.relu, ReLU()), (torch.erf, Erf())])
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_ridge_against_closed_forms(function, closed, size):
    sampler = Sampler(function, CPU)
    root_a, root_b, rho = pairs(16, 0.3, 0.02)
    root_a, root_b = size * root_a, size * root_b
    a, b = root_a**2, root_b**2
    scale = (closed.variance(a) * closed.variance(b)).sqrt()
    found = ridge(sampler, sampler, root_a, root_b, rho, scale)
    assert bool(((found - closed.dual(a, b, rho * (a * b).sqrt())).abs() <= 1e-12 * scale).all())


def agree(function, root_a, root_b, rho, monkeypatch):
    """A table is made, pays, and gives what the double integrals give."""
    calls = []
    monkeypatch.setattr(table, "ridge", lambda *args: calls.append(len(args[4])) or ridge(*args))
    sampler = Sampler(function, CPU)
    scale = (second_moment(sampler, root_a) * second_moment(sampler, root_b)).sqrt()
    found = double_integrals(sampler, sampler, root_a, root_b, rho, scale)
    assert sum(calls) < len(rho) / 2
    some = torch.randperm(len(rho))[:100]
    exact = ridge(sampler, sampler, root_a[some], root_b[some], rho[some], scale[some])
    return bool(((found[some] - exact).abs() <= 2e-9 * scale[some]).all())


def test_a_table_in_three_variables(monkeypatch):
    root_a, root_b, rho = pairs(8000, 0.1, 0.01)
    assert agree(Derivative(functional.selu), root_a, root_b, rho.abs(), monkeypatch)


def test_a_table_in_the_angle_alone_and_cut_where_it_has_not_decayed(monkeypatch):
    _, _, rho = pairs(2000, 0.0, 0.5)
    ones = torch.ones_like(rho)
    assert agree(Derivative(functional.hardtanh), ones, ones, rho, monkeypatch)


@pytest.mark.full
def test_a_table_where_corners_meet(monkeypatch):
    assert agree(Derivative(functional.hardtanh), *pairs(200_000, 0.1, 0.01), monkeypatch)
