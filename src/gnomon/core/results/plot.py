"""Describes plots as data (lines, dots or bars on two axes), for drawing with matplotlib, in HTML or in a browser.

>>> losses = Line("training loss", (1, 2, 3), (0.9, 0.5, 0.2))
>>> plot = Plot("Training", (losses,), Axis("step"), Axis("loss", log=True))
>>> plot.to_dict()["marks"][0]["type"], plot.y.log
('line', True)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gnomon.core.results.plain import public_fields, to_json_value
from gnomon.core.results.record import Record

__all__ = [
    "Axis",
    "Band",
    "Bars",
    "Histogram",
    "Image",
    "Line",
    "PlotMark",
    "NEUTRAL_SERIES_INDEX",
    "RangeMeter",
    "Plot",
    "Reference",
    "Scatter",
    "as_floats",
]

Numbers = Any
"""Any sequence, array or tensor of numbers; stored as a tuple of floats."""
Style = Literal["solid", "dashed", "dotted"]
NEUTRAL_SERIES_INDEX = 4
"""Index of the gray color, for lines to compare with."""


def as_floats(values: Any) -> tuple[float, ...]:
    """Converts a tensor, an array or any sequence of numbers to a tuple of floats.

    Cost: a copy on the CPU.

    >>> as_floats(range(3))
    (0.0, 1.0, 2.0)
    """
    if hasattr(values, "tolist"):
        values = values.detach().cpu().tolist() if hasattr(values, "detach") else values.tolist()
    return tuple(float(v) for v in values)


@dataclass(frozen=True, slots=True)
class Axis(Record):
    """An axis of a plot: its label, whether it is logarithmic, and its limits (by default from the data).

    ``other_unit`` is the name of another unit that a reader can choose, and the factor from this unit to it.
    """

    label: str = ""
    log: bool = False
    limits: tuple[float, float] | None = None
    other_unit: tuple[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Line(Record):
    """A curve of a plot through points (x, y); curves with the same ``color`` number have the same color.

    ``predicted``: theory says so, and nothing was measured.

    >>> Line("loss", [1, 2], [0.5, 0.25]).y
    (0.5, 0.25)
    """

    name: str
    x: Numbers
    y: Numbers
    style: Style = "solid"
    color: int | None = None
    predicted: bool = False

    def __post_init__(self) -> None:
        _freeze(self, "x", "y")


@dataclass(frozen=True, slots=True)
class Scatter(Record):
    """Separate dots of a plot at points (x, y), with error bars from ``low`` to ``high`` if given."""

    name: str
    x: Numbers
    y: Numbers
    color: int | None = None
    low: Numbers = ()
    high: Numbers = ()

    def __post_init__(self) -> None:
        _freeze(self, "x", "y", "low", "high")


@dataclass(frozen=True, slots=True)
class Band(Record):
    """The filled area between two curves of a plot, such as a confidence interval."""

    name: str
    x: Numbers
    low: Numbers
    high: Numbers
    color: int | None = None

    def __post_init__(self) -> None:
        _freeze(self, "x", "low", "high")


@dataclass(frozen=True, slots=True)
class Bars(Record):
    """Horizontal bars of a plot: one value for each label."""

    name: str
    labels: Sequence[str]
    values: Numbers

    def __post_init__(self) -> None:
        _freeze(self, "values")
        object.__setattr__(self, "labels", tuple(map(str, self.labels)))


@dataclass(frozen=True, slots=True)
class Histogram(Record):
    """A histogram in a plot: the number of values between successive edges.

    >>> Histogram.of("margins", [0.0, 0.1, 0.9, 1.0], bins=2).counts
    (2.0, 2.0)
    """

    name: str
    edges: Numbers
    counts: Numbers

    def __post_init__(self) -> None:
        _freeze(self, "edges", "counts")

    @classmethod
    def of(cls, name: str, values: Numbers, *, bins: int = 40) -> "Histogram":
        """Creates a histogram of some values with ``bins`` bins of equal width."""
        import numpy as np

        numbers = np.asarray(as_floats(values))
        size = float(np.abs(numbers).max(initial=0.0))
        # The range of the numbers is too narrow for this many bins, so the range is widened.
        if len(numbers) and np.ptp(numbers) <= bins * np.finfo(float).eps * size:
            middle, half = float(numbers.mean()), 0.5 * size or 0.5
            counts, edges = np.histogram(numbers, bins=bins, range=(middle - half, middle + half))
        else:
            counts, edges = np.histogram(numbers, bins=bins)
        return cls(name, as_floats(edges), as_floats(counts))


@dataclass(frozen=True, slots=True)
class Image(Record):
    """A matrix drawn as an image in a plot: first row on top, with a color bar labeled ``name``.

    ``rows`` and ``columns`` are words along the sides. ``written``: each cell shows its number, and
    its color is the share of the row. ``centered``: two
    colors for the two signs, with zero in the middle. ``extent`` holds the coordinates of the left, right, lower and
    upper edge, so that other marks can be placed on the picture. ``contours``: lines of equal value. ``under`` is a
    picture in gray under the values, which are the more opaque the larger they are.

    >>> Image("examples", [[3, 1], [0, 4]], rows=("cat", "dog"), columns=("cat", "dog"), written=True).values
    ((3.0, 1.0), (0.0, 4.0))
    """

    name: str
    values: Numbers
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    written: bool = False
    centered: bool = False
    extent: tuple[float, float, float, float] | None = None
    contours: bool = False
    under: Numbers = ()

    def __post_init__(self) -> None:
        for field_name in ("values", "under"):
            rows = tuple(as_floats(row) for row in getattr(self, field_name))
            object.__setattr__(self, field_name, rows)
        if self.extent is not None:
            object.__setattr__(self, "extent", tuple(map(float, self.extent)))
        object.__setattr__(self, "rows", tuple(map(str, self.rows)))
        object.__setattr__(self, "columns", tuple(map(str, self.columns)))


@dataclass(frozen=True, slots=True)
class Reference(Record):
    """A straight reference line across a whole plot, horizontal or vertical."""

    name: str
    at: float
    vertical: bool = False


@dataclass(frozen=True, slots=True)
class RangeMeter(Record):
    """A horizontal gauge with named zones, such as "slow" and "unstable", and a pointer at one value.

    >>> RangeMeter("change", 0.2, (0.01, 0.1, 1.0), ("small", "large")).zone
    'large'
    """

    name: str
    value: float
    edges: Numbers
    zones: Sequence[str]

    def __post_init__(self) -> None:
        _freeze(self, "edges")
        object.__setattr__(self, "zones", tuple(map(str, self.zones)))

    @property
    def pointer(self) -> float:
        """Returns the position of the gauge's pointer: the value, clipped to the range of the scale."""
        return min(max(self.value, self.edges[0]), self.edges[-1])

    @property
    def zone(self) -> str:
        """Returns the name of the gauge's zone that contains the value."""
        return self.zones[min(sum(self.value >= edge for edge in self.edges[1:-1]), len(self.zones) - 1)]


