"""Writes the measurements of a watched training run to a CSV file, TensorBoard, W&B, or a function.

>>> seen = []
>>> make_writer(lambda row, step: seen.append((row, step)))({"loss": 1.0}, 3)
>>> seen
[({'loss': 1.0}, 3)]
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, cast

from gnomon.core.errors import out_of_range_error
from gnomon.core.machine.files import append_text

Log = Callable[[dict[str, float], int], None]
"""Called with the measurements by name and the number of the step."""

COLUMNS = ("step", "loss", "probe loss", "kernel drift", "kernel rotation", "alignment", "sharpness", "overhead")
"""Columns of the CSV file."""


def make_writer(log: Any) -> Log | None:
    """Returns a function that writes measurements to a CSV file, TensorBoard, W&B, or the user's function."""
    if log is None:
        return None
    if isinstance(log, str | Path):
        return _Csv(Path(log))
    if hasattr(log, "add_scalar"):
        return _Board(log)
    if hasattr(log, "log"):
        return lambda row, step: log.log({f"gnomon/{k}": v for k, v in row.items()}, step=step)
    if callable(log):
        return cast(Log, log)
    accepted = "a path, an object with add_scalar or log, or a function"
    raise out_of_range_error("log", accepted, log)


@dataclass(frozen=True, slots=True)
class _Board:
    writer: Any

    def __call__(self, row: dict[str, float], step: int) -> None:
        for name, value in row.items():
            self.writer.add_scalar(f"gnomon/{name}", value, step)


@dataclass(frozen=True, slots=True)
class _Csv:
    path: Path

    def __call__(self, row: dict[str, float], step: int) -> None:
        text = StringIO(newline="")
        lines = csv.DictWriter(text, COLUMNS, restval="")
        if not self.path.exists():
            lines.writeheader()
        lines.writerow({"step": step, **row})
        append_text(self.path, text.getvalue())
