"""Networks with one random layer and fixed linear maps: their limits are exact, and come from one Jacobian.

f is linear in its parameters w, which are independent of variance s_w^2. So the tangent kernel is J J^T and the
covariance of the outputs is J S J^T with S the variances, whatever the width; both are means over outputs.
"""

import copy
from math import prod

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gnomon
from gnomon.models import ModuleOnGraph
from gnomon.program import read_program
from gnomon.program.linear import _combine
from gnomon.program.multihead import Hidden
from gnomon.program.steps import Concat, Dropout
from tests.oracles.tangent_jacobian import jacobian


class Then(nn.Module):
    """A random layer and a fixed function of its outputs."""

    def __init__(self, layer, function):
        super().__init__()
        self.layer, self.function = layer, function

    def forward(self, x):
        return self.function(self.layer(x))


def variance(layer):
    """Of torch's constructors: uniform with bound 1 / sqrt(fan in); transposed convolutions take their second axis."""
    return 1 / (3 * prod(layer.weight.shape[1:]))


def both(net, x):
    j = jacobian(net, x, names=[name for name, p in net.named_parameters() if p.requires_grad])
    every = jacobian(copy.deepcopy(net).requires_grad_(True), x)
    ntk = torch.einsum("iap,jap->ij", j, j) / j.shape[1]
    return ntk, variance(net.layer) * torch.einsum("iap,jap->ij", every, every) / every.shape[1]


