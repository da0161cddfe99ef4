"""Defines the building blocks of all results: values, findings (reported problems), hypotheses, plots.

A `Value` is a named number with its interval and how it was obtained; a `Hypothesis` says whether a premise holds here
and how that was checked; a `Finding` says what is wrong, where, how serious it is and what to do; a `Plot` is a picture
as data; a `Result` holds all of these and shows itself as text, JSON, a drawing and HTML.
"""

from gnomon.core.results.curves import Curves, ResultWithCurves
from gnomon.core.results.drawing import draw
from gnomon.core.results.finding import Finding, FindingKind, Hypothesis, Level, QuantityDefinition
from gnomon.core.results.plain import to_json_value
from gnomon.core.results.plot import Axis, Band, Bars, Histogram, Image, Line, Plot, RangeMeter, Reference, Scatter
from gnomon.core.results.result import Result
from gnomon.core.results.value import Interval, Value, format_number

__all__ = [
    "Axis",
    "Band",
    "Bars",
    "Curves",
    "QuantityDefinition",
    "Finding",
    "Histogram",
    "Hypothesis",
    "Image",
    "Interval",
    "FindingKind",
    "Level",
    "Line",
    "RangeMeter",
    "Plot",
    "Reference",
    "Result",
    "Scatter",
    "Value",
    "ResultWithCurves",
    "draw",
    "to_json_value",
    "format_number",
]
