"""The records of a page; everything on it is here, and `to_dict` is what is embedded as data.

>>> why = Hypothesis("inputs are standardized", holds=True)
>>> what = Definition("rms = sqrt(mean x^2)", "the size of the inputs")
>>> section = Section("data", "The data", "Are they fine?", "Yes.", "good", (Value("rms", 1.0),), (), (what,), (why,))
>>> advice = Advice("Do nothing", "all is well", "data", 0.1)
>>> page = Page("A page", ("Fine.",), (section,), (advice,), {"seed": 0})
>>> page.to_dict()["sections"][0]["values"][0]["value"]
1.0
>>> Figure("line", "A line.", "<svg></svg>").name
'line'
"""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from gnomon.core.record import Record

Status = Literal["good", "note", "fault", "skipped", "failed"]
"""How a section came out."""


@dataclass(frozen=True, slots=True)
class Value(Record):
    """A named number with its interval, or a word.

    >>> str(Value("largest stable step", 1.25, 1.2, 1.3, meaning="2 / lambda_max"))
    '1.25 (1.2 to 1.3)'
    """

    name: str
    value: float | int | str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    meaning: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        known = self.low is not None and self.high is not None
        between = f"{shown(self.low)} to {shown(self.high)}" if known else ""  # type: ignore[arg-type]
        narrow = between == f"{shown(self.value)} to {shown(self.value)}"  # narrower than the digits that are shown
        return f"{shown(self.value)}{unit}" + (f" ({between})" if between and not narrow else "")


@dataclass(frozen=True, slots=True)
class Definition(Record):
    """What a quantity is: an equation in plain characters, a sentence, the key of a reference."""

    equation: str
    text: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Hypothesis(Record):
    """A premise, whether it holds here (None: not checked), and how that is known."""

    statement: str
    holds: bool | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Figure(Record):
    """A drawing as SVG, with the sentence that says what to see in it."""

    name: str
    caption: str
    svg: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Section(Record):
    """One step: its answer in a sentence, and what supports it."""

    key: str
    title: str
    question: str
    answer: str
    status: Status = "good"
    values: tuple[Value, ...] = ()
    figures: tuple[Figure, ...] = ()
    definitions: tuple[Definition, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    seconds: float = 0.0
    data: dict[str, Any] = field(default_factory=dict, repr=False)

    def value(self, name: str) -> Value | None:
        """The value of that name, if the section has it."""
        return next((v for v in self.values if v.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not finite becomes a word."""
        return {
            "key": self.key,
            "title": self.title,
            "question": self.question,
            "answer": self.answer,
            "status": self.status,
            "values": [
                {
                    "name": v.name,
                    "value": plain(v.value),
                    "low": plain(v.low),
                    "high": plain(v.high),
                    "unit": v.unit,
                }
                for v in self.values
            ],
            "hypotheses": [{"statement": h.statement, "holds": h.holds, "why": h.why} for h in self.hypotheses],
            "figures": [f.name for f in self.figures],
            "seconds": self.seconds,
            "data": plain(self.data),
        }


@dataclass(frozen=True, slots=True)
class Advice(Record):
    """An action, the measurement that supports it, the section it comes from; ``effect`` in [0, 1] ranks it."""

    action: str
    because: str
    section: str
    effect: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"action": self.action, "because": self.because, "section": self.section, "effect": self.effect}


@dataclass(frozen=True, slots=True)
class Page(Record):
    """A whole report; ``headlines`` are the verdicts in words."""

    title: str
    headlines: tuple[str, ...]
    sections: tuple[Section, ...]
    advice: tuple[Advice, ...]
    manifest: dict[str, Any]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "title": self.title,
            "headlines": list(self.headlines),
            "advice": [a.to_dict() for a in self.advice],
            "sections": [s.to_dict() for s in self.sections],
            "manifest": plain(self.manifest),
            "note": self.note,
        }


def plain(value: Any) -> Any:
    """Numbers, words, lists and dicts; JSON has no infinity, so what is not finite becomes its name.

    >>> plain({"a": (1, float("inf"))})
    {'a': [1, 'inf']}
    """
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return value


def shown(value: float | int | str) -> str:
    """Three digits, as people read them.

    >>> shown(1234567), shown(0.000123456), shown("tanh"), shown(2.0)
    ('1,234,567', '0.000123', 'tanh', '2')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 1e5 or (value != 0 and abs(value) < 1e-4):
        return f"{value:.2e}"
    return f"{value:.3g}"
