"""Chooses which parameters of a theory claim get a slider on its web page, and the slider's values.

A parameter that belongs to the statement (a step size, a width) comes before one that only sets the precision of the
measurement (a number of repetitions). Values lie around the default, by factors for most parameters.

>>> slider_values("gap", 0.2)
[0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6]
>>> slider_values("width", 64), slider_values("depth", 3)
([8, 16, 32, 64, 128], [1, 2, 3, 4, 5, 6, 7])
"""

from collections.abc import Mapping
from typing import Any

from gnomon.lab import Claim

__all__ = ["parameters_by_interest", "slider_values", "values_that_violate_premise"]

PRECISION = frozenset(
    """
    repeats repetitions draws nets sets samples seeds runs networks realizations signals functions pairs chains paths
    splits graphs cases places groups walkers tested sequences tilts deformations starts count groups members trials
    """.split()
)
"""Parameters that set how precise a measurement is, not what is measured."""
EFFORT = frozenset("steps epochs points grid patches updates paths times reference most".split())
"""Parameters that set how long or how finely something is computed."""
SHARES = frozenset("share keep p gate rho q few beta".split())
"""Parameters between 0 and 1."""
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""Values of a slider, relative to the default."""
ODDS = (1 / 6, 1 / 3, 1 / 2, 1.0, 2.0, 3.0, 6.0)
"""Odds of a share, relative to the odds of the default."""
POWERS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)
"""Factors for sizes that are powers of two."""
LARGEST_COUNTED_NUMBER = 8
"""Whole numbers up to this one get their neighbors as values instead of factors."""


def parameters_by_interest(claim: Claim) -> list[str]:
    """Returns the parameters of a theory claim that can get a slider, the most instructive ones first.

    >>> from gnomon.atlas.catalog import catalog
    >>> parameters_by_interest(catalog()["perceptron-novikoff"].claim)
    ['gap', 'n', 'sets']
    """

    def interest(name: str) -> tuple[int, int]:
        value = claim.parameters[name]
        kind = 2 if name in PRECISION else 1 if name in EFFORT else 0
        return (kind + 3 * isinstance(value, tuple), 0 if isinstance(value, float) else 1)

    names = [name for name, value in claim.parameters.items() if slider_values(name, value)]
    return sorted(names, key=interest)


def slider_values(name: str, default: Any) -> list[Any]:
    """Returns slider values around a parameter's default value, in increasing order; empty for strings and booleans.

    >>> slider_values("keep", 0.5), slider_values("widths", (8, 16))
    ([0.14, 0.25, 0.33, 0.5, 0.67, 0.75, 0.86], [(2, 4), (4, 8), (6, 12), (8, 16), (12, 24), (16, 32), (24, 48)])
    """
    if isinstance(default, bool | str):
        return []
    if isinstance(default, tuple):
        return _scaled_tuples(default)
    if isinstance(default, int):
        return _whole(name, default)
    if name in SHARES and 0 < default < 1:
        odds = default / (1 - default)
        found = [float(f"{factor * odds / (1 + factor * odds):.2g}") for factor in ODDS]
        return sorted({default, *(value for value in found if 0 < value < 1)})
    return sorted({default, *(float(f"{factor * default:.2g}") for factor in FACTORS)}) if default else []


def _whole(name: str, default: int) -> list[int]:
    if default <= LARGEST_COUNTED_NUMBER:
        return [value for value in range(default - 2, default + 5) if value >= 1]
    if default & (default - 1) == 0:  # true if the default is a power of two
        return [int(default * factor) for factor in POWERS]
    rounded = {int(float(f"{factor * default:.2g}")) for factor in FACTORS}
    return sorted({default, *(value for value in rounded if value >= 1)})


def _scaled_tuples(default: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Returns multiples of a tuple of increasing numbers as values of a slider; empty for other tuples."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in default)
    if not numbers or len(default) < 2 or any(b <= a for a, b in zip(default, default[1:], strict=False)):
        return []
    kind = type(default[0])
    scaled = [tuple(kind(round(v * f, 9 if kind is float else 0)) for v in default) for f in FACTORS]
    return sorted({values for values in scaled if len(set(values)) == len(values) and values[0] > 0})


def values_that_violate_premise(claim: Claim, name: str, parameters: Mapping[str, Any]) -> list[Any]:
    """Returns at most two values of a claim's parameter that violate an assumption of the claim.

    >>> from gnomon.atlas.catalog import catalog
    >>> claim = catalog()["perceptron-novikoff"].claim
    >>> values_that_violate_premise(claim, "gap", claim.parameters)
    [0.0]
    """
    default = parameters[name]
    if isinstance(default, tuple | bool | str):
        return []
    kind = type(default)
    tries = [kind(v) for v in (0, 1, 2, default / 16, default * 4, default * 8, default * 32)]
    found: list[Any] = []
    for value in tries:
        if value not in found and _breaks(claim, dict(parameters) | {name: value}):
            found.append(value)
    return sorted(found[:2])


def _breaks(claim: Claim, parameters: Mapping[str, Any]) -> bool:
    try:
        return any(premise.check(parameters) is False for premise in claim.premises)
    except Exception:  # A premise may raise any error at an extreme value. It then counts as undecided.
        return False
