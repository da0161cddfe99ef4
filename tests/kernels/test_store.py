import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.errors import InputError, MissingExtraError, WriteError
from gnomon.kernels import store

zarr = pytest.importorskip("zarr")

PROGRAM = """
import sys, torch
from gnomon.kernels import store
x = torch.arange(24.0, dtype=torch.float64)[:, None]
def compute(a, b):
    print("tile", flush=True)
    sys.stdin.readline()  # a tile is finished when it is allowed to be; at the end of the input, at once
    return {"nngp": a @ (a if b is None else b).T}
store.write(sys.argv[1], store.StoreTask(x, None, ("nngp",), torch.float64, 4, "same"), compute)
"""


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))


def count(compute):
    calls = []

    def counted(a, b):
        calls.append((len(a), None if b is None else len(b)))
        return compute(a, b)

    return calls, counted


@pytest.mark.parametrize("second", [False, True])
def test_the_store_holds_the_kernels(tmp_path, second):
    x, y = torch.randn(11, 3), torch.randn(7, 3) if second else None
    lim = gnomon.limit(network())
    group = lim.to_zarr(tmp_path / "k", x, y, tile=4)
    both = lim(x, y)
    for kind, wanted in (("nngp", both.nngp), ("ntk", both.ntk)):
        torch.testing.assert_close(torch.from_numpy(group[kind][:]), wanted, rtol=1e-12, atol=0.0)


def test_tiles_are_as_small_as_the_memory_asks(tmp_path):
    x = torch.randn(300, 3)
    group = gnomon.limit(network(), memory=2**20).to_zarr(tmp_path / "k", x)  # both kernels take 1.4 MB
    assert int(group.attrs["tile"]) == 128  # four times 2 x 8 bytes a pair
    torch.testing.assert_close(torch.from_numpy(group["ntk"][:]), gnomon.limit(network()).ntk(x), rtol=1e-12, atol=0.0)


def test_finished_tiles_are_not_computed_again(tmp_path):
    x = torch.arange(10.0, dtype=torch.float64)[:, None]
    task = store.StoreTask(x, None, ("nngp",), torch.float64, 4, "same")
    calls, compute = count(lambda a, b: {"nngp": a @ (a if b is None else b).T})
    store.write(tmp_path / "k", task, compute)
    assert len(calls) == 6
    group = zarr.open_group(tmp_path / "k", mode="r+")
    group["finished"][1, 0] = 0
    group["nngp"][4:8, 0:4] = -1
    assert (store.write(tmp_path / "k", task, compute)["nngp"][:] == (x @ x.T).numpy()).all()
    assert len(calls) == 7


@pytest.mark.full
def test_a_killed_computation_is_continued(tmp_path):
    path, script = tmp_path / "k", tmp_path / "program.py"
    script.write_text(PROGRAM)
    source = str(Path(gnomon.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    command = [sys.executable, str(script), str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as process:
        for _ in range(5):
            assert process.stdout.readline() == "tile\n"
            print(file=process.stdin, flush=True)
        assert process.stdout.readline() == "tile\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert int(zarr.open_group(path, mode="r")["finished"][:].sum()) == 5  # only the tile in flight is lost
    again = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, check=True
    )
    assert again.stdout.count("tile") == 21 - 5
    x = torch.arange(24.0, dtype=torch.float64)[:, None]
    assert (zarr.open_group(path, mode="r")["nngp"][:] == (x @ x.T).numpy()).all()


@pytest.mark.parametrize("change", ["data", "network", "law", "dtype", "kind"])
def test_another_computation_is_refused(tmp_path, change):
    x = torch.randn(5, 3)
    gnomon.limit(network()).to_zarr(tmp_path / "k", x, kind=("ntk",))
    net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)) if change == "network" else network()
    law = gnomon.InitializationLaw(1.0, 0.1) if change == "law" else "torch"
    lim = gnomon.limit(net, init=law, dtype=torch.float32 if change == "dtype" else torch.float64)
    with pytest.raises(InputError, match="different network, law, data set or option"):
        lim.to_zarr(tmp_path / "k", x + (change == "data"), kind=("nngp",) if change == "kind" else ("ntk",))
    gnomon.limit(network()).to_zarr(tmp_path / "k", x, kind=("ntk",))  # the right one is still welcome


def test_other_folders_and_kinds_are_refused(tmp_path):
    lim = gnomon.limit(network())
    with pytest.raises(InputError, match="not a kernel store"):
        lim.to_zarr(tmp_path, torch.randn(5, 3))
    with pytest.raises(InputError, match="kind must be"):
        lim.to_zarr(tmp_path / "k", torch.randn(5, 3), kind=("nkt",))


def test_a_missing_extra_names_itself(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(MissingExtraError, match=r"gnomon\[zarr\]"):
        gnomon.limit(network()).to_zarr(tmp_path / "k", torch.randn(5, 3))


def test_time_is_not_in_the_fingerprint():
    first = store.fingerprint(network(), (1.0, "a"))
    time.sleep(0.01)
    assert first == store.fingerprint(network(), (1.0, "a")) != store.fingerprint(network(), (1.0, "b"))


def lim(**options):
    return gnomon.limit(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)), **options)


@pytest.mark.parametrize("tile", [0, -3])
def test_tiles_without_a_side_are_refused(tile, tmp_path):
    with pytest.raises(
        InputError, match=rf"to_zarr\(path, x1\): tile must be a whole number of at least 1, but it is {tile}"
    ):
        lim().to_zarr(tmp_path / "k", torch.eye(3), tile=tile)
    assert not list(tmp_path.iterdir())


def test_paths_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"to_zarr\(path, x1\): .* cannot be written") as caught:
        lim().to_zarr(tmp_path / "file" / "k", torch.eye(3))
    assert isinstance(caught.value.__cause__, OSError)


def test_inputs_that_require_gradients_and_short_floats_are_stored(tmp_path):
    x = torch.randn(3, 3).bfloat16().float()
    expected = lim().ntk(x)
    for name, given in (("gradients", x.clone().requires_grad_()), ("bfloat16", x.bfloat16())):
        group = lim().to_zarr(tmp_path / name, given)
        assert torch.equal(torch.from_numpy(group["ntk"][:]), expected)


def test_a_dtype_that_numpy_does_not_know_is_refused(tmp_path):
    with pytest.raises(InputError, match="dtype is torch.bfloat16 .*Pass dtype=torch.float32"):
        lim(dtype=torch.bfloat16).to_zarr(tmp_path / "k", torch.eye(3))


def test_a_full_disk_is_said_and_the_same_call_continues(tmp_path):
    x = torch.randint(-(10**5), 10**5, (80, 3)).double()  # their products are exact

    def write():
        task = store.StoreTask(x, None, ("nngp",), torch.float64, 64, "same")
        return store.write(tmp_path / "k", task, lambda a, b: {"nngp": a @ (a if b is None else b).T})

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(WriteError, match=r"cannot write .*Finished tiles are kept"):
            write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert torch.equal(torch.from_numpy(write()["nngp"][:]), x @ x.T)
