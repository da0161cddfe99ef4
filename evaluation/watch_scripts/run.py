"""Runs a script in a copy of its folder, with or without `gnomon watch`, and measures time and hashes of the weights."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.watch_scripts.mistakes import Mistake
from evaluation.watch_scripts.scripts import Script

STUBS = Path(__file__).parent / "stubs"
SOURCE = Path(__file__).parents[2] / "src"
MAX_SECONDS = 900
"""Time after which a run is ended."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: exit code, seconds of wall and processor time, hashes at the end, the report, and the error output."""

    code: int
    wall: float
    cpu: float
    hashes: dict[str, Any] | None
    report: dict[str, Any] | None
    errors: str


def prepare(script: Script, checkouts: Path, target: Path, mistake: Mistake | None = None) -> Path:
    """Copies the folder of a script, prepares its data, and plants a mistake."""
    folder = target / "copy"
    shutil.copytree(checkouts / script.checkout / script.folder, folder)
    script.prepare(folder)
    for old, new in () if mistake is None else mistake.replacements:
        file = folder / (mistake.file or script.file)
        text = file.read_text(encoding="utf-8")
        if old not in text:
            raise ValueError(f"{mistake.id}: the script does not contain {old!r}")
        file.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def run(
    script: Script, folder: Path, mnist: Path, *, watched: bool, arguments: Sequence[str] = (), train: int = 4000
) -> Run:
    """Runs a prepared script once; scripts on MNIST see ``train`` training examples and a quarter as many for test."""
    with tempfile.TemporaryDirectory() as place:
        hashes, output = Path(place) / "hashes.json", Path(place) / "output"
        paths = [str(STUBS), str(SOURCE), *([str(folder / script.path)] if script.path else [])]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths), "WATCH_HASHES": str(hashes), "WATCH_MNIST": str(mnist),
            "WATCH_MNIST_TRAIN": str(train), "WATCH_MNIST_TEST": str(train // 4), "OMP_NUM_THREADS": "1",
            "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1", "MPLBACKEND": "Agg", "PYTHONHASHSEED": "0",
        }  # fmt: skip
        environment.pop("WATCH_HASHES_TAKEN", None)
        watch = ["-m", "gnomon", "watch", "--json", "--out", str(Path(place) / "report.html")] if watched else []
        command = [sys.executable, *watch, script.file, *(arguments or script.arguments)]
        began = time.perf_counter()
        with output.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=file, stderr=subprocess.PIPE, text=True
            )
            try:
                _, errors = process.communicate(timeout=MAX_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                _, errors = process.communicate()
        wall = time.perf_counter() - began
        lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
        report = json.loads(lines[-1]) if watched and lines and lines[-1].startswith("{") else None
        found = json.loads(hashes.read_text(encoding="utf-8")) if hashes.exists() else None
        return Run(process.returncode, wall, _processor_seconds(found), found, report, errors[-2000:])


def _processor_seconds(found: dict[str, Any] | None) -> float:
    """Seconds of processor time that the process itself counted at its end."""
    return float("nan") if found is None else found.pop("seconds")
