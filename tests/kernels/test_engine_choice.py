"""Which engine computes a kernel: torch for small problems, compiled loops once they pay."""

import sys
from subprocess import run
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.kernels.fused.background import SWITCH
from gnomon.kernels.fused.dense import CompiledChain, _arithmetic
from gnomon.kernels.limit import Limit
from gnomon.kernels.prepare import LOAD_SECONDS, PlanCache

NET = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))


@pytest.fixture
def not_loaded(monkeypatch):
    def set_compile_seconds(seconds):
        monkeypatch.setattr(CompiledChain, "is_loaded", lambda self, dtype: False)
        monkeypatch.setattr(CompiledChain, "compile_seconds", lambda self, dtype: seconds)
        monkeypatch.setenv(SWITCH, "off")

    return set_compile_seconds


def uses_loops(plans, n, compiled=None, **options):
    x = torch.zeros(1, 3).expand(n, 3)
    return plans.engine((x, x), torch.float64, compiled=compiled, **options).compiled is not None


def plans():
    return PlanCache(NET, "torch", standard=True, torch_seconds={})


def test_small_kernels_are_computed_by_torch_and_large_ones_by_loops(not_loaded):
    not_loaded(0.0)
    # two activations at 2e-8 s per pair: 4,900 points take 0.96 s, 5,100 take 1.04 s, loading loops 1 s
    assert not uses_loops(plans(), 4900)
    assert uses_loops(plans(), 5100)


def test_loops_are_compiled_only_if_torch_takes_longer_than_compiling(not_loaded):
    not_loaded(8.0)
    assert not uses_loops(plans(), 14_000)  # 7.8 s
    assert uses_loops(plans(), 14_500)  # 8.4 s


def test_many_small_kernels_pay_for_the_loops_together(not_loaded):
    not_loaded(0.0)
    one = plans()
    choices = [uses_loops(one, 3500) for _ in range(4)]  # 0.49 s each
    assert choices == [False, False, True, True] and LOAD_SECONDS == 1.0


def test_tentative_questions_do_not_count(not_loaded):
    not_loaded(0.0)
    one = plans()
    assert [uses_loops(one, 3500, tentative=True) for _ in range(4)] == [False] * 4


def test_loops_in_memory_are_used_for_any_size():
    assert uses_loops(plans(), 2)


@pytest.mark.parametrize("choice", [True, False])
def test_the_choice_can_be_forced(not_loaded, choice):
    not_loaded(0.0)
    assert uses_loops(plans(), 2, compiled=choice) is choice
    assert uses_loops(plans(), 10**6, compiled=choice) is choice


def test_both_engines_give_the_same_kernel():
    x = torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    with_loops, with_torch = (Limit(NET, compiled=choice).ntk(x) for choice in (True, False))
    assert torch.allclose(with_loops, with_torch, rtol=1e-12, atol=0)


def test_the_first_small_kernel_does_not_import_numba():
    code = "import sys, torch, gnomon; gnomon.limit(torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))).ntk(torch.ones(3, 2)); print('numba' in sys.modules)"
    assert run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_activations_without_a_closed_form_take_torch_longer(not_loaded):
    not_loaded(0.0)
    numeric = PlanCache(
        nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)), "torch", standard=True, torch_seconds={}
    )
    assert not uses_loops(numeric, 3000) and uses_loops(numeric, 3300)  # 1e-7 s per pair: 0.9 s and 1.1 s


@pytest.mark.parametrize(
    ("layer", "side", "faster"),
    [
        (nn.ReLU(), 8, True),
        (nn.LeakyReLU(), 8, True),
        (nn.GELU(), 8, False),
        (nn.SiLU(), 8, False),
        (nn.Tanh(), 8, False),
        (nn.GELU(), 10, True),
    ],
)
def test_convolutions_use_loops_only_for_activations_that_are_faster_there(layer, side, faster):
    """A layer has 4,096 pairs of pixels in images of 8 x 8 and 10,000 in images of 10 x 10; torch is better below
    8,192."""
    last = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 1)
    net, x = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), layer, *last), torch.zeros(2, 1, side, side)
    pooled = PlanCache(net, "torch", standard=True, torch_seconds={})
    assert (pooled.engine((x, x), torch.float64, compiled=None).compiled is not None) is faster
    assert pooled.engine((x, x), torch.float64, compiled=True).compiled is not None


@pytest.mark.parametrize(
    ("entry", "single"),
    [
        (0.9e30, True),
        (1.1e30, False),
        (-0.9e30, True),
        (-1.1e30, False),
        (1.1e-30, True),
        (0.9e-30, False),
        (0.0, True),
    ],
)
def test_float32_is_used_where_all_moments_are_within_its_range(entry, single):
    found = _arithmetic(SimpleNamespace(rules=()), torch.tensor([1.0, entry], dtype=torch.float64), torch.float32)
    assert found == (np.float32 if single else np.float64)
    assert _arithmetic(SimpleNamespace(rules=()), torch.ones(1), torch.float64) == np.float64
