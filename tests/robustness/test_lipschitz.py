"""Operator norms against the dense matrix built entry by entry; bounds of networks against all activation patterns."""

import itertools
import sys

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.core import InputError, NotFiniteError, UnsupportedModuleError
from gnomon.robustness.lipschitz import lipschitz_bounds, operator_norm
from gnomon.robustness.lipschitz.chain import MatrixChain, pair_norm, seqlip_bound
from gnomon.robustness.lipschitz.network import pair_bounds
from gnomon.robustness.lipschitz.operators import matrix_of

SHAPES = [
    {"stride": s, "padding": p, "dilation": d, "groups": g, "padding_mode": m}
    for s, p, d, g, m in [(1, 0, 1, 1, "zeros"), (2, 1, 1, 1, "zeros"), (1, 2, 2, 1, "zeros"), (3, 1, 1, 2, "zeros"),
                          (2, 2, 2, 2, "zeros"), (1, 1, 1, 1, "circular"), (2, 1, 1, 4, "zeros"), (1, 1, 1, 1, "reflect")]
]  # fmt: skip


def dense(conv, h, w):
    """The matrix of a convolution from its definition: which weight meets which pixel."""
    (kh, kw), s, d, g = conv.kernel_size, conv.stride[0], conv.dilation[0], conv.groups
    p, weight = conv.padding[0], conv.weight.detach().double().numpy()
    oh, ow = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k in ((h, kh), (w, kw)))
    matrix = np.zeros((conv.out_channels, oh, ow, conv.in_channels, h, w))
    per_in, per_out = conv.in_channels // g, conv.out_channels // g
    for o, y, x, i, a, b in itertools.product(
        range(conv.out_channels), range(oh), range(ow), range(per_in), range(kh), range(kw)
    ):
        row, column = y * s + a * d - p, x * s + b * d - p
        if conv.padding_mode == "circular":
            row, column = row % h, column % w
        if conv.padding_mode == "reflect":
            row, column = ((n - 1) - abs((n - 1) - abs(v)) for v, n in ((row, h), (column, w)))
        if 0 <= row < h and 0 <= column < w:
            matrix[o, y, x, (o // per_out) * per_in + i, row, column] += weight[o, i, a, b]
    return matrix.reshape(conv.out_channels * oh * ow, -1)


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_convolutions_have_the_norm_of_their_dense_matrix(options):
    torch.manual_seed(0)
    conv = nn.Conv2d(4, 8, 3, **options)
    assert_allclose(operator_norm(conv, (4, 6, 7)), np.linalg.norm(dense(conv, 6, 7), 2), rtol=1e-6)


def test_a_large_convolution_has_the_norm_of_its_dense_matrix_too():
    torch.manual_seed(0)
    conv = nn.Conv2d(1, 3, 3, stride=2, padding=1)
    assert_allclose(operator_norm(conv, (1, 40, 40)), np.linalg.norm(dense(conv, 40, 40), 2), rtol=1e-6)
    reshaped = float(torch.linalg.matrix_norm(conv.weight.detach().reshape(3, -1), 2))
    assert abs(reshaped - operator_norm(conv, (1, 40, 40))) > 1e-3  # the reshaped weight is another matrix


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_on_both_sides_of_the_exact_constant(seed):
    """The id lipschitz-estimation-seqlip: exact maximum over patterns <= pairs <= product."""
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(4, 7), nn.ReLU(), nn.Linear(7, 3)).double()
    a, b = net[0].weight.detach(), net[2].weight.detach()
    patterns = torch.tensor(list(itertools.product([0.0, 1.0], repeat=7)), dtype=torch.float64)
    exact = max(float(torch.linalg.matrix_norm(b * p @ a, 2)) for p in patterns)
    found = lipschitz_bounds(net, torch.randn(50, 4).double())
    assert found.lower <= exact * (1 + 1e-9) <= found.refined * (1 + 2e-9) and found.refined < 0.97 * found.product
    assert found.lower > 0.7 * exact
    assert_allclose(found.product, np.linalg.norm(a, 2) * np.linalg.norm(b, 2))
    leaky = max(float(torch.linalg.matrix_norm(b * (0.3 + 0.7 * p) @ a, 2)) for p in patterns)
    assert leaky <= pair_norm(b, a, 0.3) * (1 + 1e-9)
    assert "at most" in found.verdict and len(found.plots()) == 2


@pytest.mark.parametrize(("widths", "slope"), [((3, 5, 4, 2), 0.0), ((4, 6, 6, 3), 0.3), ((2, 14, 3, 2), 0.0)])
def test_seqlip_bounds_every_pattern_of_a_chain(widths, slope):
    """The id lipschitz-estimation-seqlip: all patterns by hand, up to a sample of them for 14 units."""
    torch.manual_seed(1)
    w = [torch.randn(b, a).double() for a, b in itertools.pairwise(widths)]
    generator = torch.Generator().manual_seed(0)
    exact = 0.0
    for _ in range(4000):
        d = [torch.where(torch.rand(m, generator=generator) < 0.5, 1.0, slope).double() for m in widths[1:-1]]
        product = w[0]
        for diagonal, matrix in zip(d, w[1:], strict=True):
            product = matrix * diagonal @ product
        exact = max(exact, float(torch.linalg.matrix_norm(product, 2)))
    bound = seqlip_bound(w, [slope] * (len(w) - 1))
    norms = float(torch.stack([torch.linalg.matrix_norm(m, 2) for m in w]).prod())
    assert exact <= bound * (1 + 1e-9) and bound < 0.95 * norms


def test_networks_of_many_kinds_never_stretch_more_than_the_bound():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2d(2, 2, 3, padding=1), nn.BatchNorm2d(2)
            self.b.running_var.fill_(0.3)

        def forward(self, x):
            return x + torch.relu(self.b(self.a(x)))

    torch.manual_seed(0)
    nets = [
        nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.LeakyReLU(0.2), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 4)),
        nn.Sequential(Residual(), Residual(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(18, 3)),
        nn.Sequential(nn.MaxPool2d(3, stride=1), nn.Flatten(), nn.Dropout(), nn.Linear(32, 3)),
    ]  # fmt: skip
    for net in nets:
        net.eval()
        x, z = torch.randn(200, 2, 6, 6), torch.randn(200, 2, 6, 6)
        z = torch.where(torch.rand(200, 1, 1, 1) < 0.5, x + 0.01 * z, z)
        with torch.no_grad():
            moved = net(x) - net(z)
        ratio = moved.norm(dim=1) / (x - z).flatten(1).norm(dim=1)
        found = lipschitz_bounds(net, x)
        assert (
            float(ratio.max()) <= found.upper and found.lower <= found.upper and found.lower > 0.2 * float(ratio.max())
        )


