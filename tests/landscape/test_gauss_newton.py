"""Gauss-Newton and Fisher matrices against Jacobians of single examples; estimates at their stated confidence."""

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from gnomon.core import InputError, NotConvergedError
from gnomon.landscape import empirical_fisher, fisher, gauss_newton, hessian
from gnomon.training import CrossEntropy, Logistic
from tests.oracles.curvature import assembled, jacobians, softmax_curvature


@pytest.fixture
def problem():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(8, 3)).double()
    return net, torch.randn(7, 1, 4, 4).double(), torch.tensor([0, 1, 2, 1, 0, 2, 2])


def test_matrices_are_those_of_single_examples(problem):
    net, x, y = problem
    J, f = jacobians(net, x)
    soft = assembled(J, [softmax_curvature(one) for one in f])
    slopes = torch.softmax(f, 1) - F.one_hot(y, 3)
    observed = assembled(J, slopes[:, :, None] * slopes[:, None, :])
    for loss in (None, nn.CrossEntropyLoss()):
        assert_allclose(gauss_newton(net, (x, y), loss=loss).dense(), soft, atol=1e-12)
        assert_allclose(empirical_fisher(net, (x, y), loss=loss).dense(), observed, atol=1e-12)
    assert_allclose(fisher(net, (x, y)).dense(), soft, atol=1e-12)
    numbers = torch.randn(7, 3).double()
    assert_allclose(
        gauss_newton(net, (x, numbers)).dense(), assembled(J, torch.eye(3).double().expand(7, 3, 3)), atol=1e-12
    )
    assert_allclose(gauss_newton(net, (x, numbers), loss=lambda a, b: (a - b).mean()).dense(), 0 * soft)


def test_batches_blocks_and_layers_are_parts_of_the_whole(problem):
    net, x, y = problem
    loader = DataLoader(TensorDataset(x, y), batch_size=3)
    v = torch.randn(47).double()
    last = torch.cat([torch.zeros(20), torch.ones(27)]).double() * v
    for make in (hessian, gauss_newton, empirical_fisher, fisher):
        whole = make(net, (x, y))
        product = whole.matvec(v)
        assert_allclose(make(net, (x, y), tile=2).matvec(v), product, atol=1e-13)
        assert_allclose(make(net, loader).matvec(v), product, atol=1e-13)
        assert_allclose(whole.block("3.*").matvec(v[20:]), whole.matvec(last)[20:], atol=1e-13)
        assert [(name, part.size) for name, part in whole.by_layer()] == [("0", 20), ("3", 27)]
        assert_allclose(whole.to_scipy() @ v.numpy(), product, atol=1e-13)
    sampled = fisher(net, (x, y), draws=3, tile=2)
    assert_allclose(sampled.block("3.*").matvec(v[20:]), sampled.matvec(last)[20:], atol=1e-13)


@pytest.mark.parametrize("kind", ["cross-entropy", "squared", "logistic"])
def test_draws_of_the_prediction_have_the_fisher_matrix_as_their_mean(problem, kind):
    net, x, y = problem
    loss = Logistic() if kind == "logistic" else None
    y = y if kind == "cross-entropy" else torch.ones(7, 3).double()
    exact = fisher(net, (x, y), loss=loss).dense()
    draws = torch.stack([fisher(net, (x, y), loss=loss, draws=4, seed=100 * s).dense() for s in range(20)])
    away = (draws.mean(0) - exact) / (draws.std(0) / 20**0.5 + 1e-12)
    # 1128 entries: Student's t with 19 degrees of freedom exceeds 7.4 in one of 1128 with probability below 1e-3
    assert float(away.abs().max()) < 7.4
    assert float(draws.std(0).max()) > 0


def test_estimates_cover_what_they_estimate(problem):
    net, x, y = problem
    A = gauss_newton(net, (x, y))
    dense = A.dense()
    found = A.diagonal(samples=200, confidence=0.999)
    inside = (found.values - dense.diagonal()).abs() <= found.half_widths
    assert float(inside.double().mean()) >= 44 / 47  # each with probability 0.999, up to the tails of few samples
    assert "diagonal entries" in found.verdict and found.plots()
    b = torch.randn(47).double()
    solved = A.inverse_product(b, damping=0.1, tolerance=1e-10)
    assert_allclose(solved.x, torch.linalg.solve(dense + 0.1 * torch.eye(47).double(), b), rtol=1e-7)
    assert solved.converged and "solved" in solved.verdict and solved.plots()
    density, values = A.density(steps=20, starts=20), torch.linalg.eigvalsh(dense)
    grid = torch.linspace(float(values[0]), float(values[-1]), 30).double()
    width = float(values[-1]) / 8
    truth = torch.exp(-(((grid[:, None] - values) / width) ** 2) / 2).mean(1) / (width * (2 * torch.pi) ** 0.5)
    half = density.error(grid, width, confidence=0.9999)
    assert bool(((density.smooth(grid, width) - truth).abs() <= half + 1e-9).all())
    assert [mark.name for mark in density.plots()[0].marks] == ["density", "95 % interval", "outliers"]
    assert_allclose(A.top(5).values, values.flip(0)[:5], rtol=1e-7)


