"""The result of every attribution method: how much each input feature matters for an output."""

from dataclasses import dataclass, field

from torch import Tensor

from gnomon.core.results import Axis, Image, Plot, Result
from gnomon.core.results.plain import HIDDEN

__all__ = ["Attribution"]

MAX_COMPLETENESS_ERROR = 0.01
"""Larger completeness errors mean that more steps are needed."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribution(Result):
    """Result: one value per input feature (for maps: n, height, width), the explained output, and the method.

    ``completeness`` is, for each example, the difference between the sum of values and f(x) - f(baseline), as a share
    of the absolute sum; None if the method guarantees no sum.

    >>> import torch
    >>> Attribution(torch.ones(1, 2), torch.tensor([0]), "gradient").verdict
    'gradient: the largest feature carries 50 % of the attribution of an example, on average.'
    """

    values: Tensor = field(repr=False, metadata=HIDDEN)
    target: Tensor
    method: str
    completeness: Tensor | None = None

    @property
    def largest_share(self) -> float:
        """Returns the fraction of the attribution in the largest feature, averaged over examples."""
        flat = self.values.flatten(1).abs()
        return float((flat.amax(1) / flat.sum(1).clamp(min=1e-30)).mean())

    @property
    def verdict(self) -> str:
        """Summarizes the result in one sentence."""
        share = f"{self.largest_share:.0%}".replace("%", " %")
        text = f"{self.method}: the largest feature carries {share} of the attribution of an example, on average"
        if self.completeness is None:
            return text + "."
        worst = float(self.completeness.max())
        missing = "the values add up" if worst <= MAX_COMPLETENESS_ERROR else "the values do not add up, use more steps"
        return f"{text}; {missing} (error up to {100 * worst:.2g} %)."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the first examples as images, if the attribution has two spatial axes."""
        values = self.values.sum(1) if self.values.dim() == 4 else self.values
        if values.dim() != 3:
            return Result.plots(self)
        shown = values[:4].detach().double().cpu()
        return tuple(
            Plot(f"{self.method}, example {i}", (Image("attribution", v),), Axis(), Axis()) for i, v in enumerate(shown)
        )
