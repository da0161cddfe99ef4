"""A bound on the error of a network on new examples, with its receipt: every factor and premise behind it.

    error on new examples <= value    with probability at least 1 - delta over the draw of the training examples     (1)

A bound of 1 or more says nothing (it is vacuous), for no share of wrong answers is larger. ``factors`` are the terms of
a sum or the factors of a product, on one scale, so that the largest of them is what keeps the bound from being smaller.

Reference: [jiang2020fantastic] on bounds beside measured gaps.

>>> from gnomon.core.results import Value
>>> factors = Value("product of spectral norms", 120.0), Value("inverse margin", 4.0)
>>> bound = Bound("spectral", 480.0, factors, 0.05)
>>> bound.vacuous, bound.dominating.name
(True, 'product of spectral norms')
"""

from dataclasses import dataclass

from gnomon.core.results import Axis, Bars, Definition, Hypothesis, Plot, Reference, Result, Value

__all__ = ["Bound"]


@dataclass(frozen=True, slots=True)
class Bound(Result):
    """A bound (1) by name, with what it is made of and what was measured beside it.

    ``order`` tells that the theorem is stated up to constants and logarithms, so that the value has no confidence
    of its own and can only be compared with others of its kind. ``measured`` is the same quantity on examples that
    were kept apart, with its interval, where there are any.
    """

    name: str
    value: float
    factors: tuple[Value, ...]
    delta: float
    hypotheses: tuple[Hypothesis, ...] = ()
    definition: Definition = Definition("", "")
    measured: Value | None = None
    order: bool = False

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: it is at least 1."""
        return not self.value < 1

    @property
    def dominating(self) -> Value:
        """The largest of the factors."""
        return max(self.factors, key=lambda factor: float(factor.value))

    @property
    def holds(self) -> bool | None:
        """Whether the measured value is below the bound; None where nothing was measured."""
        return None if self.measured is None else float(self.measured.value) <= self.value

    @property
    def broken(self) -> tuple[Hypothesis, ...]:
        """Premises that were checked and do not hold."""
        return tuple(premise for premise in self.hypotheses if premise.holds is False)

    @property
    def verdict(self) -> str:
        """One sentence."""
        size = f"{self.value:.3g}" if self.vacuous else f"{self.value:.2%}"
        up_to = " up to constants and logarithms" if self.order else f" at confidence {1 - self.delta:.3g}"
        says = "which says nothing, for it is above 1" if self.vacuous else "which is below 1 and says something"
        beside = "" if self.measured is None else f"; measured: {float(self.measured.value):.2%}"
        broken = f" A premise does not hold: {self.broken[0].statement}." if self.broken else ""
        if self.holds is False:
            broken += " The measured value is above the bound: do not use this bound."
        return (
            f"The bound '{self.name}' is {size}{up_to}, {says}{beside}. Its largest part is '{self.dominating.name}' "
            f"({float(self.dominating.value):.3g}).{broken}"
        )

    def plots(self) -> tuple[Plot, ...]:
        """The parts of the bound, and the measured value as a line."""
        bars = Bars("part", [f.name for f in self.factors], [float(f.value) for f in self.factors])
        beside = () if self.measured is None else (Reference("measured", float(self.measured.value), vertical=True),)
        return (Plot(f"Parts of the bound '{self.name}'", (bars, *beside), Axis("size"), caption=self.verdict),)
