"""What an import costs and does, seen from inside a fresh interpreter.

Python's own bytecode caches are not counted as written files: Python writes them, not the package.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SECONDS = 0.3
HEAVY = ("matplotlib", "numba", "sklearn", "scipy", "rich", "typer", "dask", "distributed", "zarr", "pandas")

PROBE = """
import json, os, sys, threading, time
__import__(sys.argv[3])

def threads():
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else threading.active_count()

written = []
def watch(event, args):
    if event == "open" and "__pycache__" not in str(args[0]):
        mode, flags = args[1] or "", args[2] or 0
        if set(mode) & set("wax+") or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            written.append(str(args[0]))
    elif event in ("os.mkdir", "os.rename") and "__pycache__" not in str(args[0]):
        written.append(str(args[0]))
sys.addaudithook(watch)

before = threads()
start = time.process_time()
__import__(sys.argv[1])
seconds = time.process_time() - start
heavy = [name for name in json.loads(sys.argv[2]) if name in sys.modules]
print(json.dumps(dict(seconds=seconds, threads=threads() - before, written=written, heavy=heavy)))
"""


def faults(package: str, *, path: Path, folder: Path, runs: int = 3, beyond: str = "torch") -> list[str]:
    """What importing a package found on a path does wrong, run in an empty folder after the import of another.

    The time is that of the processor, the least of several runs after one that warms the caches: other work on the
    machine does not count.
    """
    reports = [_probe(package, path, folder, beyond) for _ in range(1 + runs)]
    seconds, last = min(report["seconds"] for report in reports[1:]), reports[-1]
    found = []
    if seconds > SECONDS:
        found.append(f"import {package} takes {seconds:.2f} s beyond {beyond}, the budget is {SECONDS} s")
    if last["threads"]:
        found.append(f"import {package} starts {last['threads']} threads")
    if last["written"] or any(folder.iterdir()):
        found.append(f"import {package} writes {last['written'] or sorted(folder.iterdir())}")
    return found + [f"import {package} imports {name}" for name in last["heavy"]]


def _probe(package: str, path: Path, folder: Path, beyond: str) -> dict:
    code = f"import sys; sys.path.insert(0, {str(path)!r})\n{PROBE}"
    command = [sys.executable, "-c", code, package, json.dumps(HEAVY), beyond]
    cached = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # or every run would compile
    done = subprocess.run(command, cwd=folder, env=cached, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise AssertionError(f"import {package} failed:\n{done.stderr}")
    return json.loads(done.stdout)
