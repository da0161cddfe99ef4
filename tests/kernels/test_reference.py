"""Every reference kernel, from a plain torch module: relative error at most 1e-9, NNGP and NTK, x1-x2 and x1-x1."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw
from tests.house.tree import ROOT
from tests.kernels.specs import Elementwise, load

OWN = sorted((Path(__file__).parent / "reference").glob("*.npz"))
SHARED = sorted((ROOT.parent / "shared" / "reference" / "kernels").glob("*.npz"))
TOLERANCE = 1e-9  # float64 closed forms, as the reference says


def relative(got, wanted):
    return (got - wanted).abs() / wanted.abs()


def check(path):
    x1, x2, net, laws, wanted = load(path)
    limit = gnomon.limit(net, init=laws, parametrization="ntk")
    cross, own = limit(x1, x2), limit(x1)
    assert relative(cross.nngp, wanted["nngp"]).max() <= TOLERANCE
    assert relative(cross.ntk, wanted["ntk"]).max() <= TOLERANCE
    assert relative(own.nngp, wanted["nngp_sym"]).max() <= TOLERANCE
    errors = relative(own.ntk, wanted["ntk_sym"])
    assert (errors - errors.diag().diag()).max() <= TOLERANCE
    assert errors.diag().max() <= diagonal_tolerance(net)


def diagonal_tolerance(net):
    """The reference takes arccos of a rounded one on its diagonal: sqrt(2 eps) / pi of the derivative in each layer with a corner.

    gnomon's own diagonal is exact; `test_the_diagonal_is_exact` holds it to closed forms.
    """
    corners = sum(isinstance(m, nn.ReLU | nn.LeakyReLU | Elementwise) for m in net.modules())
    return max(TOLERANCE, 2 * corners * math.sqrt(2 * torch.finfo(torch.float64).eps) / math.pi)


@pytest.mark.parametrize("path", OWN, ids=[p.stem for p in OWN])
def test_own_reference(path):
    check(path)


@pytest.mark.parametrize("path", SHARED, ids=[p.stem for p in SHARED])
def test_shared_reference(path):
    check(path)


def test_shared_reference_is_there(shared):
    assert len(SHARED) >= 18


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_the_diagonal_is_exact(depth):
    """With w^2 = 2 a ReLU network keeps its variance v = |x|^2/d, and its NTK is (depth + 1) v."""
    layers = [nn.Linear(10, 16), nn.ReLU()] + [m for _ in range(depth - 1) for m in (nn.Linear(16, 16), nn.ReLU())]
    net = nn.Sequential(*layers, nn.Linear(16, 1))
    laws = {p: InitializationLaw(math.sqrt(2)) for p, m in net.named_modules() if isinstance(m, nn.Linear)} | {
        str(2 * depth): InitializationLaw(1.0)
    }
    x = torch.randn(50, 10, dtype=torch.float64)
    got = gnomon.limit(net, init=laws, parametrization="ntk").ntk(x).diag()
    exact = (depth + 1) * x.square().mean(1)
    assert (got / exact - 1).abs().max() <= 4 * (depth + 1) * torch.finfo(torch.float64).eps


def test_a_wrong_law_is_noticed():
    x1, x2, net, laws, wanted = load(next(p for p in OWN if p.stem == "fc_relu_2"))
    wrong = {p: InitializationLaw(1.001 * law.weight_std, law.bias_std) for p, law in laws.items()}
    got = gnomon.limit(net, init=wrong, parametrization="ntk").ntk(x1, x2)
    assert relative(got, wanted["ntk"]).max() > 1e-4
