"""Ctrl-C, sent by the operating system to each long command: it ends soon and quietly, and no file is left half-written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gnomon.data import digits

pytestmark = pytest.mark.full

MODELS = """
import torch

def build():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))

def deep():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
"""
SCRIPT = """
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
while True:
    loss = net(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
COMMANDS = {
    "examine": ("examine", "m.py:build", "--data", "d.npz", "--budget", "300s", "--out", "out.html"),
    "compare": ("compare", "m.py:build", "m.py:deep", "--data", "d.npz", "--budget", "300s", "--out", "out.html"),
    "rank": ("rank", "m.py:build", "m.py:deep", "--data", "d.npz"),
    "watch": ("watch", "train.py"),
    "atlas run": ("atlas", "run"),
    "atlas build": ("atlas", "build", "site"),
    "playground": ("playground", "m.py:build"),
}
COMPLETE = ("</html>", "}", "</svg>")
"""How a complete file ends."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "m.py").write_text(MODELS)
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "out.html").write_text("the previous report</html>")
    sample = digits(400, 100)
    np.savez(tmp_path / "d.npz", x=sample.x.numpy(), y=sample.y.numpy())
    return tmp_path


def interrupted(words, folder, seconds):
    """Exit code and output of a command that gets Ctrl-C after some seconds, and how long it then needed to end."""
    call = [sys.executable, "-c", "from gnomon.cli import run; run()", *words]
    paths = os.pathsep.join([str(Path(__file__).resolve().parents[2] / "src"), *sys.path[1:]])
    environment = {**os.environ, "PYTHONPATH": paths, "BROWSER": "true"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(call, cwd=folder, env=environment, text=True, start_new_session=True, **pipes)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    try:
        text, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, text


@pytest.mark.parametrize("seconds", [1, 4, 8])
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_ends_a_command_quietly_and_leaves_complete_files(folder, command, seconds):
    code, text = interrupted(COMMANDS[command], folder, seconds)
    assert code in (0, 130, -signal.SIGINT), text
    if command != "watch":  # shows the traceback of the user's own script, as Python does
        assert "Traceback" not in text
    pages = [path for path in folder.rglob("*") if path.suffix in (".html", ".json", ".svg")]
    assert (folder / "out.html") in pages
    assert all(path.read_text().rstrip().endswith(COMPLETE) for path in pages)
    assert not [path for path in folder.rglob("*") if path.name.startswith(".") or path.suffix == ".tmp"]
