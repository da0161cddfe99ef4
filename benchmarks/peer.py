"""The peer: neural-tangents in an environment of its own, driven through a pipe, so that both run in one experiment."""

import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "peers"
PYTHON = os.environ.get("GNOMON_PEER_PYTHON", str(FOLDER / ".venv" / "bin" / "python"))


class Peer:
    """A running server; ``seconds`` runs a kernel there."""

    def __init__(self) -> None:
        if not Path(PYTHON).exists():
            sys.exit(f"{PYTHON} is missing: run `make bench`, or name another environment in GNOMON_PEER_PYTHON")
        command = [PYTHON, str(FOLDER / "server.py")]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()

    def warm(self, layers, shape, n, m=0) -> None:
        """Compile."""
        self._ask({"layers": layers, "shape": shape, "n": n, "m": m, "seed": 0, "warm": True})

    def seconds(self, layers, shape, n, m=0) -> float:
        """The time of one evaluation."""
        return self._ask({"layers": layers, "shape": shape, "n": n, "m": m, "seed": 0, "warm": False})["seconds"]

    def corner(self, layers, shape, n, m=0) -> list[list[float]]:
        """The first entries of the kernel."""
        return self._ask({"layers": layers, "shape": shape, "n": n, "m": m, "seed": 0, "warm": False})["corner"]

    def _ask(self, request: dict) -> dict:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit("the peer has ended; run benchmarks/peers/server.py by hand to see why")
        return json.loads(line)
