"""Makes plots that several sections of the report share: a learning rate scale, and bars of scores."""

from collections.abc import Mapping
from math import isfinite, nextafter

from torch import nn

from gnomon.core.results import Axis, Bars, Plot, RangeMeter

__all__ = ["layer_path_and_class", "learning_rate_scale_plot", "score_bars"]


def learning_rate_scale_plot(rate: float | None, limit: float) -> tuple[Plot, ...]:
    """Plots a learning rate on a scale from slow to unstable; without a rate, only the largest stable one.

    >>> learning_rate_scale_plot(0.1, 2.0)[0].marks[0].zone
    'slow'
    >>> learning_rate_scale_plot(None, 2.0)[0].marks[0].zone
    'stable'
    """
    if not isfinite(limit) or limit <= 0:
        return ()
    name, value = ("largest stable:", nextafter(limit, 0.0)) if rate is None else ("in use:", rate)
    edges = (min(limit / 1000, value), limit / 10, limit, max(10 * limit, value))
    words = (
        "With a learning rate far below the limit training is slow; above the limit plain gradient descent is "
        "unstable from the first step."
    )
    meter = RangeMeter(name, value, edges, ("slow", "stable", "unstable"))
    return (
        Plot("The learning rate", (meter,), Axis("learning rate", log=True), caption=words, id="the-learning-rate"),
    )


def layer_path_and_class(name: str, part: nn.Module) -> str:
    """Returns a layer's path and class as text, such as "3 Linear".

    >>> layer_path_and_class("3", nn.Linear(1, 1)), layer_path_and_class("out_proj", nn.MultiheadAttention(2,
    ...     1).out_proj)
    ('3 Linear', 'out_proj Linear')
    """
    kind = type(part)
    known = kind if hasattr(nn, kind.__name__) or not kind.__module__.startswith("torch.") else kind.__mro__[1]
    return f"{name} {known.__name__}".strip()


def score_bars(
    scores: Mapping[str, float | None], caption: str, *, axis: str = "share right"
) -> tuple[Plot, ...]:  # fmt: skip
    """Plots scores as bars; leaves out scores that are None.

    >>> score_bars({"guess": 0.1, "network": None}, "Scores.")[0].marks[0].labels
    ('guess',)
    """
    known = {name: score for name, score in scores.items() if score is not None}
    if not known:
        return ()
    bars = Bars(axis, list(known), list(known.values()))
    return (Plot("Scores", (bars,), Axis(axis, limits=(0.0, 1.0)), caption=caption, id="scores"),)
