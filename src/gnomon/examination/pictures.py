"""Pictures that several steps share: a learning rate on its scale, scores side by side."""

from collections.abc import Mapping
from math import isfinite, nextafter

from torch import nn

from gnomon.core.results import Axis, Bars, Meter, Plot

__all__ = ["named_kind", "rate_meter", "score_bars"]


def rate_meter(rate: float | None, limit: float) -> tuple[Plot, ...]:
    """A learning rate between slow, stable and unstable; without one, the pointer is at the largest stable.

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
    return (
        Plot("The learning rate", (meter,), Axis("learning rate", log=True), caption=words, id="the-learning-rate"),
    )


def named_kind(name: str, part: nn.Module) -> str:
    """The path of a part of a network with its kind, as in "3 Linear"; kinds of subclasses within torch as people know
    them.

    >>> named_kind("3", nn.Linear(1, 1)), named_kind("out_proj", nn.MultiheadAttention(2, 1).out_proj)
    ('3 Linear', 'out_proj Linear')
    """
    kind = type(part)
    known = kind if hasattr(nn, kind.__name__) or not kind.__module__.startswith("torch.") else kind.__mro__[1]
    return f"{name} {known.__name__}".strip()


def score_bars(
    scores: Mapping[str, float | None], caption: str, *, axis: str = "share right"
) -> tuple[Plot, ...]:  # fmt: skip
    """Shares of right answers, or others, side by side; those that are not known are left out.

    >>> score_bars({"guess": 0.1, "network": None}, "Scores.")[0].marks[0].labels
    ('guess',)
    """
    known = {name: score for name, score in scores.items() if score is not None}
    if not known:
        return ()
    bars = Bars(axis, list(known), list(known.values()))
    return (Plot("Scores", (bars,), Axis(axis, limits=(0.0, 1.0)), caption=caption, id="scores"),)
