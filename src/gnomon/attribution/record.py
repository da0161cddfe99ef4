"""An attribution: how much each input feature matters for an output, in the shape of the input, as captum has it."""

from dataclasses import dataclass, field

from torch import Tensor

from gnomon.core.results import Axis, Image, Plot, Result
from gnomon.core.results.plain import HIDDEN

__all__ = ["Attribution"]

MAX_COMPLETENESS_ERROR = 0.01
"""Completeness errors above this share need more steps."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribution(Result):
    """Values of the shape of the input (maps: n, height, width), the output explained, and the method.

    ``completeness`` is, for each example, what the values miss of f(x) - f(baseline), as a share of their absolute sum;
    None where the method promises no sum.

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
        """Mean over examples of the share that the largest feature carries."""
        flat = self.values.flatten(1).abs()
        return float((flat.amax(1) / flat.sum(1).clamp(min=1e-30)).mean())

    @property
    def verdict(self) -> str:
        """One sentence."""
        share = f"{self.largest_share:.0%}".replace("%", " %")
        said = f"{self.method}: the largest feature carries {share} of the attribution of an example, on average"
        if self.completeness is None:
            return said + "."
        worst = float(self.completeness.max())
        missing = (
            "the values add up" if worst <= MAX_COMPLETENESS_ERROR else "take more steps: the values do not add up"
        )
        return f"{said}; {missing} (up to {100 * worst:.2g} %)."

    def plots(self) -> tuple[Plot, ...]:
        """The first examples as pictures, where the values have two axes of space."""
        values = self.values.sum(1) if self.values.dim() == 4 else self.values
        if values.dim() != 3:
            return Result.plots(self)
        shown = values[:4].detach().double().cpu()
        return tuple(
            Plot(f"{self.method}, example {i}", (Image("attribution", v),), Axis(), Axis()) for i, v in enumerate(shown)
        )
