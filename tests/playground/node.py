"""Runs the page's own computations in node, where node is installed."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gnomon.playground import page_path

NODE = shutil.which("node")
NEEDS_NODE = pytest.mark.skipif(NODE is None, reason="node is not installed")
HERE = Path(__file__).parent


def run(script: str, *arguments: object):
    """What a script of this folder prints, as JSON."""
    command = [NODE, str(HERE / script), str(page_path()), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
