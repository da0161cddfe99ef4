"""Rebuilds the sections of a report from a JSON file, without executing anything from the file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.core.errors import InputError
from gnomon.core.results import (
    Axis,
    Band,
    Bars,
    Finding,
    FindingKind,
    Histogram,
    Hypothesis,
    Image,
    Interval,
    Level,
    Line,
    Plot,
    QuantityDefinition,
    RangeMeter,
    Reference,
    Scatter,
    Value,
)
from gnomon.report.page import PageContent, Section
from gnomon.report.shown_example import ShownExample
from gnomon.report.table import PageTable

__all__ = ["load_section", "read_saved"]

NOT_FINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
"""Words of JSON for numbers that it does not have."""
MARKS = {kind.__name__.lower(): kind for kind in (Line, Scatter, Band, Bars, Histogram, Image, Reference, RangeMeter)}


def read_saved(path: str | Path, version: int) -> dict[str, Any]:
    """Reads a saved examination and checks its version.

    Cost: reading the file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.json"
    ...     _ = path.write_text('{"schema": 5, "sections": []}')
    ...     read_saved(path, 5)["sections"]
    []
    """
    try:
        given = json.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as reason:
        what = f"cannot read {path}: {reason}"
        fix = "Save one with result.save('report.json') or gnomon examine --json > report.json"
        raise InputError(what, accepted="a JSON file of an examination", fix=fix) from None
    if not isinstance(given, dict) or given.get("schema") != version or "sections" not in given:
        found = given.get("schema") if isinstance(given, dict) else None
        raise InputError(
            f"{path} has version {found}", accepted=f"an examination with version {version}",
            fix="Examine again with this version of gnomon",
        )  # fmt: skip
    return given


def load_section(given: Mapping[str, Any]) -> Section:
    """Rebuilds a report section from the dict that `Section.to_dict` returned.

    >>> from gnomon.core.results import Bars, Line
    >>> section = Section("a", "A", "?", PageContent("Yes.", values=(Value("x", float("inf")),)))
    >>> load_section(section.to_dict()) == section
    True
    """
    findings = tuple(map(_finding, given["findings"]))
    stated = {(kind, where) for kind, where in given["stated"]}
    content = PageContent(
        given["content_answer"], findings, tuple(map(_value, given["values"])), tuple(map(_plot, given["plots"])),
        tuple(QuantityDefinition(**one) for one in given["definitions"]),
        tuple(Hypothesis(**one) for one in given["hypotheses"]), given["data"],
        tuple(map(_exhibit, given["exhibits"])),
        tuple(f for f in findings if (f.kind, f.where) in stated), tuple(given["notes"]),
        tuple(PageTable(**one) for one in given["tables"]), given["good_news"],
    )  # fmt: skip
    return Section(
        given["key"], given["title"], given["question"], content, given["state"], given["seconds"],
        given.get("traceback", ""), tuple(map(_finding, given["stated_elsewhere"])), given["essential"],
        tuple(given["rests_on"]), given["if_unsure"], given["time_factor"],
    )  # fmt: skip


def _number(value: Any) -> Any:
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def _value(given: Mapping[str, Any]) -> Value:
    low, high = _number(given["low"]), _number(given["high"])
    interval = None if low is None else Interval(low, high, given["confidence"])
    return Value(given["name"], _number(given["value"]), interval, given["obtained"], given["unit"], given["meaning"],
                 given["id"])  # fmt: skip


def _finding(given: Mapping[str, Any]) -> Finding:
    """Rebuilds a finding from JSON; its sentences are already complete, so braces in them are not placeholders."""
    message, fix = (given[name].replace("{", "{{").replace("}", "}}") for name in ("message", "fix"))
    source = given.get("source", "")
    message = message.removeprefix(f"{source}: ") if source else message
    row = FindingKind(given["kind"], Level[given["level"].upper()], message, fix, given["page"])
    evidence = tuple(map(_value, given["evidence"]))
    return Finding(row, given["where"], given["values"], evidence, given["false_alarm"], source)


def _plot(given: Mapping[str, Any]) -> Plot:
    x, y = (Axis(one["label"], one["log"], _pair(one["limits"]), _pair(one["other_unit"]))
            for one in (given["x"], given["y"]))  # fmt: skip
    marks = tuple(_mark(dict(mark)) for mark in given["marks"])
    return Plot(given["title"], marks, x, y, given["caption"], given["id"])


def _pair(given: Any) -> Any:
    return None if given is None else tuple(map(_number, given))


def _mark(given: dict[str, Any]) -> Any:
    kind = MARKS[given.pop("type")]
    for name in ("x", "y", "low", "high", "values", "edges", "counts"):
        if name in given:
            given[name] = [[_number(v) for v in row] if isinstance(row, list) else _number(row) for row in given[name]]
    for name in ("at", "value"):
        if name in given:
            given[name] = _number(given[name])
    return kind(**given)


def _exhibit(given: Mapping[str, Any]) -> ShownExample:
    lists = {name: tuple(given[name]) for name in ("features", "tokens", "words")}
    return ShownExample(**{**given, **lists})
