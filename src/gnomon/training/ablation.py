"""Removes one ingredient of training (such as augmentation) at a time, to see which ingredients matter for the result.

    effect of an ingredient = mean over seeds of  score(all) - score(without it),  +- t s / sqrt(seeds)           (1)

Hypotheses: runs of one seed share their initial weights and batches if the recipe does.
Reference: [he2019bag]; [student1908probable] for the interval.

>>> Ablation(0.9, {"dropout": 0.02}, {"dropout": 0.05}, 3).helps
()
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["Ablation", "ablation"]


@dataclass(frozen=True, slots=True)
class Ablation(Result):
    """Result of an ablation: the mean score with all ingredients of training, and each ingredient's effect with its
    interval.
    """

    score: float
    effects: dict[str, float]
    widths: dict[str, float]
    seeds: int

    @property
    def helps(self) -> tuple[str, ...]:
        """Returns the ingredients whose confidence interval is entirely above zero, the largest effect first."""
        good = [name for name, effect in self.effects.items() if effect > self.widths[name]]
        return tuple(sorted(good, key=lambda name: -self.effects[name]))

    @property
    def verdict(self) -> str:
        """Says in one sentence which ingredients of training matter."""
        if not self.helps:
            return f"With {self.seeds} seeds no ingredient has an effect larger than chance."
        parts = ", ".join(f"{name} ({self.effects[name]:+.3g})" for name in self.helps)
        return f"The score is {self.score:.3g}; these ingredients change it significantly: {parts}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots how much each ingredient of training contributes to the score."""
        bars = Bars("effect", tuple(self.effects), tuple(self.effects.values()))
        return (
            Plot("Effect of each ingredient", (bars,), Axis("score lost without the ingredient"), caption=self.verdict),
        )


@add_call_to_errors
def ablation(
    score: Callable[[Mapping[str, bool], int], float],
    ingredients: Sequence[str],
    *,
    seeds: Sequence[int] = (0, 1, 2),
    confidence: float = 0.95,
) -> Ablation:
    """Scores training with all ingredients (such as augmentation) and with each one removed, over several random seeds.

    See equation (1) of the module docstring.

    Args:
        score: a function of (which ingredients are in, seed) that trains and returns a score, larger is better.
        ingredients: their names.
        seeds: at least two.
        confidence: of the intervals.

    Hypotheses: see the module. Reference: [he2019bag].
    Cost: (1 + ingredients) x seeds calls of ``score``.

    >>> told = ablation(lambda on, seed: 0.5 + 0.3 * on["norm"] + 0.01 * seed, ("norm", "noise"), seeds=(0, 1))
    >>> told.helps
    ('norm',)
    """
    from scipy.special import stdtrit  # slow to import

    if len(seeds) < 2 or not ingredients:
        raise InputError("an ablation needs at least 2 seeds and 1 ingredient to remove")
    whole = dict.fromkeys(ingredients, True)
    full = [float(score(whole, seed)) for seed in seeds]
    m = len(seeds)
    t = float(stdtrit(m - 1, (1 + confidence) / 2))
    effects, widths = {}, {}
    for name in ingredients:
        gaps = [a - float(score({**whole, name: False}, seed)) for a, seed in zip(full, seeds, strict=True)]
        mean = sum(gaps) / m
        effects[name] = mean  # (1)
        widths[name] = t * (sum((g - mean) ** 2 for g in gaps) / (m - 1) / m) ** 0.5
    return Ablation(sum(full) / m, effects, widths, m)