def test_a_physics_residual_has_a_curvature():
    class Residual(nn.Module):  # u'' + u of a network u
        def __init__(self):
            super().__init__()
            self.u = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))

        @torch.enable_grad()
        def forward(self, t):
            t = t.requires_grad_()
            u = self.u(t)
            (first,) = torch.autograd.grad(u.sum(), t, create_graph=True)
            (second,) = torch.autograd.grad(first.sum(), t, create_graph=True)
            return second + u

    torch.manual_seed(0)
    net, t = Residual().double(), torch.linspace(0, 1, 5).double()[:, None]
    J, f = jacobians(net, t)
    A = gauss_newton(net, (t.detach(), torch.zeros(5, 1).double()))
    assert_allclose(A.dense(), assembled(J, torch.ones(5, 1, 1).double()), atol=1e-11)
    H = hessian(net, (t.detach(), torch.zeros(5, 1).double()))
    v, h = torch.randn(H.size).double(), 1e-5
    vector = nn.utils.parameters_to_vector(net.parameters()).detach()
    slopes = []
    for sign in (1, -1):
        nn.utils.vector_to_parameters(vector + sign * h * v, net.parameters())
        slopes.append(hessian(net, (t.detach(), torch.zeros(5, 1).double())).gradient())
    nn.utils.vector_to_parameters(vector, net.parameters())
    assert_allclose(H.matvec(v), (slopes[0] - slopes[1]) / (2 * h), rtol=1e-5, atol=1e-6)


class Cube(torch.autograd.Function):
    """A function that has two derivatives, and no forward mode."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Lossy(torch.autograd.Function):
    """Twice x, whose forward mode is wrong: it says three times."""

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g

    @staticmethod
    def jvp(ctx, t):
        return 3 * t


class Middle(nn.Module):
    """A function between two layers."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize(
    ("function", "forward"),
    [(torch.sin, True), (Cube.apply, False), (Lossy.apply, False), (lambda x: F.dropout(x, 0.5), True)],
    ids=["forward mode", "none", "a wrong one", "random"],
)
def test_products_need_no_forward_mode(function, forward):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 5), Middle(function), nn.Linear(5, 3)).double()
    x, y = torch.randn(6, 2).double(), torch.randint(0, 3, (6,))
    A = gauss_newton(net, (x, y))
    dense = A.dense()
    assert A._forward is forward
    assert_allclose(dense, dense.T, atol=1e-12)
    A._forward = False  # two backward passes, through the same graph
    assert_allclose(dense, A.dense(), atol=1e-12)
    assert float(dense.abs().max()) > 1e-3


def test_bad_arguments_are_refused(problem):
    net, x, y = problem
    with pytest.raises(InputError, match=r"fisher\(module, data\): the loss is .*empirical_fisher"):
        fisher(net, (x, y), loss=nn.CrossEntropyLoss())
    with pytest.raises(InputError, match="draws must be a whole number"):
        fisher(net, (x, y), draws=0)
    with pytest.raises(InputError, match=r"gauss_newton\(module, data\): the module has no parameters"):
        gauss_newton(nn.Flatten(), (x, y), loss=CrossEntropy())
    with pytest.raises(InputError, match="no parameter requires a gradient"):
        gauss_newton(net.requires_grad_(requires_grad=False), (x, y))
    net.requires_grad_()
    with pytest.raises(InputError, match=r"y holds labels from 0 to 7"):
        hessian(net, (x, torch.tensor([0, 1, 2, 1, 0, 2, 7])))
    with pytest.raises(NotConvergedError, match=r"HessianOperator.inverse_product\(b\): a direction of curvature"):
        hessian(net, (x, y)).inverse_product(torch.randn(47).double(), products=300)
    with pytest.raises(InputError, match="b has shape"):
        hessian(net, (x, y)).inverse_product(torch.ones(3).double())
