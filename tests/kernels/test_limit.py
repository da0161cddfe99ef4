"""The front door: exact symmetry, duplicates, tiles, precision, gradients, cost, and every kind of bad input."""

import inspect
import math

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import BudgetError, InitializationLaw, InputError, NoLimitError, NotFiniteError, UnsupportedModuleError
from gnomon.kernels import cost
from gnomon.kernels.cost import needs
from gnomon.models import SelfAttention
from tests.oracles import recursion
from tests.shares import in_full

EPS = torch.finfo(torch.float64).eps


class Erf(nn.Module):
    def forward(self, x):
        return torch.erf(x)


def mlp(activation=nn.ReLU, d=10, depth=2):
    hidden = [m for _ in range(depth - 1) for m in (nn.Linear(32, 32), activation())]
    return nn.Sequential(nn.Linear(d, 32), activation(), *hidden, nn.Linear(32, 2))


def cnn():
    layers = [nn.Conv2d(2, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(16, 16, 3), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 1))


TILED = {  # by the reference engine
    "elu": (mlp(nn.ELU), (10,)),
    "attention": (
        nn.Sequential(
            nn.Linear(3, 8), SelfAttention(8, heads=2), nn.Linear(8, 8), nn.ReLU(), nn.Flatten(), nn.Linear(32, 1)
        ),
        (4, 3),
    ),
}


def points(n, *shape):
    return torch.randn(n, *shape, dtype=torch.float64)


NETS = {
    "relu": (mlp(), (10,)),
    "erf": (mlp(Erf), (10,)),
    "gelu": (mlp(nn.GELU), (10,)),
    "tanh": (mlp(nn.Tanh), (10,)),
    "cnn": (cnn(), (2, 8, 8)),
}


