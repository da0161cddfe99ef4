"""Tables with a target column, from csv and parquet files: numbers as they are, words encoded."""

import csv
import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError, MissingExtraError, lesson

CATEGORIES = 100
"""Different words that a column may hold, to be encoded."""
Columns = dict[str, list[str]]
Table = tuple[Tensor, Tensor, tuple[str, ...]]
"""Inputs, targets, and what was encoded, in words."""


def from_csv(path: Path, target: str | None, call: str) -> Table:
    """A csv file with a header."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (UnicodeDecodeError, csv.Error) as reason:
        what = f"{path} cannot be read as a table ({reason})"
        raise InputError(lesson(call, what, "a csv file in UTF-8", "Save it as UTF-8 text with commas")) from None
    if len(rows) < 2:
        raise InputError(lesson(call, f"{path} has {len(rows)} rows", "a header and some rows", "Check the file"))
    header, body = [h.strip() for h in rows[0]], rows[1:]
    ragged = next((i for i, row in enumerate(body, 2) if len(row) != len(header)), None)
    if ragged is not None:
        what = f"row {ragged} of {path} has {len(body[ragged - 2])} fields, the header {len(header)}"
        raise InputError(lesson(call, what, "a rectangular table", "Repair that row"))
    return _table({h: [row[i].strip() for row in body] for i, h in enumerate(header)}, target, str(path), call)


def from_parquet(path: Path, target: str | None, call: str) -> Table:
    """A parquet file; needs the extra of that name."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        cure = "Install the extra: pip install 'gnomon[parquet]'"
        raise MissingExtraError(lesson(call, "pyarrow is not installed", "the extra 'parquet'", cure)) from None
    try:
        read = parquet.read_table(path).to_pydict()
    except (ArrowException, OSError) as reason:
        words = str(reason).splitlines()[0][:200]
        what = f"{path} cannot be read as a table ({words})"
        raise InputError(lesson(call, what, "a parquet file", "Write it again")) from None
    columns = {name: ["" if v is None else str(v) for v in values] for name, values in read.items()}
    return _table(columns, target, str(path), call)


def _table(columns: Columns, target: str | None, path: str, call: str) -> Table:
    """The target may be numbers (values), whole numbers or words (classes)."""
    header = ", ".join(list(columns)[:20])
    if target is None:
        cure = f"Add --target with one of: {header}"
        raise InputError(lesson(call, f"{path} is a table and no target was named", "a target column", cure))
    if target not in columns:
        raise InputError(lesson(call, f"{path} has no column '{target}'", "a target column", f"It has: {header}"))
    features: list[Tensor] = []
    encoded: list[str] = []
    for name, values in columns.items():
        if name != target:
            part = _feature(name, values, call)
            features.append(part)
            encoded += [f"{name} ({len(set(values))} words)"] if not is_number(values[0]) else []
    if not features:
        raise InputError(lesson(call, f"{path} has no column besides '{target}'", "inputs", "Add columns of inputs"))
    x = torch.cat(features, 1)
    notes = (f"columns of words became columns of 0 and 1: {', '.join(encoded)}; {x.shape[1]} inputs in all",)
    return x, labels(columns[target]), notes if encoded else ()


def _feature(name: str, values: list[str], call: str) -> Tensor:
    """Numbers as one column; words as one column of 0 and 1 each, or a single one where there are two words."""
    bad = next((i for i, v in enumerate(values) if not is_number(v)), None)
    if bad is None:
        return torch.tensor([float(v) for v in values], dtype=torch.float32)[:, None]
    words = sorted(set(values))
    if "" in words or any(map(is_number, words)):  # a gap, or a word among numbers
        what = f"column '{name}' holds '{values[bad]}' in row {bad + 2}"
        raise InputError(
            lesson(call, what, "columns of numbers or of words, without gaps", "Encode or drop it, fill gaps")
        )
    if len(words) > CATEGORIES:
        what = f"column '{name}' holds {len(words):,} different words"
        raise InputError(lesson(call, what, f"at most {CATEGORIES} to encode", "Drop this column, or group its words"))
    places = torch.tensor([words.index(v) for v in values])
    return places[:, None].float() if len(words) <= 2 else torch.nn.functional.one_hot(places, len(words)).float()


def labels(words: list[str]) -> Tensor:
    """Classes from words or whole numbers, values from other numbers.

    >>> labels(["cat", "dog", "cat"]).tolist(), labels(["0.5", "2"]).tolist()
    ([0, 1, 0], [0.5, 2.0])
    """
    if all(re.fullmatch(r"\s*[+-]?\d+\s*", w) for w in words):
        numbers = sorted({int(w) for w in words})
        places: dict[Any, int] = {number: i for i, number in enumerate(numbers)}
        return torch.tensor([places[int(w)] for w in words])
    if all(map(is_number, words)):
        return torch.tensor([float(w) for w in words], dtype=torch.float32)
    places = {name: i for i, name in enumerate(sorted(set(words)))}
    return torch.tensor([places[w] for w in words])


def is_number(word: str) -> bool:
    """Whether a word can be read as a number.

    >>> is_number("1e-3"), is_number("red")
    (True, False)
    """
    try:
        float(word)
    except ValueError:
        return False
    return True
