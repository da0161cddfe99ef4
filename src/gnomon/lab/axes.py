"""Labels the axes of a theory claim's plot, and places its points at the values of a parameter."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gnomon.core.results import Axis, Bars, Line, Plot, Scatter
from gnomon.core.results.plot import PlotMark

__all__ = ["name_axes"]

LARGEST_RATIO_ON_A_LINEAR_AXIS = 30.0
"""Positive values that differ by a larger factor get a logarithmic axis, because the small ones would overlap."""


def name_axes(plot: Plot, axes: Sequence[str], parameters: Mapping[str, Any]) -> Plot:
    """Labels the axes of a plot as the theory claim asks; returns the plot unchanged if the claim has no labels.

    Args:
        plot: what a judge draws; its points are numbered 0, 1, 2, ... along x.
        axes: what varies, what is measured, and optionally the parameter whose values are the places of the points.
        parameters: of the run.

    Bars lie on their side, so what is measured is along x. Places are replaced only if the parameter has one value for
    each point.

    >>> from gnomon.core.results import Scatter
    >>> plot = Plot("Double descent", (Scatter("observed", (0, 1), (3.0, 2.0)),), Axis("number"), Axis("value"))
    >>> named = name_axes(plot, ("number of features", "test error", "widths"), {"widths": (8, 16)})
    >>> named.x.label, named.y.label, named.marks[0].x
    ('number of features', 'test error', (8.0, 16.0))
    """
    if not axes:
        return plot
    if any(isinstance(mark, Bars) for mark in plot.marks):
        return replace(plot, x=replace(plot.x, label=axes[1]), y=replace(plot.y, label=axes[0]))
    x, y = replace(plot.x, label=axes[0]), replace(plot.y, label=axes[1])
    values = parameters[axes[2]] if len(axes) > 2 else ()
    places = tuple(float(value) for value in values) if isinstance(values, tuple | list) else ()
    drawn = [mark for mark in plot.marks if isinstance(mark, Line | Scatter)]
    if not places or any(len(mark.x) != len(places) for mark in drawn):
        return replace(plot, x=x, y=y)
    marks = tuple(_at_places(mark, places) for mark in plot.marks)
    return replace(plot, marks=marks, x=Axis(x.label, log=_needs_log(places)), y=y)


def _at_places(mark: PlotMark, places: tuple[float, ...]) -> PlotMark:
    """Moves a curve or points of a plot to other x positions; draws a prediction with several points as a dashed
    line.
    """
    if isinstance(mark, Scatter) and mark.name == "predicted":
        pairs = sorted(zip(places, mark.y, strict=True))
        return Line("predicted", [x for x, _ in pairs], [y for _, y in pairs], "dashed", mark.color, predicted=True)
    return replace(mark, x=places) if isinstance(mark, Line | Scatter) else mark


def _needs_log(places: tuple[float, ...]) -> bool:
    return min(places) > 0 and max(places) / min(places) > LARGEST_RATIO_ON_A_LINEAR_AXIS
