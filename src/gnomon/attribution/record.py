"""The result of every attribution method: how much each input feature matters for an output."""

from dataclasses import dataclass, field

from torch import Tensor

from gnomon.attribution.tiles import tile_attribution_maps
from gnomon.core.results import Axis, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["Attribution"]

SHOWN_MAPS = 4
"""Number of examples in the plot."""
MAX_COMPLETENESS_ERROR = 0.01
"""Larger completeness errors mean that more steps are needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribution(Result):
    """Result: how much each input feature matters for the explained output, and the method that measured it.

    ``completeness`` is, for each example, the difference between the sum of values and f(x) - f(baseline), as a share
    of the absolute sum; None if the method guarantees no sum. ``inputs`` are the examples, for the plot.

    >>> import torch
    >>> Attribution(torch.ones(1, 2), torch.tensor([0]), "gradient").verdict
    'gradient: the largest feature carries 50 % of the attribution of an example, on average.'
    """

    values: Tensor = field(repr=False, metadata=HIDDEN_IN_JSON)
    target: Tensor
    method: str
    completeness: Tensor | None = None
    inputs: Tensor | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def largest_share(self) -> float:
        """Returns the fraction of the total attribution that the most important feature has, averaged over examples."""
        flat = self.values.flatten(1).abs()
        return float((flat.amax(1) / flat.sum(1).clamp(min=1e-30)).mean())

    @property
    def verdict(self) -> str:
        """States in one sentence how concentrated the attribution is on the most important feature."""
        share = f"{self.largest_share:.0%}".replace("%", " %")
        text = f"{self.method}: the largest feature carries {share} of the attribution of an example, on average"
        if self.completeness is None:
            return text + "."
        worst = float(self.completeness.max())
        missing = (
            "the values sum to the change of the output"
            if worst <= MAX_COMPLETENESS_ERROR
            else "the values do not sum to the change of the output, use more steps"
        )
        return f"{text}; {missing} (error up to {100 * worst:.2g} %)."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the attribution maps of the first examples over their images."""
        if self.values.dim() not in (3, 4):
            return Result.plots(self)
        shown = min(SHOWN_MAPS, len(self.values))
        words = f"{self.verdict} Red raises the explained output, blue lowers it."
        picture = tile_attribution_maps(self.values, self.inputs, shown)
        title = f"{self.method}, {shown} of {len(self.values)} examples"
        return (Plot(title, (picture,), Axis("example"), Axis("pixels, top to bottom"), words),)
