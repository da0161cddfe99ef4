"""A statement with a level, and the simulation that measures how often it is true.

A p-value must be uniform when the null hypothesis holds: a Kolmogorov-Smirnov test compares the simulated p-values with
the uniform distribution. A p-value with few possible values is spread evenly over the step below it first, which makes
an exact one uniform. An interval must contain the truth as often as it says, and a bound must hold at least as often as
it says. Both rates are compared with the exact binomial interval of the simulation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import beta, kstest

Kind = Literal["p-value", "cautious p-value", "interval", "cautious interval", "bound"]

JUDGE_CONFIDENCE = 0.999
"""Confidence of the comparison with the stated level: a correct statement fails it once in a thousand rows."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an instrument.

    ``simulate(seed)`` makes one repetition. For a p-value it returns the p-value and the next smaller value it could
    have had; for an interval or a bound, whether it was true, and the share of the bound that was reached (or None).
    A cautious statement may be true more often than it says, and ``note`` says why. ``quick`` repetitions are made by
    the default tests; 0 leaves an expensive simulation to the full tests.
    """

    instrument: str
    case: str
    kind: Kind
    level: float | None
    simulate: Callable[[int], tuple[float, float | None]]
    repetitions: int
    quick: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a statement was true, with the interval of that rate, and whether it kept its level.

    For p-values, ``rate`` is how often they were at most 0.05 and ``reached`` the p-value of the Kolmogorov-Smirnov test;
    for bounds, ``reached`` is the share of the bound that the truth reached.
    """

    repetitions: int
    rate: float
    low: float
    high: float
    reached: float | None
    kept: bool


def measure(statement: Statement, *, quick: bool = False, seed: int = 0) -> Rate:
    """Simulate a statement; each repetition has its own seed."""
    count = statement.quick if quick else statement.repetitions
    rows = [statement.simulate(seed * 1_000_003 + i) for i in range(count)]
    if statement.kind in ("p-value", "cautious p-value"):
        return _uniform(statement, rows, seed)
    return _frequency(statement, rows)


def _uniform(statement: Statement, rows: list[tuple[float, float | None]], seed: int) -> Rate:
    """Compare p-values with the uniform distribution; a cautious p-value may be larger than uniform, never smaller."""
    spread = np.random.default_rng(seed).random(len(rows))
    p = np.array([value for value, _ in rows])
    if statement.kind == "p-value":
        below = np.array([value if lower is None else lower for value, lower in rows])
        found = float(kstest(p - spread * (p - below), "uniform").pvalue)
    else:
        found = float(kstest(p, "uniform", alternative="greater").pvalue)
    rejected = int((p <= 0.05).sum())
    low, high = binomial_limits(rejected, len(p))
    return Rate(len(p), rejected / len(p), low, high, found, found > 1 - JUDGE_CONFIDENCE)


def _frequency(statement: Statement, rows: list[tuple[float, float | None]]) -> Rate:
    """Compare the rate of true statements with the stated one."""
    true = sum(bool(one) for one, _ in rows)
    low, high = binomial_limits(true, len(rows))
    assert statement.level is not None
    kept = low <= statement.level <= high if statement.kind == "interval" else high >= statement.level
    shares = [share for _, share in rows if share is not None]
    reached = float(np.quantile(shares, statement.level)) if shares else None
    return Rate(len(rows), true / len(rows), low, high, reached, kept)


def binomial_limits(successes: int, trials: int) -> tuple[float, float]:
    """The exact interval of a rate at `JUDGE_CONFIDENCE`; from scipy, so that it shares no code with the package."""
    tail = (1 - JUDGE_CONFIDENCE) / 2
    low = float(beta.ppf(tail, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.ppf(1 - tail, successes + 1, trials - successes)) if successes < trials else 1.0
    return low, high
