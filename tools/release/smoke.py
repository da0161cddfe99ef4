"""Does what a new user does first with an installed gnomon: the README, the commands, the main calls.

Runs alone, without the repository on the path: ``python -I smoke.py``.
"""

import re
import subprocess
import sys
import time
import warnings
from importlib.metadata import metadata
from pathlib import Path

BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = (
    ("--version",),
    ("--help",),
    ("doctor",),
    ("examine", "--budget", "10s", "--out", "report.html"),
    ("atlas", "run", "perceptron-novikoff"),
)


def readme_blocks() -> list[str]:
    """Returns the Python blocks of the README, read from the metadata of the installed package."""
    return BLOCK.findall(metadata("gnomon")["Description"])


def run_readme() -> None:
    """Runs all Python blocks of the README in one namespace."""
    names: dict[str, object] = {"__name__": "__main__"}
    warnings.simplefilter("ignore")
    for block in readme_blocks():
        exec(compile(block, "README.md", "exec"), names)


def run_commands() -> None:
    """Runs each gnomon command that a new user would try, and checks that the examination wrote its report."""
    for words in COMMANDS:
        start = time.perf_counter()
        subprocess.run([Path(sys.executable).with_name("gnomon"), *words], check=True, stdout=subprocess.DEVNULL)
        print(f"gnomon {' '.join(words)}: {time.perf_counter() - start:.1f} s", flush=True)
    if not Path("report.html").is_file():
        sys.exit("gnomon examine did not write report.html")


def main() -> None:
    """Runs commands and README of the installed gnomon, and prints which installation was imported."""
    import gnomon

    place = Path(gnomon.__file__).resolve()
    if Path.cwd().resolve() in place.parents or "site-packages" not in place.parts:
        sys.exit(f"gnomon was imported from {place} (expected an installed package)")
    run_commands()
    start = time.perf_counter()
    run_readme()
    print(f"{len(readme_blocks())} blocks of README: {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
