"""What an import does, seen from inside a fresh interpreter.

It is counted and not timed: modules of others that are imported, and calls of functions that are made, are the same on
a slow and on a busy machine; `benchmarks/bench_import.py` says what they take. Python's own bytecode caches are not
counted as written files: Python writes them, not the package.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

CALLS = 150_000  # of Python's and of C's functions: a quarter of a second at 600,000 calls a second
FOREIGN = 40  # modules that are not of the package
HEAVY = ("matplotlib", "numba", "sklearn", "scipy", "rich", "typer", "dask", "distributed", "zarr", "pandas")

PROBE = """
import json, os, sys, threading
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

calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")

before, known = threads(), set(sys.modules)
sys.setprofile(count)
__import__(sys.argv[1])
sys.setprofile(None)
new = set(sys.modules) - known
foreign = sorted(name for name in new if name.partition(".")[0] != sys.argv[1].partition(".")[0])
heavy = [name for name in json.loads(sys.argv[2]) if name in sys.modules]
print(json.dumps(dict(calls=calls, foreign=foreign, threads=threads() - before, written=written, heavy=heavy)))
"""


def faults(package: str, *, path: Path, folder: Path, beyond: str = "torch") -> list[str]:
    """What importing a package found on a path does wrong, run in an empty folder after the import of another."""
    _probe(package, path, folder, beyond)  # Python compiles, which is not the package's doing
    last = _probe(package, path, folder, beyond)
    found = []
    if last["calls"] > CALLS:
        found.append(f"import {package} makes {last['calls']} calls beyond {beyond}, the budget is {CALLS}")
    if len(last["foreign"]) > FOREIGN:
        some = ", ".join(last["foreign"][:5])
        found.append(f"import {package} imports {len(last['foreign'])} modules of others, as {some}; it may {FOREIGN}")
    if last["threads"]:
        found.append(f"import {package} starts {last['threads']} threads")
    if last["written"] or any(folder.iterdir()):
        found.append(f"import {package} writes {last['written'] or sorted(folder.iterdir())}")
    return found + [f"import {package} imports {name}" for name in last["heavy"]]


def _probe(package: str, path: Path, folder: Path, beyond: str) -> dict:
    code = f"import sys; sys.path.insert(0, {str(path)!r})\n{PROBE}"
    command = [sys.executable, "-c", code, package, json.dumps(HEAVY), beyond]
    cached = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # or every run would compile
    done = subprocess.run(command, cwd=folder, env=cached, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"import {package} failed:\n{done.stderr}")
    return json.loads(done.stdout)
