"""``gnomon watch`` as typed: the script's own end, output and arguments; the report in every case."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

SOURCE = Path(__file__).parents[2] / "src"
SCRIPT = """
import os, sys
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.05)
def step():
    x = torch.randn(32, 4)
    optimizer.zero_grad()
    ((net(x) - x[:, :1]) ** 2).mean().backward()
    optimizer.step()
for _ in range(40):
    step()
"""
ENDS = {
    "end": ("print(sys.argv, __name__, __file__)", 0),
    "sys.exit": ("sys.exit(7)", 7),
    "sys.exit with words": ("sys.exit('no luck')", 1),
    "exception": ("def fails():\n    raise KeyError('lost')\nfails()", 1),
    "interrupted": ("import signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(60)", -signal.SIGINT),
    "terminated": ("import signal\nos.kill(os.getpid(), signal.SIGTERM)\nimport time; time.sleep(60)", -signal.SIGTERM),
    "interrupt handled by the script": (
        "import signal, time\ntry:\n    for i in range(9):\n        step()\n        if i == 4:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n            time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('stopped early', i, float(net[0].weight.sum()))\nsys.exit(5)",
        5,
    ),
    "own handler of interrupts": (
        "import signal\nsignal.signal(signal.SIGINT, lambda *_: (print('saving'), sys.exit(9)))\n"
        "os.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(60)",
        9,
    ),
    "inside backward": ("net(torch.zeros(1, 4)).detach().backward()", 1),
}


def run(folder, *words, watched=True, **variables):
    """Runs a command in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", **variables}
    command = [sys.executable, *(("-m", "gnomon", "watch") if watched else ()), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.full
@pytest.mark.parametrize("name", ENDS)
def test_a_script_ends_as_without_gnomon_and_the_report_is_written(tmp_path, name):
    more, code = ENDS[name]
    (tmp_path / "train.py").write_text(SCRIPT + more)
    plain = run(tmp_path, "train.py", "--lr", "3", watched=False)
    watched = run(tmp_path, "train.py", "--lr", "3")
    assert plain.returncode == watched.returncode == code
    assert plain.stdout == watched.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    steps = "45 optimizer steps" if name == "interrupt handled by the script" else "40 optimizer steps"
    assert steps in page and "gnomon/examination" not in watched.stderr
    assert plain.stderr in watched.stderr  # the same traceback, and the summary


@pytest.mark.full
def test_json_is_the_last_line_and_strict_decides_the_exit_code(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT.replace("    optimizer.zero_grad()\n", "") + "print('done')")
    result = run(tmp_path, "--json", "--strict", "train.py")
    lines = result.stdout.splitlines()
    found = json.loads(lines[-1])
    assert lines[0] == "done" and result.returncode == 1
    assert [one["kind"] for one in found["findings"]] == ["gradients-not-cleared"]


@pytest.mark.full
def test_a_module_runs_as_with_python_m(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "train.py").write_text(SCRIPT + "print(__name__, __package__, sys.argv[1:])")
    result = run(tmp_path, "-m", "package.train", "--size", "4")
    assert result.stdout.strip() == "__main__ package ['--size', '4']" and result.returncode == 0


@pytest.mark.full
def test_a_missing_script_is_an_error_in_one_line(tmp_path):
    result = run(tmp_path, "absent.py")
    assert result.returncode == 2 and "File not found: absent.py" in result.stderr


DISTRIBUTED = """
import sys, time
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
net = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.05)
g = torch.Generator().manual_seed(SEED)
for i in range(20):
    x = torch.randn(16, 4, generator=g)
    INSIDE
    optimizer.zero_grad()
    ((net(x) - x[:, :1]) ** 2).mean().backward()
    optimizer.step()
MORE
dist.destroy_process_group()
"""


def torchrun(folder, seed, more="", inside="pass", watched=True, edit=("", "")):
    """Runs the script in two processes; returns the result, the reports on its output, and the seconds."""
    text = DISTRIBUTED.replace("SEED", seed).replace("MORE", more).replace("INSIDE", inside)
    (folder / "train.py").write_text(text.replace(*edit))
    words = ["-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone"]
    words += ["-m", "gnomon", "watch", "--json"] if watched else []
    began = time.monotonic()
    result = run(folder, *words, "train.py", watched=False)
    reports = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return result, reports, time.monotonic() - began


def kinds(report):
    """The kinds of findings in a report."""
    return [one["kind"] for one in report["findings"]]


@pytest.mark.full
def test_two_processes_write_one_report_and_wait_for_the_slower_one(tmp_path):
    result, reports, _ = torchrun(tmp_path, "rank", "time.sleep(3 * rank)")
    assert result.returncode == 0, result.stderr
    assert len(reports) == 1 and reports[0]["manifest"]["processes"] == 2 and not reports[0]["findings"]


@pytest.mark.full
def test_a_process_that_is_slow_in_several_steps_changes_nothing(tmp_path):
    save = "if rank == 0: torch.save(net.module.state_dict(), NAME)"
    slow = "time.sleep(2 * rank if i in (3, 9, 15) else 0)"
    watched, reports, _ = torchrun(tmp_path, "rank", save.replace("NAME", "'watched.pt'"), slow)
    plain, _, _ = torchrun(tmp_path, "rank", save.replace("NAME", "'plain.pt'"), watched=False)
    assert watched.returncode == plain.returncode == 0, watched.stderr
    assert len(reports) == 1 and not reports[0]["findings"] and "20 optimizer steps" in str(reports[0])
    one, other = (torch.load(tmp_path / f"{name}.pt") for name in ("watched", "plain"))
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.full
@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_raises_ends_the_run_as_without_gnomon(tmp_path, rank):
    crash = f"if rank == {rank} and i == 7: raise ValueError('this rank stops')"
    watched, reports, seconds = torchrun(tmp_path, "rank", inside=crash)
    plain, _, _ = torchrun(tmp_path, "rank", inside=crash, watched=False)
    assert watched.returncode == plain.returncode != 0
    assert "ValueError: this rank stops" in watched.stderr and "ValueError: this rank stops" in plain.stderr
    assert len(reports) == 1 and reports[0]["manifest"]["processes"] == 2 and seconds < 120


@pytest.mark.full
@pytest.mark.parametrize("place", ["both processes", "the second process"])
def test_a_mistake_is_reported_once_wherever_it_is(tmp_path, place):
    new = "if rank == 0: optimizer.zero_grad()" if place == "the second process" else "pass"
    result, (report,), _ = torchrun(tmp_path, "rank", edit=("optimizer.zero_grad()", new))
    assert result.returncode == 0, result.stderr
    assert kinds(report).count("gradients-not-cleared") == 1
    assert set(kinds(report)) <= {"gradients-not-cleared", "ranks-differ"}


@pytest.mark.full
def test_processes_with_the_same_batches_are_found(tmp_path):
    _, (report,), _ = torchrun(tmp_path, "0")
    assert kinds(report) == ["ranks-same-data"]


@pytest.mark.full
def test_a_process_that_dies_blocks_nobody(tmp_path):
    result, (report,), seconds = torchrun(tmp_path, "rank", "import os\nif rank: os._exit(3)\ntime.sleep(2)")
    assert result.returncode != 0 and seconds < 120
    assert "rank-lost" in kinds(report)


@pytest.mark.full
def test_weights_saved_by_an_interrupted_script_are_those_without_gnomon(tmp_path):
    """Ctrl-C from outside in the middle of training, into a script that saves and goes on."""
    (tmp_path / "train.py").write_text(
        SCRIPT + "import time\ntry:\n    print('ready', flush=True)\n    while True: time.sleep(0.01)\n"
        "except KeyboardInterrupt:\n    step()\n    torch.save(net.state_dict(), sys.argv[1])\n    print('saved')\n"
    )
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    for words, name in (([], "plain.pt"), (["-m", "gnomon", "watch"], "watched.pt")):
        command = [sys.executable, *words, "train.py", name]
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0 and output == "saved\n"
    one, other = (torch.load(tmp_path / f"{name}.pt") for name in ("watched", "plain"))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert "41 optimizer steps" in (tmp_path / "report.html").read_text(encoding="utf-8")
