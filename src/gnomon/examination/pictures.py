"""Pictures that several steps share: a learning rate on its scale, scores side by side."""

from collections.abc import Mapping
from math import isfinite, nextafter

from gnomon.core.results import Axis, Bars, Meter, Plot

__all__ = ["rate_meter", "score_bars"]


def rate_meter(rate: float | None, limit: float) -> tuple[Plot, ...]:
    """A learning rate between slow, stable and unstable; without one, the pointer is at the largest stable.

    Cost: none.

    >>> rate_meter(0.1, 2.0)[0].marks[0].zone
    'slow'
    >>> rate_meter(None, 2.0)[0].marks[0].zone
    'stable'
    """
    if not isfinite(limit) or limit <= 0:
        return ()
    edges = (limit / 1000, limit / 10, limit, 10 * limit)
    name, value = ("largest stable:", nextafter(limit, 0.0)) if rate is None else ("in use:", rate)
    words = "Far below the limit training is slow; above it plain gradient descent is unstable from the first step."
    meter = Meter(name, value, edges, ("slow", "stable", "unstable"))
    return (Plot("The learning rate", (meter,), Axis("learning rate", log=True), caption=words),)


def score_bars(scores: Mapping[str, float | None], caption: str) -> tuple[Plot, ...]:
    """Shares of right answers side by side; those that are not known are left out.

    Cost: none.

    >>> score_bars({"guess": 0.1, "network": None}, "Scores.")[0].marks[0].labels
    ('guess',)
    """
    known = {name: score for name, score in scores.items() if score is not None}
    if not known:
        return ()
    axis = Axis("share right", limits=(0.0, 1.0))
    return (Plot("Scores", (Bars("share right", list(known), list(known.values())),), axis, caption=caption),)
