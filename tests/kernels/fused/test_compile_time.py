"""Compilation is counted before it starts, for the loops and the types that a kernel will really use."""

from importlib import import_module

import pytest
import torch
from numba import typeof
from torch import nn

import gnomon
from gnomon.core.machine import loops
from gnomon.kernels.fused import chain_loops, planes

IMAGES = torch.randn(5, 1, 6, 6, generator=torch.Generator().manual_seed(0))
DENSE = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)), IMAGES[:, 0, 0, :3]
POOLED = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(16, 1)), IMAGES
FLAT = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 1)), IMAGES
SMOOTH = nn.Sequential(nn.Linear(3, 8), nn.Sigmoid(), nn.Linear(8, 1)), IMAGES[:, 0, 0, :3]
SINGLE, DOUBLE = torch.float32, torch.float64


@pytest.fixture
def called(monkeypatch):
    """The loops that kernels call, with the types of their arguments; they compute nothing."""
    seen = set()
    for room, name in ((chain_loops, "chain"), (planes, "stage"), (planes, "sweep")):

        def record(*arguments, name=name):
            seen.add((name, *map(typeof, arguments)))
            return 0

        monkeypatch.setattr(room, name, record)
    return seen


@pytest.fixture
def asked(monkeypatch):
    """The loops that are looked up, with the types that they are looked up for; none is kept."""
    seen = set()

    def kept(loop, *arguments):
        name = loop.py_func.__name__ if hasattr(loop, "py_func") else loop.__kwdefaults__["name"]
        seen.add((name, *map(typeof, arguments)))
        return False

    monkeypatch.setattr(loops, "is_compiled", kept)
    return seen


@pytest.mark.parametrize(
    "case, dtype, seconds",
    [(DENSE, DOUBLE, 8), (DENSE, SINGLE, 8), (POOLED, DOUBLE, 20), (POOLED, SINGLE, 40), (FLAT, DOUBLE, 23), (FLAT, SINGLE, 43)],
    ids=["dense", "dense, single", "pooled", "pooled, single", "flat", "flat, single"],
)  # fmt: skip
def test_what_is_counted_is_what_is_called(called, asked, case, dtype, seconds):
    net, x = case
    lim = gnomon.Limit(net, dtype=dtype, compiled=True)
    assert lim.compile_seconds(x) == seconds and not called
    lim.ntk(x)
    assert called and called <= asked


def test_what_is_kept_is_not_counted(called, monkeypatch):
    monkeypatch.setattr(loops, "is_compiled", lambda loop, *arguments: True)
    assert [gnomon.Limit(net, compiled=True).compile_seconds(x) for net, x in (DENSE, POOLED, FLAT, SMOOTH)] == [
        0.0
    ] * 4


def test_torch_alone_needs_no_loops_and_gives_the_same_kernel(called, asked):
    for net, x in (DENSE, POOLED, FLAT):
        plain = gnomon.Limit(net, compiled=False)
        assert plain.compile_seconds(x) == 0.0
        assert plain.ntk(x).diagonal().min() > 0 and not called


@pytest.mark.parametrize("case, seconds", [(DENSE, 8), (POOLED, 20), (FLAT, 23)])
def test_cost_says_what_compiling_takes_and_compiles_nothing(called, asked, case, seconds):
    net, x = case
    said = gnomon.Limit(net, compiled=True).cost(x)
    assert said.compilation == seconds and not called
    assert f"s, plus about {seconds} s to compile loops the first time; fits" in str(said)


def test_before_loops_are_compiled_the_time_is_a_fifth_of_what_torch_takes(called, asked, monkeypatch):
    monkeypatch.setattr(
        import_module("gnomon.kernels.limit"), "seconds", lambda run, n1, n2, symmetric: run(n1, n2) and 5.0
    )
    said = gnomon.Limit(DENSE[0], compiled=True).cost(DENSE[1])
    assert said.seconds == 1.0 and not called and "about 1 s, plus about 8 s" in str(said)
    assert said.first_call == said.setup + 9.0
    assert gnomon.Limit(DENSE[0], compiled=False).cost(DENSE[1]).seconds == 5.0  # torch itself


@pytest.mark.parametrize("layer", [nn.SiLU(), nn.Tanh(), nn.GELU()])
def test_kernels_that_torch_computes_in_tiles_wait_for_no_compiler(layer):
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), layer, nn.Conv2d(16, 16, 3, padding=1), layer, nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(16, 1),
    )  # fmt: skip
    x = torch.zeros(1, 3, 8, 8).expand(200, 3, 8, 8)
    assert gnomon.limit(net).compile_seconds(x) == 0.0


def test_cost_of_compiled_loops_has_no_compilation():
    net, x = DENSE
    lim = gnomon.limit(net)
    lim.ntk(x)
    said = lim.cost(x)
    assert said.compilation == 0.0 and "compile" not in str(said)