PlotMark = Line | Scatter | Band | Bars | Histogram | Image | Reference | RangeMeter
"""All kinds of marks that a plot can show."""


@dataclass(frozen=True, slots=True)
class Plot(Record):
    """A plot as data: lines, dots or bars on two axes, with a title and a caption.

    ``id`` is a stable key for programs; plots that are looked up or compared have one.
    """

    title: str
    marks: tuple[PlotMark, ...]
    x: Axis = Axis()
    y: Axis = Axis()
    caption: str = ""
    id: str = ""

    @property
    def colors(self) -> tuple[int, ...]:
        """Chooses the color index of each element of a plot: a new one for each curve, the curve's for its band, gray
        for references.

        >>> Plot("P", (Line("a", (), ()), Band("b", (), (), ()), Reference("r", 0.0), Scatter("c", (), ()))).colors
        (0, 0, 4, 1)
        """
        found: list[int] = []
        fresh = last = 0
        for mark in self.marks:
            if isinstance(mark, Reference):
                found.append(NEUTRAL_SERIES_INDEX)
                continue
            own = mark.color if isinstance(mark, Line | Scatter | Band) else None
            if own is None and isinstance(mark, Band):
                own = last
            if own is None:
                own, fresh = fresh, fresh + 1
            last = own
            found.append(own)
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Converts the plot to plain values for JSON; each of its elements has a ``type``."""
        marks = [{"type": type(mark).__name__.lower(), **public_fields(mark)} for mark in self.marks]
        axes = {"x": public_fields(self.x), "y": public_fields(self.y)}
        head = {"id": self.id, "title": self.title, "caption": self.caption, **axes}
        return to_json_value({**head, "marks": marks, "colors": list(self.colors)})


def _freeze(mark: Any, *names: str) -> None:
    for name in names:
        object.__setattr__(mark, name, as_floats(getattr(mark, name)))
