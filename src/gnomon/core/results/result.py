"""Base class of all results: a one-sentence verdict, plots, and output as text, as JSON and as HTML for notebooks.

A result is a frozen dataclass that states its ``verdict`` and optionally its ``plots`` and ``findings``; all
else is derived here, so that every result of every instrument behaves in the same way.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, slots=True)
... class Speed(Result):
...     meters: float
...     seconds: float
...     @property
...     def verdict(self):
...         return f"{self.meters / self.seconds:.3g} m/s."
>>> Speed(10.0, 4.0)
Speed: 2.5 m/s.
  meters   10.0
  seconds  4.0
>>> Speed(10.0, 4.0).to_dict()
{'meters': 10.0, 'seconds': 4.0, 'verdict': '2.5 m/s.'}
"""

from dataclasses import fields
from html import escape
from math import isfinite
from typing import Any

from gnomon.core.results.drawing import draw_all
from gnomon.core.results.finding import Finding
from gnomon.core.results.plain import public_fields, to_json_value
from gnomon.core.results.plot import Axis, Bars, Plot
from gnomon.core.results.record import MAX_CHARACTERS, Record, summary

__all__ = ["Result"]

MAX_FIELDS = 20
"""Maximum number of fields in the text of a result."""
MAX_VERDICT_CHARACTERS = 500
"""Maximum number of characters of the verdict in the text of a result."""


class Result(Record):
    """Base class of all results, with a verdict, findings (reported problems), plots and conversion to JSON."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        # Set before the dataclass decorator runs, which adds a __repr__ only if the class has none.
        if "__repr__" not in vars(cls):
            cls.__repr__ = screen  # type: ignore[method-assign]

    @property
    def verdict(self) -> str:
        """Returns one sentence that says what the numbers mean for the reader."""
        raise NotImplementedError(f"{type(self).__name__} must define a verdict")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns the problems, warnings and notes of the result, the most serious first."""
        return ()

    def plots(self) -> tuple[Plot, ...]:
        """Returns the plots of the result as data; by default bar charts of its numbers."""
        pairs = [(f.name.replace("_", " "), getattr(self, f.name)) for f in fields(self) if not f.name.startswith("_")]  # type: ignore[arg-type]
        numbers = [(name, v) for name, v in pairs if isinstance(v, int | float) and not isinstance(v, bool)]
        counts = [(name, float(v)) for name, v in numbers if isinstance(v, int)]
        others = [(name, float(v)) for name, v in numbers if isinstance(v, float) and isfinite(v)]
        groups = [("values", others, "value"), ("counts", counts, "number")]
        named = f"{type(self).__name__}: " if counts and others else type(self).__name__
        return tuple(
            Plot(f"{named}{what if counts and others else ''}", (Bars(unit, *zip(*rows, strict=True)),), Axis(unit),
                 caption=self.verdict)
            for what, rows, unit in groups if rows
        ) or (Plot(type(self).__name__, (), caption=self.verdict),)  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Converts fields, verdict and findings of the result to plain values for JSON; infinity and NaN become
        strings.
        """
        numbers = public_fields(self) | {"verdict": self.verdict}
        return numbers | ({"findings": to_json_value(self.findings)} if self.findings else {})

    def plot(self, ax: Any = None) -> Any:
        """Draws the result's plots with matplotlib and returns the axes of the first plot.

        On given axes only the first plot is drawn. Otherwise all plots are drawn on a new figure with the verdict as
        title; the axes of the others are in ``axes.figure.axes``.
        """
        return draw_all(self.plots(), self.verdict, ax)

    def __str__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        """Returns the verdict, the findings, the numbers and the plots as HTML for notebooks."""
        from gnomon.core.results.svg import plots_svg

        cells = [
            f"<tr><th style='text-align:left'>{escape(name.replace('_', ' '))}</th><td>{escape(text)}</td></tr>"
            for name, text in _rows(self)
        ]
        listed = "".join(f"<li>{escape(str(finding))}</li>" for finding in self.findings)
        plots = self.plots()
        picture = plots_svg(plots, type(self).__name__.lower(), width=5.5 * len(plots))
        fixes = f"<ul>{listed}</ul>" if listed else ""
        return (
            f"<div><p><strong>{escape(self.verdict)}</strong></p>{fixes}{picture}"
            f"<details><summary>Numbers</summary><table>{''.join(cells)}</table></details></div>"
        )


def screen(result: Any) -> str:
    """Formats a result as text: the verdict, then one line per field.

    Cost: one pass over its tensors.
    """
    rows = _rows(result)
    wide = max((len(name) for name, _ in rows), default=0)
    verdict = (
        result.verdict
        if len(result.verdict) <= MAX_VERDICT_CHARACTERS
        else f"{result.verdict[: MAX_VERDICT_CHARACTERS - 3]}..."
    )
    lines = [f"{type(result).__name__}: {verdict}"]
    for i, (name, text) in enumerate(rows):
        line = f"  {name:<{wide}}  {text}".rstrip()
        if i >= MAX_FIELDS or sum(map(len, lines)) + len(line) > MAX_CHARACTERS - 60:
            lines.append(f"  ... and {len(rows) - i} more")
            break
        lines.append(line)
    return "\n".join(lines)


def _rows(result: Any) -> list[tuple[str, str]]:
    shown = [f.name for f in fields(result) if f.repr and not f.name.startswith("_")]
    return [(name, summary(getattr(result, name))) for name in shown]