@pytest.mark.parametrize("parametrization", ["standard", "ntk"])
@pytest.mark.parametrize("name", ["relu", "gelu"])
def test_agrees_with_the_recursion_by_hand(name, parametrization):
    net, _ = NETS[name]
    x, y = points(3, 10), points(2, 10)
    law = InitializationLaw(1.3, 0.4)
    spec = recursion.spec_of(net, lambda layer: (law.weight_std, law.bias_std))
    nngp, ntk = recursion.kernels(spec, x.numpy(), y.numpy(), parametrization)
    got = gnomon.limit(net, init=law, parametrization=parametrization)(x, y)
    assert np.allclose(got.nngp, nngp, rtol=1e-9, atol=0)
    assert np.allclose(got.ntk, ntk, rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", NETS)
def test_symmetric_to_the_last_bit_and_equal_to_both_sides(name):
    net, shape = NETS[name]
    x = points(7, *shape)
    lim = gnomon.limit(net)
    own, twice = lim(x), lim(x, x.clone())
    for a, b in ((own.nngp, twice.nngp), (own.ntk, twice.ntk)):
        assert torch.equal(a, a.T)
        assert torch.allclose(a, b, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", NETS)
def test_duplicates_are_exact(name):
    net, shape = NETS[name]
    x = points(4, *shape)
    doubled = torch.cat([x, x])
    k = gnomon.limit(net)(doubled)
    for kernel in (k.nngp, k.ntk):
        ratio = kernel[:4, 4:].diag() / kernel.diag()[:4] - 1
        assert ratio.abs().max() <= 64 * EPS  # not 1e-8, as after an arccos of a rounded one
    cross = gnomon.limit(net).ntk(x, x.clone())
    assert (cross.diag() / k.ntk.diag()[:4] - 1).abs().max() <= 64 * EPS


def test_duplicates_of_many_features_are_exact():
    x = points(3, 3000)
    k = gnomon.limit(mlp(d=3000)).ntk(torch.cat([x, x[:1]]), x)
    own = gnomon.limit(mlp(d=3000)).ntk(x)
    assert (k[3] / own[0] - 1).abs().max() <= 64 * EPS


@pytest.mark.parametrize("name", in_full(["elu", "attention"], except_for=["attention"]))
@pytest.mark.parametrize("symmetric", in_full([True, False], except_for=[True]))
def test_tiles_do_not_change_the_result(name, symmetric):
    net, shape = TILED[name]
    x, y = points(13, *shape), None if symmetric else points(9, *shape)
    lim = gnomon.limit(net)
    whole = lim(x, y)
    size, memory = (13, 13 if symmetric else 9), lim.cost(x, y).memory
    need = {"kinds": ("nngp", "ntk"), "word": 8}
    while needs(lim.plan(x), *size, memory=memory, **need).tile > 20:
        memory = int(0.9 * memory)
    assert needs(lim.plan(x), *size, memory=memory, **need).memory <= memory
    tiled = gnomon.limit(net, memory=memory)
    assert tiled.cost(x, y).tile <= 20
    parts = tiled(x, y)
    for part, one in ((parts.nngp, whole.nngp), (parts.ntk, whole.ntk)):
        rounding = 64 * EPS * one.abs().max()  # of sums whose terms are as large as that, however small the entry
        assert (part - one).abs().max() <= rounding
    if symmetric:
        assert torch.equal(parts.ntk, parts.ntk.T)


def test_float32_on_request_and_accurate():
    x = points(20, 10)
    x[1] = x[0] + 1e-6 * points(1, 10)[0]  # nearly equal: where float32 arithmetic would lose four digits
    exact, single = gnomon.limit(mlp())(x), gnomon.limit(mlp(), dtype=torch.float32)(x.float())
    assert single.ntk.dtype is torch.float32
    assert ((single.ntk - exact.ntk) / exact.ntk).abs().max() <= 2e-5


def test_arrays_and_lower_precision_are_taken_as_they_are():
    x = points(4, 10)
    lim = gnomon.limit(mlp())
    assert torch.equal(lim.ntk(x), lim.ntk(x.numpy()))
    assert torch.allclose(lim.ntk(x.float()), lim.ntk(x), rtol=1e-5)
    assert torch.equal(lim.ntk(x), lim.ntk(x.repeat(1, 2)[:, ::2].repeat(1, 2)[:, :10] * 0 + x))


@pytest.mark.parametrize("name", in_full(NETS, except_for=[name for name in NETS if name != "tanh"]))
def test_differentiable_in_the_inputs(name):
    net, shape = NETS[name]
    size = (2, *shape) if name != "cnn" else (2, 2, 4, 4)
    x = (0.5 * points(*size)).requires_grad_()
    net = (
        net
        if name != "cnn"
        else nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(32, 1))
    )
    lim = gnomon.limit(net)
    assert torch.autograd.gradcheck(lambda a: lim(a[:1], a[1:]).ntk, (x,), atol=1e-6)
    (gradient,) = torch.autograd.grad(lim.nngp(x).sum(), x)  # the diagonal is in it: no NaN from arccos
    assert torch.isfinite(gradient).all()


def test_gradients_are_not_kept_unless_asked_for():
    assert not gnomon.limit(mlp()).ntk(points(3, 10)).requires_grad


@pytest.mark.parametrize("kind", [("nngp",), ("ntk",), ("nngp", "ntk")])
def test_tangents_are_counted_where_they_are_carried(kind):
    """The NTK alone carries two arrays through every layer, as both kernels do; the NNGP carries one."""
    made = gnomon.limit(mlp(nn.ELU)).plan(points(2, 10))
    one, two = made.pair_entries(tangent=False), made.pair_entries(tangent=True)
    need = needs(made, 100, 100, kinds=kind, word=8, memory=2**30)
    assert two > one and need.workspace >= 8 * 100 * 100 * (two if "ntk" in kind else one)
    assert need.result == 8 * 100 * 100 * len(kind)


def test_cost_is_measured_on_growing_numbers_of_points_and_extrapolated(monkeypatch):
    """A clock that every call moves by what (1) says gives (1) back, without what the first call takes to set up."""
    now, calls = [0.0], []

    def run(n1, n2):
        calls.append((n1, n2))
        now[0] += 0.02 + 1e-4 * (n1 + n2) + 1e-6 * n1 * n2 + (30.0 if len(calls) == 1 else 0.0)

    monkeypatch.setattr(cost, "perf_counter", lambda: now[0])
    monkeypatch.setattr(cost.torch, "get_num_threads", lambda: 1)
    found = cost.seconds(run, 5000, 3000, symmetric=False)
    assert found == pytest.approx(0.02 + 0.8 + 15.0, rel=1e-6)
    assert max(calls) < (1024, 1024)
    small = cost.seconds(run, 3, 2, symmetric=False)
    assert small == pytest.approx(0.02 + 5e-4 + 6e-6)


@pytest.mark.parametrize("threads", [1, 2])
def test_cost_counts_each_pair_of_one_set_of_points_once(monkeypatch, threads):
    """On one thread n^2 would be fitted as well; how many pairs a second thread waits for tells the two apart."""
    now = [0.0]

    def run(n1, n2):
        pairs = n1 * (n1 + 1) / 2
        now[0] += 0.02 + 1e-6 * pairs / max(1, min(threads, pairs / cost.MIN_PAIRS_PER_THREAD))

    monkeypatch.setattr(cost, "perf_counter", lambda: now[0])
    monkeypatch.setattr(cost.torch, "get_num_threads", lambda: threads)
    found = cost.seconds(run, 5000, 5000, symmetric=True)
    assert found == pytest.approx(0.02 + 1e-6 * 5000 * 5001 / 2 / threads, rel=1e-9)


def test_what_every_call_takes_is_not_taken_for_the_price_of_a_pair(monkeypatch):
    """A call whose first trial already takes a tenth of a second, whatever the points: deep or slow machines."""
    now = [0.0]

    def run(n1, n2):
        now[0] += 0.3 + 2e-7 * n1 * n2

    monkeypatch.setattr(cost, "perf_counter", lambda: now[0])
    monkeypatch.setattr(cost.torch, "get_num_threads", lambda: 1)
    found = cost.seconds(run, 5000, 5000, symmetric=False)
    assert found == pytest.approx(0.3 + 5.0, rel=1e-6)


def test_cost_of_the_points_themselves():
    x = points(30, 10)
    said = gnomon.limit(mlp(nn.Tanh)).cost(x.numpy(), x[:20], kind=("ntk",))
    assert (said.n1, said.n2, said.result) == (30, 20, 30 * 20 * 8)
    assert 0 < said.seconds < 60 and said.compilation >= 0
    with pytest.raises(InputError, match="n1 must be a whole number of at least 1, but it is 0"):
        gnomon.limit(mlp()).cost(0)
    with pytest.raises(InputError, match="kind must be"):
        gnomon.limit(mlp()).cost(3, kind=("gram",))


def test_cost_is_said_before_anything_is_allocated():
    said = gnomon.limit(mlp()).cost(200_000)
    assert said.result == 2 * 200_000**2 * 8
    assert not said.fits and "does not fit" in str(said)
    assert gnomon.limit(mlp()).cost(100).fits


def test_cost_needs_the_shape_of_an_image():
    with pytest.raises(InputError, match=r"Pass shape=\(c, h, w\)"):
        gnomon.limit(cnn()).cost(10)
    assert gnomon.limit(cnn()).cost(10, shape=(2, 8, 8)).seconds > 0


def test_too_large_for_memory_is_refused_with_the_figure():
    with pytest.raises(BudgetError, match=r"2000 x 2000 kernel needs .*MiB.*MiB may be used"):
        gnomon.limit(mlp(), memory=10_000_000).ntk(points(2000, 10))


BAD = {
    "nan": (torch.full((2, 10), float("nan")), "NaN or infinite values, first in row 0"),
    "inf": (torch.tensor([[1.0] * 10, [float("inf")] + [0.0] * 9]), "first in row 1"),
    "integer": (torch.ones(2, 10, dtype=torch.int64), r"dtype torch.int64.*x1.double\(\)"),
    "boolean": (torch.ones(2, 10, dtype=torch.bool), "dtype torch.bool"),
    "complex": (torch.ones(2, 10, dtype=torch.complex64), "dtype torch.complex64"),
    "empty": (torch.ones(0, 10), "x1 is empty"),
    "one point without batch": (torch.ones(10), r"x1\[None\]"),
    "a ragged list": ([[1.0] * 10, [1.0]], "x1 is a list of rows with different lengths"),
    "wrong feature size": (torch.ones(2, 7), r"'0' cannot take inputs of shape \(n, 7\)"),
    "object array": (np.array([["a"] * 10], dtype=object), "x1 holds text"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_lesson(name):
    x, message = BAD[name]
    with pytest.raises(InputError, match=message):
        gnomon.limit(mlp()).ntk(x)


def test_two_sides_of_different_shape():
    with pytest.raises(InputError, match="same shape"):
        gnomon.limit(mlp()).ntk(points(2, 10), points(2, 9))


def test_bad_options():
    limit = inspect.unwrap(gnomon.limit)  # without the test run's own type checks
    with pytest.raises(InputError, match="parametrization must be .*'mup'"):
        limit(mlp(), parametrization="mup")
    with pytest.raises(InputError, match="dtype must be .* torch.int64"):
        limit(mlp(), dtype=torch.int64)
    with pytest.raises(InputError, match="the module is a type"):
        limit(nn.Linear)


def test_errors_of_reading_pass_through():
    with pytest.raises(NoLimitError, match="BatchNorm in training mode"):
        gnomon.limit(nn.Sequential(nn.Linear(10, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))).ntk(points(2, 10))
    with pytest.raises(UnsupportedModuleError, match="cannot be traced"):

        class Branching(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(10, 1)

            def forward(self, x):
                return self.a(x) if x.sum() > 0 else -self.a(x)

        gnomon.limit(Branching()).ntk(points(2, 10))


def test_overflow_is_said():
    net = nn.Sequential(nn.Linear(10, 8), Exp(), nn.Linear(8, 8), Exp(), nn.Linear(8, 1))
    with pytest.raises(NotFiniteError, match="exceeds the range"):
        gnomon.limit(net, init=InitializationLaw(5.0)).nngp(10 * points(2, 10))
    with pytest.raises(NotFiniteError, match="overflow"):
        gnomon.limit(mlp(depth=10), init=InitializationLaw(1e20)).nngp(points(2, 10))


class Exp(nn.Module):
    def forward(self, x):
        return torch.exp(x)


def test_preprocessing_that_mixes_the_batch_is_refused():
    class Centered(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(10, 1)

        def forward(self, x):
            return self.a(x - x.mean(0))

    with pytest.raises(InputError, match="rest of the batch"):
        gnomon.limit(Centered()).ntk(points(3, 10))


def test_preprocessing_inside_forward_is_applied_to_the_data():
    class Prepared(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = mlp()
            self.register_buffer("mean", torch.randn(10))
            self.register_buffer("map", torch.randn(10, 10))

        def forward(self, x):
            return self.net(((x - self.mean) / 2.0) @ self.map)

    net, x = Prepared(), points(4, 10)
    before = net.mean.dtype
    wanted = gnomon.limit(net.net).ntk(((x - net.mean) / 2) @ net.map.double())
    assert torch.allclose(gnomon.limit(net).ntk(x), wanted, rtol=1e-12)
    assert net.mean.dtype is before


def test_zero_inputs_give_no_nan():
    x = torch.zeros(3, 10, dtype=torch.float64)
    net = nn.Sequential(nn.Linear(10, 8, bias=False), nn.ReLU(), nn.Linear(8, 1, bias=False))
    assert torch.equal(gnomon.limit(net).ntk(x), torch.zeros(3, 3, dtype=torch.float64))
    assert torch.isfinite(gnomon.limit(mlp()).ntk(x)).all()


def test_a_linear_network_has_the_linear_kernel():
    net = nn.Sequential(nn.Linear(10, 64), nn.Linear(64, 1, bias=False))
    x = points(5, 10)
    gram = x @ x.T
    assert torch.allclose(gnomon.limit(net).nngp(x), (gram + 1) / 30 / 3, rtol=1e-12)  # variances 1/(3 fan_in)
    assert torch.allclose(gnomon.limit(net).ntk(x), 64 * (gram + 1) / 30 + (gram + 1) / 3, rtol=1e-12)


def test_frozen_layers_have_no_tangent():
    net, x = mlp(), points(4, 10)
    full = gnomon.limit(net).ntk(x)
    parts = torch.zeros_like(full)
    for chosen in net.parameters():
        for p in net.parameters():
            p.requires_grad_(p is chosen)
        parts += gnomon.limit(net).ntk(x)
    assert torch.allclose(parts, full, rtol=1e-12)


def test_measured_law_follows_the_weights():
    net, x = mlp(), points(3, 10)
    with torch.no_grad():
        for name, p in net.named_parameters():
            p.mul_(0.0 if "bias" in name else 1.0)
    plain = gnomon.limit(net, init="measured").nngp(x)
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(2.0)
    doubled = gnomon.limit(net, init="measured").nngp(x)
    assert torch.allclose(
        doubled, 4**3 * plain, rtol=1e-6
    )  # three layers, each positively homogeneous; float32 weights


def test_outputs_with_positions_are_averaged_over_them():
    net = nn.Sequential(nn.Conv1d(3, 8, 3), nn.ReLU(), nn.Conv1d(8, 1, 1))
    flat = nn.Sequential(nn.Conv1d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 4, 1))
    x = points(3, 3, 6)
    law = InitializationLaw(1.0, 0.1)
    dense = gnomon.limit(flat, init=law, parametrization="ntk").nngp(x)
    assert torch.allclose(gnomon.limit(net, init=law, parametrization="ntk").nngp(x), dense, rtol=1e-12)


def test_the_module_may_be_in_double_precision_or_a_single_layer():
    x = points(3, 10)
    assert torch.allclose(gnomon.limit(mlp().double()).ntk(x), gnomon.limit(mlp()).ntk(x), rtol=1e-12)
    assert torch.allclose(gnomon.limit(nn.Linear(10, 1)).ntk(x), x @ x.T + 1, rtol=1e-12)


def test_depth_thirty_stays_exact_on_the_diagonal():
    net = mlp(depth=30)
    x = points(5, 10)
    k = gnomon.limit(net, init=InitializationLaw(math.sqrt(2)), parametrization="ntk").ntk(x).diag()
    assert torch.allclose(k, 31 * 2 * x.square().mean(1), rtol=1e-13)  # every layer keeps and adds 2 v


def tripled(net, kind):
    if kind == "hook":
        net.register_forward_hook(lambda module, args, out: 3 * out)
    elif kind == "pre-hook":
        net[0].register_forward_pre_hook(lambda module, args: (3 * args[0],))
    return net


@pytest.mark.parametrize("kind", ["hook", "pre-hook"])
def test_hooks_that_change_the_output_are_refused_and_sampled(kind):
    x = torch.eye(10).double()[:3]
    with pytest.raises(UnsupportedModuleError, match="has a forward hook, which may change what it returns"):
        gnomon.limit(tripled(mlp(), kind)).ntk(x)
    both = [gnomon.sampled_limit(net, draws=2).nngp(x) for net in (mlp(), tripled(mlp(), kind))]
    assert not torch.allclose(*both), "sampling honors them"  # both draw the same weights


def test_a_hook_that_comes_or_goes_is_noticed():
    net, x = mlp(), torch.eye(10).double()[:3]
    lim = gnomon.limit(net)
    plain = lim.ntk(x)
    for register in (net[0].register_forward_hook, nn.modules.module.register_module_forward_hook):
        handle = register(lambda *_: None)
        try:
            with pytest.raises(UnsupportedModuleError, match="forward hook"):
                lim.ntk(x)
        finally:
            handle.remove()
        assert torch.equal(lim.ntk(x), plain)


def test_the_random_state_is_not_moved():
    net, before = mlp(), torch.get_rng_state()
    gnomon.limit(net).ntk(torch.eye(10).double()[:3])
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("x", [{"ids": torch.zeros(3, 2)}, (torch.zeros(3, 2), torch.zeros(3, 2))])
def test_several_inputs_are_refused_with_an_estimate_that_takes_them(x):
    with pytest.raises(InputError, match=r"formulas are for networks with one input.*sampled_limit"):
        gnomon.limit(nn.Linear(2, 1)).ntk(x)
    assert gnomon.limit(nn.Linear(2, 1)).ntk([[1.0, 2.0], [3.0, 4.0]]).shape == (2, 2)


def test_the_first_kernel_of_a_process_costs_setup_and_compilation_as_well():
    found = gnomon.limit(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))).cost(20)
    assert (
        found.setup > cost.IMPORT_SECONDS == 0.2 and found.first_call == found.setup + found.compilation + found.seconds
    )
