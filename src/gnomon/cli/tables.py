"""Reads tables with a target column from csv and parquet files; encodes words and dates as numbers."""

import csv
import re
from collections import Counter
from difflib import get_close_matches
from pathlib import Path

import torch
from torch import Tensor

from gnomon.cli.encoding import Columns, encode_column, encode_labels, is_number
from gnomon.core.errors import InputError, MissingExtraError

SEPARATORS = (",", ";", "\t", "|")
Table = tuple[Tensor, Tensor, tuple[str, ...], tuple[str, ...]]
"""Inputs, targets, notes on the encoding, and the names of the input columns."""


def from_csv(path: Path, target: str | None) -> Table:
    """Reads a csv file with a header; columns may be separated by commas, semicolons, tabs or bars."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        separator = separator_of(text)
        rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=separator) if row]
    except (UnicodeDecodeError, csv.Error) as reason:
        what = f"{path} cannot be read as a table ({reason})"
        raise InputError(what, accepted="a csv file in UTF-8", fix="Save it as UTF-8 text") from None
    if len(rows) < 2:
        found = "is empty" if not rows else "has a header and no rows"
        raise InputError(f"{path} {found}", accepted="a header and some rows", fix="Check the file")
    header, body = [h.strip() for h in rows[0]], rows[1:]
    ragged = next((i for i, row in enumerate(body, 2) if len(row) != len(header)), None)
    if ragged is not None:
        what = f"row {ragged} of {path} has {len(body[ragged - 2])} fields, the header {len(header)}"
        raise InputError(what, accepted="a rectangular table", fix="Correct that row")
    twice = next((name for name, count in Counter(header).items() if count > 1), None)
    if twice is not None:
        what = f"{path} has several columns called '{twice}'"
        raise InputError(what, accepted="a name for each column", fix="Rename or drop one of them")
    columns = {h: [row[i].strip() for row in body] for i, h in enumerate(header)}
    if separator == ";":
        columns = {name: _decimal_points(values) for name, values in columns.items()}
    return _table(columns, target, str(path))


def separator_of(text: str) -> str:
    """Returns the column separator of a csv text: the one that occurs most often in the header, outside quotes.

    >>> separator_of("a;b;c"), separator_of('"a;b",c')
    (';', ',')
    """
    header = re.sub(r'"[^"]*"', "", next((line for line in text.splitlines() if line.strip()), ""))
    return max(SEPARATORS, key=header.count)


def _decimal_points(values: list[str]) -> list[str]:
    """Replaces decimal commas by decimal points if all values of a column are numbers."""
    if all(re.fullmatch(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?|", v) for v in values):
        return [v.replace(",", ".") for v in values]
    return values


def from_parquet(path: Path, target: str | None) -> Table:
    """Reads a table from a parquet file; needs the optional dependency ``parquet``."""
    try:
        from pyarrow import ArrowException, parquet, types
    except ImportError:
        fix = "Install the extra: pip install 'gnomon[parquet]'"
        raise MissingExtraError("pyarrow is not installed", accepted="the extra 'parquet'", fix=fix) from None
    try:
        read = parquet.read_table(path)
    except (ArrowException, OSError) as reason:
        words = str(reason).splitlines()[0][:200]
        what = f"{path} cannot be read as a table ({words})"
        raise InputError(what, accepted="a parquet file", fix="Write the file again") from None
    nested = next((field for field in read.schema if types.is_nested(field.type)), None)
    if nested is not None:
        what = f"column '{nested.name}' of {path} holds values of type {nested.type}"
        raise InputError(
            what,
            accepted="one number, word or date in each field",
            fix=("Drop the column, or split it into several columns"),
        )
    columns = {name: ["" if v is None else str(v) for v in values] for name, values in read.to_pydict().items()}
    if not read.num_rows:
        raise InputError(f"{path} has no rows", accepted="at least one row", fix="Check the file")
    return _table(columns, target, str(path))


def _table(columns: Columns, target: str | None, path: str) -> Table:
    """Splits a table into encoded input columns and the target column."""
    header = ", ".join(list(columns)[:20])
    if target is None:
        fix = f"Add --target with one of: {header}"
        raise InputError(f"{path} is a table, but no target column was given", accepted="a target column", fix=fix)
    if target not in columns:
        what = f"{path} has no column '{target}'"
        raise InputError(what, accepted="a target column", fix=_other(target, columns, header))
    read = {name: encode_column(name, values) for name, values in columns.items() if name != target}
    if not read:
        raise InputError(
            (f"{path} has no column except '{target}'"), accepted="at least one input column", fix="Add input columns"
        )
    x = torch.cat([part.x for part in read.values()], 1)
    y, told = encode_labels(columns[target], target)
    notes = [told]
    if encoded := [f"{name} ({part.words} words)" for name, part in read.items() if part.words]:
        notes.append(f"columns of words were one-hot encoded: {', '.join(encoded)}; {x.shape[1]} inputs in total")
    if dates := [f"{name} (since {part.since})" for name, part in read.items() if part.since]:
        notes.append(f"dates were converted to days: {', '.join(dates)}")
    names = [name for name, part in read.items() for _ in range(part.x.shape[1])]
    return x, y, tuple(notes), tuple(names)


def _other(target: str, columns: Columns, header: str) -> str:
    """Returns advice for a target that is not a column of the table: a similar name, or the list of columns."""
    if all(map(is_number, columns)):
        return "The first row contains numbers: add a header with column names"
    folded = {name.lower(): name for name in columns}
    near = get_close_matches(target.lower(), folded, 1, 0.6)
    return f"Write --target {folded[near[0]]}" if near else f"The columns are: {header}"
