"""``gnomon watch`` as typed: the script's own end, output and arguments; the report in every case."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
    assert "40 optimizer steps" in page and "gnomon/examination" not in watched.stderr
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
for _ in range(20):
    x = torch.randn(16, 4, generator=g)
    optimizer.zero_grad()
    ((net(x) - x[:, :1]) ** 2).mean().backward()
    optimizer.step()
MORE
dist.destroy_process_group()
"""


def torchrun(folder, seed, more=""):
    """Runs the script in two processes."""
    (folder / "train.py").write_text(DISTRIBUTED.replace("SEED", seed).replace("MORE", more))
    words = ["-m", "torch.distributed.run", "--nproc_per_node=2", "--master_port=0", "-m", "gnomon", "watch"]
    began = time.monotonic()
    result = run(folder, *words, "--json", "train.py", watched=False)
    return result, time.monotonic() - began


@pytest.mark.full
def test_two_processes_write_one_report_and_wait_for_the_slower_one(tmp_path):
    result, _ = torchrun(tmp_path, "rank", "time.sleep(3 * rank)")
    reports = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert result.returncode == 0, result.stderr
    assert len(reports) == 1 and reports[0]["manifest"]["processes"] == 2 and not reports[0]["findings"]


@pytest.mark.full
def test_processes_with_the_same_batches_are_found(tmp_path):
    result, _ = torchrun(tmp_path, "0")
    (report,) = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert [one["kind"] for one in report["findings"]] == ["ranks-same-data"]


@pytest.mark.full
def test_a_process_that_dies_blocks_nobody(tmp_path):
    result, seconds = torchrun(tmp_path, "rank", "import os\nif rank: os._exit(3)\ntime.sleep(2)")
    assert result.returncode != 0 and seconds < 120
    reports = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert len(reports) == 1 and "rank-lost" in {one["kind"] for one in reports[0]["findings"]}