def test_bounds_of_pairs_have_double_precision():
    """With opposite rows in the last layer, f_1 - f_2 is bounded by sqrt(2) times the bound of the whole network."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2)).double()
    with torch.no_grad():
        net[2].weight[1] = -net[2].weight[0]
    x = torch.randn(1, 5).double()
    assert_allclose(float(pair_bounds(net, x).max()), 2**0.5 * lipschitz_bounds(net, x).seqlip, rtol=1e-12)


def test_what_cannot_be_bounded_is_refused_by_name():
    with pytest.raises(UnsupportedModuleError, match=r"lipschitz_bounds\(module, data\): '1' is a Softmax"):
        lipschitz_bounds(nn.Sequential(nn.Linear(2, 2), nn.Softmax(1)), torch.randn(3, 2))
    with pytest.raises(InputError, match="on an input of shape"):
        operator_norm(nn.Linear(2, 2), (3,))
    net = nn.Linear(2, 2)
    with torch.no_grad():
        net.weight[0, 0] = float("nan")
    with pytest.raises(NotFiniteError, match="weights are not finite"):
        lipschitz_bounds(net, torch.randn(3, 2))


def test_the_matrix_of_a_convolution_is_the_dense_one():
    torch.manual_seed(0)
    conv = nn.Conv2d(2, 3, 3, stride=2, padding=1).double()
    assert_allclose(matrix_of(conv, (2, 5, 4)), dense(conv, 5, 4), atol=1e-12)


def test_the_descent_of_a_pair_moves_by_the_difference_of_squared_singular_vectors(monkeypatch):
    """Two values: at balanced scales, and after one step of size sqrt(units) / 2 along the slope; by numpy."""
    g = torch.Generator().manual_seed(33)
    b, a = torch.randn(3, 5, generator=g).double(), torch.randn(5, 4, generator=g).double()
    monkeypatch.setattr("gnomon.robustness.lipschitz.chain.DESCENT_STEPS", 2)
    left, right = b.numpy(), a.numpy()
    log_t = np.log(np.linalg.norm(right, axis=1) / np.linalg.norm(left, axis=0)) / 2
    values = []
    for _ in range(2):
        t = np.exp(log_t)
        v, u = np.linalg.svd(left * t)[2][0], np.linalg.svd(right / t[:, None])[0][:, 0]
        values.append(np.linalg.norm(left * t, 2) * np.linalg.norm(right / t[:, None], 2))
        log_t = log_t - 0.5 * np.sqrt(5) * (v**2 - u**2)
    assert values[1] < 0.99 * values[0] < 0.9 * np.linalg.norm(left, 2) * np.linalg.norm(right, 2)
    plain = np.linalg.norm(left @ right, 2)
    for slope in (0.0, 0.2):
        expected = (1 + slope) / 2 * plain + (1 - slope) / 2 * values[1]
        assert pair_norm(b, a, slope) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("gap", "affine"), [(0.9e-6, True), (1.1e-6, False)])
def test_a_function_is_affine_if_its_increments_differ_by_a_millionth_at_most(gap, affine):
    """x + a x^2 has increments z + 2 a x z + a z^2 and z + a z^2 at the two random points of the check."""
    x, z = torch.randn((2, 1, 5), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    bend = gap * 2 * float(z.norm() / (2 * x * z).norm())
    if affine:
        assert operator_norm(lambda v: v + bend * v**2, (5,)) == pytest.approx(1.0, abs=1e-4)
    else:
        with pytest.raises(InputError, match="differs from"):
            operator_norm(lambda v: v + bend * v**2, (5,))


@pytest.mark.parametrize(("inputs", "dense"), [(1500, True), (1501, False)])
def test_a_matrix_is_formed_up_to_fifteen_hundred_inputs(inputs, dense, monkeypatch):
    seen = []
    module = sys.modules[operator_norm.__module__]
    monkeypatch.setattr(module, "matrix_of", lambda function, shape: seen.append(shape) or torch.eye(2))
    assert operator_norm(lambda v: 3 * v, (inputs,)) == pytest.approx(1.0 if dense else 3.0)
    assert seen == ([(inputs,)] if dense else [])


def test_linear_layers_in_a_row_are_one_block():
    """diag(2, 1) diag(1, 5) is diag(2, 5): the norm is 5, and the product of norms 10."""
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)).double()
    with torch.no_grad():
        for layer, values in ((net[0], [1.0, 5.0]), (net[1], [2.0, 1.0])):
            layer.weight.copy_(torch.diag(torch.tensor(values)))
        net[3].weight.copy_(torch.tensor([[3.0, 0.0]]))
    found = lipschitz_bounds(net, torch.zeros(1, 2).double())
    assert found.product == pytest.approx(15.0) and found.layers == {"0": pytest.approx(5.0), "3": pytest.approx(3.0)}


def test_the_search_draws_around_its_points_at_halving_distances(monkeypatch):
    """Distances fall from 2 deviations of the inputs by a factor of 2^8 over the rounds."""
    tried, module = [], sys.modules[lipschitz_bounds.__module__]
    monkeypatch.setattr(module, "_slopes", lambda net, x: tried.append(x) or torch.ones(len(x)).double())
    x = torch.tensor([[0.0], [2.0], [4.0]]).double()
    assert module._steepest(nn.Identity(), x, 4, seed=3) == 1.0
    generator = torch.Generator().manual_seed(3)
    for k, points in enumerate(tried[1:]):
        near = 2.0 * 2.0 ** (1 - 2 * k)
        assert_allclose(points, x + near * torch.randn(x.shape, generator=generator, dtype=x.dtype))
    assert len(tried) == 5


@pytest.mark.parametrize("seed", range(3))
def test_the_refined_bound_is_the_best_split_of_a_chain(seed):
    """Three layers: alone, in pairs, and in runs that share their singular vectors; the smallest product counts."""
    generator = torch.Generator().manual_seed(seed)
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).double()
    for layer in (net[0], net[2], net[4]):
        nn.init.normal_(layer.weight, generator=generator)
    matrices = [net[i].weight.detach() for i in (0, 2, 4)]
    a, b, c = (float(torch.linalg.matrix_norm(m, 2)) for m in matrices)
    chain = MatrixChain(matrices, [0.0, 0.0])
    runs = [chain.seqlip(0, 1) * c, a * chain.seqlip(1, 2), chain.seqlip(0, 2)]
    pairs = [chain.pair(0) * c, a * chain.pair(1)]
    found = lipschitz_bounds(net, torch.zeros(1, 4).double())
    assert found.refined == pytest.approx(min(a * b * c, *runs, *pairs)) and found.product == pytest.approx(a * b * c)
    assert found.seqlip == pytest.approx(min(chain.seqlip(0, 2), a * b * c))
