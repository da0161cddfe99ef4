"""Represents an upper bound on the error of a network on unseen examples, with all its factors and assumptions.

    error on new examples <= value    with probability at least 1 - delta over the draw of the training examples     (1)

A bound of 1 or more is vacuous, because no error rate is larger. ``factors`` are the terms of a sum or the factors of a
product on one scale; the largest of them contributes most to the bound.

Reference: [jiang2020fantastic] on bounds compared with measured gaps.

>>> from gnomon.core.results import Value
>>> factors = Value("product of spectral norms", 120.0), Value("inverse margin", 4.0)
>>> bound = GeneralizationErrorBound("spectral", 480.0, factors, 0.05)
>>> bound.vacuous, bound.dominating.name
(True, 'product of spectral norms')
"""

from dataclasses import dataclass

from gnomon.core.results import Axis, Bars, Hypothesis, Plot, QuantityDefinition, Reference, Result, Value

__all__ = ["GeneralizationErrorBound"]


@dataclass(frozen=True, slots=True)
class GeneralizationErrorBound(Result):
    """An upper bound on the error of a network: its value, factors and assumptions, and the measured error if known.

    ``order`` means that the theorem is stated up to constants and logarithms, so the value has no confidence level and
    can only be compared with similar values. ``measured`` is the same quantity on held-out examples, with its interval,
    or None.
    """

    name: str
    value: float
    factors: tuple[Value, ...]
    delta: float
    hypotheses: tuple[Hypothesis, ...] = ()
    definition: QuantityDefinition = QuantityDefinition("", "")
    measured: Value | None = None
    order: bool = False

    @property
    def vacuous(self) -> bool:
        """Returns whether the bound is at least 1, and therefore says nothing about an error rate."""
        return not self.value < 1

    @property
    def dominating(self) -> Value:
        """Returns the factor of the error bound with the largest value."""
        return max(self.factors, key=lambda factor: float(factor.value))

    @property
    def holds(self) -> bool | None:
        """Returns whether the measured error is below the bound; None if the error was not measured."""
        return None if self.measured is None else float(self.measured.value) <= self.value

    @property
    def broken(self) -> tuple[Hypothesis, ...]:
        """Returns the assumptions of the bound that were checked and do not hold."""
        return tuple(premise for premise in self.hypotheses if premise.holds is False)

    @property
    def verdict(self) -> str:
        """States the value of the error bound, compared with the measured error if there is one."""
        size = f"{self.value:.3g}" if self.vacuous else f"{self.value:.2%}"
        up_to = " up to constants and logarithms" if self.order else f" at confidence {1 - self.delta:.3g}"
        says = "which is vacuous because it is above 1" if self.vacuous else "which is below 1, so it is not vacuous"
        measured = "" if self.measured is None else f"; measured: {float(self.measured.value):.2%}"
        broken = f" This assumption of the bound does not hold: {self.broken[0].statement}." if self.broken else ""
        if self.holds is False:
            broken += " The measured value is above the bound: do not use this bound."
        return (
            f"The bound '{self.name}' is {size}{up_to}, {says}{measured}. Its largest part is '{self.dominating.name}' "
            f"({float(self.dominating.value):.3g}).{broken}"
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the factors of the error bound, with the measured error as a line."""
        bars = Bars("part", [f.name for f in self.factors], [float(f.value) for f in self.factors])
        measured = () if self.measured is None else (Reference("measured", float(self.measured.value), vertical=True),)
        return (Plot(f"Parts of the bound '{self.name}'", (bars, *measured), Axis("size"), caption=self.verdict),)
