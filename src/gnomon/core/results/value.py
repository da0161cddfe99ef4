"""Defines a named number with its interval, its unit and how it was obtained (exact, bound, estimate).

>>> print(Value("largest stable learning rate", 1.25, Interval(1.2, 1.3, 0.95), "estimate"))
1.25 (1.2 to 1.3)
"""

from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

from gnomon.core.results.record import Record

__all__ = ["Interval", "HowValueWasObtained", "Value", "format_number"]

HowValueWasObtained = Literal["exact", "upper bound", "lower bound", "estimate"]
"""How a number was obtained: to rounding, as a proven bound, or from a sample or an iteration."""


@dataclass(frozen=True, slots=True)
class Interval(Record):
    """An interval [low, high]; ``confidence`` is the probability that the interval contains the true value, None if
    certain.

    >>> print(Interval(0.1, 0.25, 0.95)), 0.2 in Interval(0.1, 0.25)
    0.1 to 0.25 (95 % confidence)
    (None, True)
    """

    low: float
    high: float
    confidence: float | None = None

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """Returns the width of the interval, high - low."""
        return self.high - self.low

    def __str__(self) -> str:
        sure = "" if self.confidence is None else f" ({_percent(self.confidence)} % confidence)"
        return f"{format_number(self.low)} to {format_number(self.high)}{sure}"


def _percent(confidence: float) -> str:
    """Formats a confidence level in percent; never rounds a level below 1 to 100."""
    text = f"{100 * confidence:.3g}"
    return "over 99.9" if text == "100" and confidence < 1 else text


@dataclass(frozen=True, slots=True)
class Value(Record):
    """A named number (or word) with its interval, its unit, how it was obtained, and what it means.

    ``id`` is a stable key for programs; values that are looked up or compared have one.

    >>> str(Value("parameters", 1234567)), str(Value("step", 3.2, unit="ms"))
    ('1,234,567', '3.2 ms')
    """

    name: str
    value: float | int | str
    interval: Interval | None = None
    obtained: HowValueWasObtained = "exact"
    unit: str = ""
    meaning: str = ""
    id: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        sign = {"upper bound": "at most ", "lower bound": "at least "}.get(self.obtained, "")
        between = (
            ""
            if self.interval is None
            else f"{format_number(self.interval.low)} to {format_number(self.interval.high)}"
        )
        narrow = (
            between == f"{format_number(self.value)} to {format_number(self.value)}"
        )  # The interval is left out if both ends print the same digits as the value
        return f"{sign}{format_number(self.value)}{unit}" + (f" ({between})" if between and not narrow else "")

    def to_dict(self) -> dict[str, Any]:
        """Converts the value to a dict for JSON; its interval becomes ``low``, ``high`` and ``confidence``."""
        from gnomon.core.results.plain import to_json_value

        known = self.interval
        low, high, sure = (None, None, None) if known is None else (known.low, known.high, known.confidence)
        return to_json_value(
            {"id": self.id, "name": self.name, "value": self.value, "low": low, "high": high, "confidence": sure,
             "obtained": self.obtained, "unit": self.unit, "meaning": self.meaning}
        )  # fmt: skip


def format_number(value: float | int | str) -> str:
    """Formats a number as text with three significant digits.

    >>> tuple(format_number(value) for value in (1234567, 0.000123456, "tanh", 2.0, 12345.6, float("inf")))
    ('1,234,567', '0.000123', 'tanh', '2', '12,300', 'infinite')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isnan(value):
        return "undefined"
    if value in (float("inf"), float("-inf")):
        return "infinite" if value > 0 else "minus infinite"
    if abs(value) >= 1e5 or (value != 0 and abs(value) < 1e-4):
        return f"{value:.2e}"
    rounded = f"{value:.3g}"
    return f"{float(rounded):,.0f}" if abs(float(rounded)) >= 1000 else rounded
