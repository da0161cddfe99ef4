"""Loops are compiled in another process, which ends with this one, and never twice."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from numba import typeof
from torch import nn

import gnomon
from gnomon.kernels import prepare
from gnomon.kernels.fused import background
from gnomon.kernels.fused.background import SWITCH, BackgroundCompiler, compile_loops
from gnomon.kernels.fused.compile_time import loop_and_arguments
from gnomon.kernels.fused.dense import CompiledChain
from gnomon.kernels.prepare import BACKGROUND_SECONDS, PlanCache

CHAIN = ("chain", "float64", "float64")
STAGE = ("stage", "float32", "float32")
NET = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))


class Process:
    """A process that runs until it is ended."""

    def __init__(self):
        self.ended = False

    def poll(self):
        return 0 if self.ended else None

    def kill(self):
        self.ended = True

    def wait(self):
        assert self.ended


@pytest.fixture
def started(monkeypatch):
    """Commands and environments of the processes that a compiler starts, and the processes."""
    monkeypatch.delenv(SWITCH, raising=False)
    seen = []

    def start(command, environment):
        seen.append((command, environment, Process()))
        return seen[-1][2]

    return seen, BackgroundCompiler(start)


def test_a_loop_is_requested_once_and_one_process_runs_at_a_time(started):
    seen, compiler = started
    assert compiler.request((CHAIN,)) and compiler.is_running()
    assert not compiler.request((STAGE,))  # while the first is compiled
    seen[0][2].ended = True
    assert not compiler.is_running() and not compiler.request((CHAIN,))
    assert compiler.request((CHAIN, STAGE)) and len(seen) == 2
    assert repr((CHAIN,)) in seen[0][0][-1] and repr((STAGE,)) in seen[1][0][-1]


def test_the_process_uses_one_thread_and_this_package(started):
    seen, compiler = started
    compiler.request((CHAIN,))
    command, environment, _ = seen[0]
    assert command[:2] == [sys.executable, "-P"]
    assert environment["OMP_NUM_THREADS"] == environment["MKL_NUM_THREADS"] == "1"
    assert str(Path(gnomon.__file__).parents[1]) in environment["PYTHONPATH"].split(os.pathsep)


def test_the_process_is_ended_with_this_one(started):
    seen, compiler = started
    compiler.stop()  # nothing runs yet
    compiler.request((CHAIN,))
    compiler.stop()
    assert seen[0][2].ended and not compiler.is_running()


def test_it_can_be_turned_off(started, monkeypatch):
    seen, compiler = started
    monkeypatch.setenv(SWITCH, "off")
    assert not compiler.request((CHAIN,)) and not seen and not compiler.requested


def test_a_system_without_room_for_a_process_is_no_error(monkeypatch):
    def refuse(command, environment):
        raise BlockingIOError

    monkeypatch.delenv(SWITCH, raising=False)
    compiler = BackgroundCompiler(refuse)
    assert not compiler.request((CHAIN,)) and not compiler.is_running()


def test_the_process_compiles_the_types_that_kernels_call(monkeypatch):
    monkeypatch.setattr(background, "_end_with_parent", lambda: None)
    compiled = []

    class Loop:
        def compile(self, signature):
            compiled.append(signature)

    arguments = loop_and_arguments(*CHAIN)[1]
    monkeypatch.setattr("gnomon.kernels.fused.compile_time.loop_and_arguments", lambda *one: (Loop(), arguments))
    compile_loops((CHAIN,))
    assert compiled == [tuple(map(typeof, arguments))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("layer", [nn.ReLU(), nn.Tanh()])
def test_loops_of_dense_networks_name_the_types_of_their_calls(monkeypatch, layer, dtype):
    called = []
    monkeypatch.setattr("gnomon.kernels.fused.chain_loops.chain", lambda *arguments: called.append(arguments) or 0)
    net, x = nn.Sequential(nn.Linear(3, 8), layer, nn.Linear(8, 1)), torch.randn(4, 3)
    limit = gnomon.Limit(net, dtype=dtype, compiled=True)
    limit.ntk(x)
    (loop,) = limit._prepare(x).compiled.loops(dtype)
    assert tuple(map(typeof, called[0])) == tuple(map(typeof, loop_and_arguments(*loop)[1]))


@pytest.mark.parametrize(
    ("last", "dtype", "loops"),
    [
        ("flat", torch.float32, (("stage", "float64", "float64"), ("sweep", "float32", "float32"))),
        ("flat", torch.float64, (("stage", "float64", "float64"), ("sweep", "float64", "float64"))),
        ("pooled", torch.float32, (("stage", "float64", "float64"), STAGE)),
        ("pooled", torch.float64, (("stage", "float64", "float64"),)),
    ],
)
def test_loops_of_convolutional_networks(last, dtype, loops):
    pool = [nn.AvgPool2d(4), nn.Flatten(), nn.Linear(4, 1)] if last == "pooled" else [nn.Flatten(), nn.Linear(64, 1)]
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), *pool)
    assert gnomon.Limit(net)._prepare(torch.zeros(2, 1, 6, 6)).compiled.loops(dtype) == loops


@pytest.fixture
def choice(monkeypatch):
    """Asks which engine computes n points, with a compiler that only notes requests; ``kept`` and ``wait`` set what is
    on disk."""
    requests, state = [], {"running": False, "kept": False, "wait": 8.0}

    class Compiler:
        def request(self, loops):
            requests.append(loops)

        def is_running(self):
            return state["running"]

    monkeypatch.setattr(prepare, "background_compiler", Compiler)
    monkeypatch.setattr(CompiledChain, "is_loaded", lambda self, dtype: False)
    monkeypatch.setattr(CompiledChain, "is_compiled_code_cached", lambda self: state["kept"])
    monkeypatch.setattr(CompiledChain, "compile_seconds", lambda self, dtype: state["wait"])
    plans = PlanCache(NET, "torch", standard=True, torch_seconds={})

    def uses_loops(n, **options):
        x = torch.zeros(1, 3).expand(n, 3)
        return plans.engine((x, x), torch.float64, **{"compiled": None, **options}).compiled is not None

    return uses_loops, requests, state


def test_small_kernels_compile_nothing_and_repeated_ones_do(choice):
    uses_loops, requests, _ = choice
    for _ in range(4):  # 0.04 s each
        assert not uses_loops(1000)
    assert not requests
    assert not uses_loops(1050) and requests == [(CHAIN,)] and BACKGROUND_SECONDS == 0.2


def test_forced_and_tentative_choices_compile_nothing(choice):
    uses_loops, requests, _ = choice
    assert not uses_loops(6000, tentative=True) and not uses_loops(6000, compiled=False)
    assert uses_loops(6000, compiled=True) and not requests


def test_loops_on_disk_are_not_compiled_again(choice):
    uses_loops, requests, state = choice
    state.update(kept=True, wait=0.0)
    assert not uses_loops(4000) and uses_loops(4000) and not requests  # 0.64 s each, loading takes 1 s


def test_outdated_loops_on_disk_are_compiled_again(choice):
    uses_loops, requests, state = choice
    state.update(kept=True, wait=8.0)
    assert not uses_loops(4000) and not requests  # only a hint so far
    assert not uses_loops(4000) and requests == [(CHAIN,)]


def test_loops_that_are_being_compiled_are_compiled_here_only_for_a_large_kernel(choice):
    uses_loops, _, state = choice
    state["running"] = True
    assert [uses_loops(10_000) for _ in range(3)] == [False] * 3  # 4 s each
    assert uses_loops(14_500)  # 8.4 s
    state["running"] = False
    assert uses_loops(10)


def test_kernels_of_all_networks_count_together(monkeypatch):
    assert PlanCache(NET, "torch", standard=True).torch_seconds is PlanCache(NET, "torch", standard=False).torch_seconds


def test_other_networks_of_the_same_loops_profit(choice):
    _, requests, _ = choice
    spent = {}
    for layer in (nn.ReLU(), nn.LeakyReLU()):
        plans = PlanCache(
            nn.Sequential(nn.Linear(3, 8), layer, nn.Linear(8, 1)), "torch", standard=True, torch_seconds=spent
        )
        x = torch.zeros(1, 3).expand(2500, 3)  # 0.125 s each
        plans.engine((x, x), torch.float64, compiled=None)
    assert requests == [(CHAIN,)] and spent == {(CHAIN,): pytest.approx(0.25)}


RUN = """
import sys, time, torch, gnomon
from gnomon.kernels.fused.background import background_compiler
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
gnomon.limit(net).ntk(torch.zeros(3300, 1).expand(3300, 3))  # 0.22 s by the estimate
compiler = background_compiler()
print(compiler._process.pid, compiler.is_running(), "numba" in sys.modules, flush=True)
"""


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("end", ["regular", "killed"])
def test_no_process_outlives_the_one_that_started_it(tmp_path, end):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), SWITCH: "on", "OMP_NUM_THREADS": "1"}
    code = RUN + ("time.sleep(600)" if end == "killed" else "")
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as process:
        pid, running, numba = process.stdout.readline().split()
        if end == "killed":
            process.kill()
    assert running == "True" and numba == "False"
    for _ in range(600):  # until it notices; usually at once
        if not is_alive(pid):
            break
        time.sleep(0.1)
    assert not is_alive(pid)


@pytest.mark.full
def test_loops_compiled_in_the_background_are_loaded_and_give_the_same_kernel(tmp_path):
    code = """
import sys, time, torch, gnomon
from gnomon.kernels.fused.background import background_compiler
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
x = torch.randn(3300, 3, generator=torch.Generator().manual_seed(0))
first = gnomon.limit(net).ntk(x)
background_compiler()._process.wait()
assert "numba" not in sys.modules
for _ in range(5):
    later = gnomon.limit(net).ntk(x)
chain = sys.modules["gnomon.kernels.fused.chain_loops"].chain
print(float((first / later - 1).abs().max()) < 1e-10, sum(chain.stats.cache_hits.values()), len(chain.stats.cache_misses))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), SWITCH: "on"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "1", "0"], done.stderr
