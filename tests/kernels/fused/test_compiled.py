import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.machine import threads
from gnomon.kernels import prepare
from gnomon.models import mlp
from tests.kernels.fused.reference import both

SOURCE = str(Path(gnomon.__file__).parents[1])

SECOND_PROCESS = """
import torch, gnomon
from torch import nn
torch.manual_seed(0)
gnomon.Limit(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)), compiled=True).ntk(torch.randn(4, 3))
from gnomon.kernels.fused.chain_loops import chain
print(sum(chain.stats.cache_hits.values()), sum(chain.stats.cache_misses.values()))
"""

LONG = """
import signal, threading, torch, gnomon
from gnomon.core.machine import threads
from gnomon.models import mlp

class Told(threads.Progress):  # says when the first tile is done, and how many are at the end
    told = threading.Lock()
    def advance(self, steps):
        super().advance(steps)
        if self.told.acquire(blocking=False):
            print("ready", flush=True)
    def __exit__(self, *error):
        print("all tiles" if self.done == self.total else "some tiles", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
torch.set_num_threads(2)
lim = gnomon.limit(mlp(4, depth=200))
lim.ntk(torch.randn(8, 4))
threads.Progress = Told
try:
    lim.ntk(torch.randn(20000, 4))
except KeyboardInterrupt:
    print("threads", threading.active_count(), flush=True)
"""

HOPELESS = 300  # seconds: all tiles take minutes, those under way well below a second


def environment():
    return {**os.environ, "PYTHONPATH": SOURCE}


def test_gradients_are_left_to_the_reference(monkeypatch):
    x = torch.randn(4, 3, requires_grad=True)
    fast, _ = both(monkeypatch, mlp(3), x, covered=False)
    (gradient,) = torch.autograd.grad(fast.ntk.sum(), x)
    assert gradient.abs().sum() > 0


def test_without_numba_the_reference_runs_and_says_so_once(monkeypatch):
    x, lim = torch.randn(4, 3), gnomon.limit(mlp(3))
    wanted = lim.ntk(x)
    prepare._numba_is_installed.cache_clear()
    monkeypatch.setattr(prepare, "find_spec", lambda name: None)
    try:
        with pytest.warns(UserWarning, match="numba is not installed"):
            slow = gnomon.limit(mlp(3)).ntk(x)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gnomon.limit(mlp(3)).ntk(x)
    finally:
        prepare._numba_is_installed.cache_clear()
    torch.testing.assert_close(slow, wanted, rtol=1e-12, atol=0.0)


def test_numbers_that_are_not_finite_are_explained():
    with pytest.raises(gnomon.NotFiniteError, match="not finite"):
        gnomon.limit(mlp(3, depth=30), init=gnomon.InitializationLaw(1e6)).ntk(torch.randn(4, 3))


@pytest.mark.parametrize("count", [1, 2])
def test_as_many_threads_as_torch(monkeypatch, count):
    monkeypatch.setattr(threads.torch, "get_num_threads", lambda: count)
    seen, together = set(), threading.Barrier(count)

    def task(number, room):
        seen.add(threading.get_ident())
        together.wait(HOPELESS)  # a task ends when as many are under way as there are to be threads
        return number

    assert sorted(threads.run_in_threads(task, range(20), lambda: None, "numbers")) == list(range(20))
    assert len(seen) == count
    assert (threading.get_ident() in seen) == (count == 1)


def test_the_number_of_threads_does_not_change_the_result(monkeypatch):
    x, lim = torch.randn(900, 5), gnomon.limit(mlp(5))
    one = lim.ntk(x)
    monkeypatch.setattr(threads.torch, "get_num_threads", lambda: 2)
    assert torch.equal(one, lim.ntk(x))


def test_an_error_ends_all_threads(monkeypatch):
    monkeypatch.setattr(threads.torch, "get_num_threads", lambda: 2)
    before = threading.active_count()

    def task(number, room):
        if number == 3:
            raise ArithmeticError("three")
        return number

    with pytest.raises(ArithmeticError, match="three"):
        threads.run_in_threads(task, range(1000), lambda: None, "numbers")
    assert threading.active_count() == before


@pytest.mark.full
def test_an_interrupt_is_obeyed_and_leaves_no_threads():
    with subprocess.Popen(
        [sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True, env=environment()
    ) as process:
        guard = threading.Timer(HOPELESS, process.kill)  # where the interrupt is not obeyed, the test ends too
        guard.daemon = True
        guard.start()
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        process.wait()
        guard.cancel()
    assert (first, rest) == ("ready\n", "some tiles\nthreads 1\n")  # tiles under way are finished, no others begun
    assert process.returncode == 0


@pytest.mark.full
def test_the_second_process_does_not_compile():
    command = [sys.executable, "-c", SECOND_PROCESS]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    again = subprocess.run(command, env=environment(), check=True, capture_output=True, text=True)
    assert again.stdout.split() == ["1", "0"]


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux forgets an earlier peak")
def test_memory_is_that_of_the_kernel():
    program = """
import torch, gnomon
from gnomon.models import mlp
def kilobytes(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1])
lim = gnomon.limit(mlp(16))
lim.ntk(torch.randn(600, 16))
x = torch.randn(5000, 16)
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = kilobytes("VmRSS")
k = lim.ntk(x)
print((kilobytes("VmHWM") - before) * 1024 / (k.numel() * 8))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment(), check=True, capture_output=True, text=True)
    assert 0.95 < float(done.stdout) < 1.2


def test_modules_are_left_as_they_were():
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    state = {k: v.clone() for k, v in net.state_dict().items()}
    gnomon.limit(net).ntk(torch.randn(5, 3))
    assert all(torch.equal(v, state[k]) for k, v in net.state_dict().items())


LAYOUTS = {
    "transposed": lambda x: x.T.contiguous().T,
    "strided": lambda x: x.repeat_interleave(2, 0)[::2],
    "every other feature": lambda x: x.repeat_interleave(2, 1)[:, ::2],
    "Fortran order": lambda x: np.asfortranarray(x.numpy()),
    "single precision, transposed": lambda x: x.float().T.contiguous().T,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_layout_of_the_inputs_is_compiled_again(layout):
    from gnomon.kernels.fused.chain_loops import chain

    lim, x = gnomon.limit(mlp(3)), torch.randn(5, 3, dtype=torch.float64)
    wanted = lim.ntk(x)
    known = list(chain.signatures)
    found = lim.ntk(LAYOUTS[layout](x))
    assert chain.signatures == known
    torch.testing.assert_close(found, wanted, rtol=1e-5 if "single" in layout else 1e-14, atol=0.0)


@pytest.mark.parametrize("function", [nn.ReLU, nn.GELU], ids=["float32 loops", "float64 loops"])
def test_no_choice_of_kernels_is_compiled_again(function):
    from gnomon.kernels.fused.chain_loops import chain

    net = nn.Sequential(nn.Linear(3, 8), function(), nn.Linear(8, 1))
    lim, x = gnomon.limit(net, dtype=torch.float32), torch.randn(5, 3)
    lim(x)
    known = list(chain.signatures)
    lim.ntk(x), lim.nngp(x)
    assert chain.signatures == known
