"""Stores a series of numbers of unknown length in bounded memory.

>>> series = ThinnedSeries(limit=4)
>>> for step in range(9):
...     series.add(step, step**2)
>>> series.pairs
((0, 0.0), (4, 16.0), (8, 64.0))
"""

from dataclasses import dataclass, field

__all__ = ["ThinnedSeries"]

DEFAULT_LIMIT = 2000
"""Pairs that are kept; more do not change a picture."""


@dataclass(slots=True)
class ThinnedSeries:
    """Stores a series of numbers in bounded memory: at the limit it drops every second number and doubles the
    spacing.
    """

    limit: int = DEFAULT_LIMIT
    stride: int = 1
    count: int = 0
    kept: list[tuple[int, float]] = field(default_factory=list)

    def add(self, step: int, value: float) -> None:
        """Adds a number to the series, unless the current spacing skips this step."""
        if self.count % self.stride == 0:
            if len(self.kept) >= self.limit:
                self.kept = self.kept[::2]
                self.stride *= 2
            if self.count % self.stride == 0:
                self.kept.append((step, float(value)))
        self.count += 1

    @property
    def pairs(self) -> tuple[tuple[int, float], ...]:
        """Returns the stored numbers of the series as pairs (step, number)."""
        return tuple(self.kept)
