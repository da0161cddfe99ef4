"""Records the results that code makes, and looks for plots that a reader could not read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from gnomon.core.results import Axis, Bars, Image, Plot, RangeMeter, Result
from gnomon.core.results.drawing import has_points

EMPTY_WORDS = {"x", "y", "number of", "first", "second"}
"""Labels that say nothing about a quantity."""


class _Recorder:
    """Keeps results while it is open; one of each class is enough."""

    def __init__(self) -> None:
        self.open = False
        self.made: dict[type, Any] = {}

    def __call__(self, cls: type, *_: Any, **__: Any) -> Any:
        result = object.__new__(cls)
        if self.open:
            self.made[cls] = result
        return result


RECORDER = _Recorder()
Result.__new__ = lambda cls, *args, **kwargs: RECORDER(cls, *args, **kwargs)  # type: ignore[method-assign, assignment]


@contextmanager
def results_made() -> Iterator[list[Any]]:
    """The last complete result of each class that is made in the block."""
    found: list[Any] = []
    RECORDER.open = True
    RECORDER.made = {}
    try:
        yield _Complete(found)
    finally:
        RECORDER.open = False
        RECORDER.made = {}


class _Complete(list):
    """Results whose fields are all set; looks when it is read, at the end of the block."""

    def __iter__(self) -> Iterator[Any]:
        whole = [r for r in RECORDER.made.values() if all(hasattr(r, field.name) for field in fields(r))]
        return iter([result for result in whole if type(result).__module__.startswith("gnomon.")])


def plot_faults(result: Result) -> list[str]:
    """What is missing on the plots of a result: a title, the label of an axis, points to see, or any plot."""
    plots = result.plots()
    found = [] if plots else ["no plot"]
    for plot in plots:
        found += [f"{plot.title!r}: {fault}" for fault in _faults(plot)]
    return found


def _faults(plot: Plot) -> list[str]:
    found = [] if plot.title else ["no title"]
    if not plot.marks:
        return found  # drawn as a sentence
    if not any(map(has_points, plot.marks)):
        return [*found, "an empty panel"]
    named = any(isinstance(mark, Bars | RangeMeter) for mark in plot.marks)
    rows = any(isinstance(mark, Image) and any(mark.rows) for mark in plot.marks)
    found += [] if _says(plot.x) else ["the x axis has no label"]
    return found + ([] if named or rows or _says(plot.y) else ["the y axis has no label"])


def _says(axis: Axis) -> bool:
    return bool(axis.label.strip()) and axis.label not in EMPTY_WORDS