def check(net, shape, rtol=1e-12):
    x = torch.randn(3, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    net = net.double()
    ntk, nngp = both(net, x)
    limit = gnomon.limit(net)
    assert torch.allclose(limit.ntk(x), ntk, rtol=rtol), limit.ntk(x) / ntk
    assert torch.allclose(limit.nngp(x), nngp, rtol=rtol), limit.nngp(x) / nngp


LINE, IMAGE = (2, 9), (2, 7, 5)
LAYERS = {
    "convolution of a line": (nn.Conv1d(2, 4, 3, stride=2, padding=1, dilation=2), LINE),
    "convolution of an image": (nn.Conv2d(2, 4, (3, 2), stride=(2, 1), padding=(2, 1), dilation=(1, 3)), IMAGE),
    "convolution without bias": (nn.Conv2d(2, 4, (1, 3), bias=False), IMAGE),
    "padded with what is there": (nn.Conv2d(2, 4, 3, padding=(1, 2), padding_mode="circular"), IMAGE),
    "same size": (nn.Conv2d(2, 4, (3, 5), padding="same"), IMAGE),
    "transposed line": (nn.ConvTranspose1d(2, 4, 3, stride=3, padding=2, output_padding=1, dilation=2), LINE),
    "transposed image": (nn.ConvTranspose2d(2, 3, (3, 2), stride=(2, 3), padding=(1, 0), bias=False), IMAGE),
    "linear layer at each position": (nn.Linear(5, 4), (3, 5)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_one_layer(name):
    layer, shape = LAYERS[name]
    check(Then(layer, lambda h: h), shape)


def test_one_frozen_bias():
    layer = nn.Conv1d(2, 4, 3)
    layer.bias.requires_grad_(False)
    check(Then(layer, lambda h: h), LINE)


MATRIX = torch.randn(9, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
MAPS = {
    "average of windows": nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0)),
    "average of windows without padding": nn.AvgPool2d((3, 2), stride=2, padding=1, count_include_pad=False),
    "average of windows rounded up": nn.AvgPool2d(2, stride=3, ceil_mode=True),
    "sum over windows by another divisor": nn.AvgPool2d((3, 2), divisor_override=4),
    "average by a function": lambda h: F.avg_pool2d(h, (2, 3), (1, 2), (1, 1), False, False),
    "average by a function of one size": lambda h: F.avg_pool2d(h, 2),
    "windows rounded up, without padding": lambda h: F.avg_pool2d(h, (3, 2), 2, 1, True, False),
    "windows by another divisor in its place": lambda h: F.avg_pool2d(h, (3, 2), 2, 0, False, True, 5),
    "adaptive average": nn.AdaptiveAvgPool2d((3, 2)),
    "adaptive average by a function": lambda h: F.adaptive_avg_pool2d(h, (2, 4)),
    "nearest neighbors": nn.Upsample(size=(9, 7), mode="nearest"),
    "bilinear": nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False),
    "bilinear to the corners": nn.Upsample(size=(9, 4), mode="bilinear", align_corners=True),
    "interpolation by a function": lambda h: F.interpolate(h, size=(4, 11), mode="bilinear", align_corners=True),
    "zeros around": nn.ZeroPad2d((1, 2, 0, 3)),
    "mirrors around": nn.ReflectionPad2d((2, 1, 3, 0)),
    "ends around": nn.ReplicationPad2d((2, 1, 0, 3)),
    "circles around": nn.CircularPad2d((2, 1, 0, 3)),
    "zeros by a function": lambda h: F.pad(h, (3, 1)),
    "zeros by a function in its place": lambda h: F.pad(h, (0, 2, 1, 0), "constant", 0.0),
    "circles by a function": lambda h: F.pad(h, (1, 2, 2, 0), mode="circular"),
    "mean over rows": lambda h: h.mean(2),
    "mean over columns, kept": lambda h: h.mean(-1, keepdim=True),
    "mean over both": lambda h: h.mean((2, 3)),
    "sum over rows": lambda h: h.sum(2),
    "sum over columns": lambda h: h.sum(dim=3, keepdim=True),
    "both in turn": lambda h: F.avg_pool2d(h.sum(3, keepdim=True), (2, 1)),
    "a factor": lambda h: -3.0 * h / 2,
    "flat": lambda h: h.flatten(1),
    "turned": lambda h: h.transpose(2, 3),
    "moved": lambda h: h.permute(0, 2, 3, 1).mean(1),
    "some rows": lambda h: h[:, :, 1:4],
    "every second column": lambda h: h[..., ::2],
    "one place": lambda h: h[:, :, 2, 3],
    "twice": lambda h: h + 2 * h,
    "from right to left": lambda h: h.flip(3),
    "rolled": lambda h: h.roll((1, 2), (2, 3)),
    "repeated": lambda h: h[:, :, 1:2].expand(-1, -1, 4, -1),
    "two pieces": lambda h: h.split([2, h.shape[2] - 2], 2)[1],
    "columns times a matrix": lambda h: h @ MATRIX[: h.shape[3]],
    "columns times a vector": lambda h: h @ MATRIX[: h.shape[3], :1],
    "a matrix times rows": lambda h: (MATRIX.T[:, : h.shape[2]] @ h.transpose(1, 2).flatten(2)).unflatten(2, (2, -1)),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("padding", [(1, 0), (2, 1)])
def test_one_layer_and_a_map_of_its_positions(name, padding):
    check(Then(nn.Conv2d(2, 2, (3, 2), padding=padding), MAPS[name]), IMAGE)


@pytest.mark.parametrize("name", ["average of windows", "bilinear", "zeros around", "mean over rows", "turned"])
def test_a_random_readout_of_a_map_of_positions(name):
    """Two layers: the outputs have covariance r^2 |h|^2 summed over all entries of h, plus that of the bias."""
    body = Then(nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(2, 1)), MAPS[name]).double()
    x = torch.randn(3, *IMAGE, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    entries = body(x)[0].numel()
    net = nn.Sequential(body, nn.Flatten(), nn.Linear(entries, 2)).double()
    readout = 1 / (3 * entries)
    wanted = readout * entries * both(body, x)[1] + readout
    assert torch.allclose(gnomon.limit(net).nngp(x), wanted, rtol=1e-12)


def test_a_matrix_of_positions_times_a_sequence():
    """(batch, positions, channels), with the matrix on the left."""
    check(Then(nn.Linear(5, 4), lambda h: MATRIX[:3].T.contiguous() @ h), (3, 5))
    check(Then(nn.Linear(5, 4), lambda h: MATRIX[:3, :1].T.contiguous() @ h), (3, 5))


class Bare(nn.Module):
    """A convolution by a function, with parameters of the module's own."""

    def __init__(self, shape, function, bias=True):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.ones(shape[0])) if bias else None
        self.function = function

    def forward(self, x):
        return self.function(x, self.weight, self.bias)


FUNCTIONS = {
    "a line": ((4, 2, 3), LINE, lambda x, w, b: F.conv1d(x, w, b, 2, 3, 2)),
    "an image": ((4, 2, 3, 2), IMAGE, lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0), (1, 3))),
    "an image by name": ((4, 2, 3, 2), IMAGE, lambda x, w, b: F.conv2d(x, w, bias=b, dilation=(2, 1), padding=(2, 0))),
    "groups": ((4, 1, 3, 2), IMAGE, lambda x, w, b: F.conv2d(x, w, b, 1, 0, 1, 2)),
    "one stride": ((3, 2, 2), LINE, lambda x, w, b: F.conv1d(x, w, b, stride=3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_convolutions_by_a_function(name):
    shape, points, function = FUNCTIONS[name]
    x = torch.randn(3, *points, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    net = Bare(shape, function).double()
    j = jacobian(net, x)
    limit = gnomon.limit(net, init={"weight": gnomon.InitializationLaw(1.5, 0.7)})
    assert torch.allclose(limit.ntk(x), torch.einsum("iap,jap->ij", j, j) / j.shape[1], rtol=1e-12)
    count = prod(shape)
    variances = torch.cat([torch.full((count,), 1.5**2 / prod(shape[1:])), torch.full((shape[0],), 0.7**2)]).double()
    assert torch.allclose(limit.nngp(x), torch.einsum("iap,jap,p->ij", j, j, variances) / j.shape[1], rtol=1e-12)


def test_padding_with_another_number_is_refused():
    for function in (lambda h: F.pad(h, (1, 1), "constant", 2.0), nn.ConstantPad2d(1, 2.0)):
        with pytest.raises(gnomon.UnsupportedModuleError, match="a constant other than zero"):
            gnomon.limit(Then(nn.Conv2d(2, 3, 3), function)).ntk(torch.zeros(2, *IMAGE))


def test_one_channel_of_several_is_not_a_limit_and_the_only_one_is():
    with pytest.raises(gnomon.UnsupportedModuleError, match="selects a sample or a channel"):
        gnomon.limit(Then(nn.Conv1d(2, 3, 3), lambda h: h[:, 0])).ntk(torch.zeros(2, *LINE))
    check(Then(nn.Conv1d(2, 1, 3), lambda h: h[:, 0]), LINE)


def test_recurrent_layers_keep_the_share_of_states_that_dropout_leaves():
    net = nn.RNN(3, 5, num_layers=2, dropout=0.3, batch_first=True, bidirectional=True)

    class States(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.head = net, nn.Linear(10, 1)

        def forward(self, x):
            return self.head(self.rnn(x)[0].mean(1))

    program = read_program(States().train(), torch.zeros(1, 4, 3))
    assert [step.op.keep for step in program.steps if isinstance(step.op, Dropout)] == [pytest.approx(0.7)]
    assert {step.channels for step in program.steps if isinstance(step.op, Concat)} == {10}  # both directions


def test_padding_masks_hide_keys_with_a_finite_number():
    mask, low = Hidden(nn.Identity()), pytest.approx(-1e30)
    assert mask(torch.tensor([[0.0, -2.0, -torch.inf]])).flatten().tolist() == [0.0, -2.0, low]
    assert mask(torch.tensor([[True, False]])).flatten().tolist() == [low, 0.0]


def test_batch_norm_of_equal_variances_is_a_factor():
    """Frozen gain and bias of a fresh BatchNorm: h / sqrt(v + eps)."""
    norm = nn.BatchNorm2d(2, eps=0.5).eval()
    norm.running_var.fill_(1.75)
    net = Then(nn.Conv2d(2, 2, 3), lambda h: h).double()
    x = torch.randn(3, *IMAGE, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    normed = nn.Sequential(copy.deepcopy(net.layer), norm.requires_grad_(False)).double()
    assert torch.allclose(gnomon.limit(normed).nngp(x), both(net, x)[1] / 2.25, rtol=1e-6)  # the buffer is float32


class GCNConv(nn.Module):
    """A layer that looks like the one of PyTorch Geometric: M h W^T + b over a graph."""

    def __init__(self, inputs, outputs, **options):
        super().__init__()
        self.lin, self.bias = nn.Linear(inputs, outputs, bias=False), nn.Parameter(torch.zeros(outputs))
        self.in_channels, self.out_channels, self.aggr_module = inputs, outputs, None
        self.normalize, self.add_self_loops, self.improved = True, True, False
        for name, value in options.items():
            setattr(self, name, value)

    def propagate(self): ...

    def message(self): ...

    def forward(self, x, edge_index, edge_weight=None):
        return self.lin(x) + self.bias


@pytest.mark.parametrize(
    "options", [{}, {"improved": True}, {"add_self_loops": False}, {"normalize": False}], ids=lambda o: "-".join(o)
)
def test_graph_convolutions_couple_nodes_by_degrees_and_draw_by_glorots_rule(options):
    """Edges run from sources to targets; node 4 has no edge, node 0 a loop of its own; variance 2 / (3 + 5)."""
    edges = torch.tensor([[0, 1, 1, 2, 0, 3], [1, 0, 2, 1, 0, 1]])
    net = GCNConv(3, 5, **options)
    a = torch.zeros(5, 5, dtype=torch.float64)
    for source, target in edges.T.tolist():
        a[target, source] += 1
    if net.normalize:
        for i in range(5 if net.add_self_loops else 0):
            a[i, i] = 1.0 if a[i, i] > 0 else 2.0 if net.improved else 1.0
        degree = a.sum(1)
        scale = torch.tensor([d**-0.5 if d > 0 else 0.0 for d in degree.tolist()], dtype=torch.float64)
        a = scale[:, None] * a * scale
    x = torch.randn(2, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    h = a @ x
    wanted = torch.einsum("inc,jnc->ij", h, h) / 5
    limit = gnomon.limit(ModuleOnGraph(net, edges))
    assert torch.allclose(limit.nngp(x), 2 / 8 * wanted, rtol=1e-12)
    assert torch.allclose(limit.ntk(x), wanted + 1, rtol=1e-12)


def test_attention_projections_are_drawn_as_torch_draws_them():
    """Xavier uniform of the packed matrix: variance 2 / (4 d); the output projection: uniform, 1 / (3 d)."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(12, 2, batch_first=True)

        def forward(self, x):
            return self.attention(x, x, x, need_weights=False)[0]

    drawn = {w.path: w.drawn for w in read_program(Net(), torch.zeros(1, 4, 12)).weights}
    for path, pair in drawn.items():
        wanted = 1 / 36 if "out_proj" in path else 2 / 48
        assert pair == pytest.approx((wanted**0.5, 0.0)), path
    assert len(drawn) == 4


def test_attention_to_keys_and_values_of_other_sizes_is_drawn_matrix_by_matrix():
    """Xavier uniform of each: variance 2 / (12 + its inputs)."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(12, 2, kdim=6, vdim=4, batch_first=True)
            self.key, self.value, self.query = nn.Linear(3, 6), nn.Linear(3, 4), nn.Linear(3, 12)

        def forward(self, x):
            return self.attention(self.query(x), self.key(x), self.value(x), need_weights=False)[0]

    drawn = {w.path: w.drawn for w in read_program(Net(), torch.zeros(1, 5, 3)).weights if "_proj_weight" in w.path}
    sizes = {"q": 12, "k": 6, "v": 4}
    assert len(drawn) == 3
    for path, pair in drawn.items():
        assert pair == pytest.approx(((2 / (12 + sizes[path.split(".")[-1][0]])) ** 0.5, 0.0)), path


@pytest.mark.parametrize(
    ("name", "x", "y", "expected"),
    [
        ("add", (2.0, 3.0), (5.0, 7.0), (7.0, 10.0)),
        ("sub", (2.0, 3.0), (5.0, 7.0), (-3.0, -4.0)),
        ("mul", (0.0, 3.0), (5.0, 7.0), (15.0, 21.0)),
        ("mul", (5.0, 7.0), (0.0, 3.0), (15.0, 21.0)),
        ("mul", (5.0, 7.0), (2.0, 3.0), None),
        ("div", (5.0, 7.0), (0.0, 2.0), (2.5, 3.5)),
        ("div", (5.0, 7.0), (0.0, 0.0), None),
        ("div", (0.0, 7.0), (2.0, 3.0), None),
        ("add", None, (5.0, 7.0), None),
    ],
)
def test_lines_are_combined_by_slope_and_intercept(name, x, y, expected):
    assert _combine(name, x, y) == expected
