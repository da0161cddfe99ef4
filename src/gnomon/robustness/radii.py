"""Robust radii: how far each example can move before its class changes, bounded below by proofs, above by attacks.

    below_i <= r_i <= above_i,      r_i = min { |z - x_i| : z is not classified as y_i }                      (1)

At eps an example is proven robust if below > eps, broken if above <= eps, and unknown otherwise.

>>> import torch
>>> radii = RobustRadii(torch.tensor([0.1, 0.0]), torch.tensor([0.4, 0.0]), torch.tensor([True, False]), "2", "a", "b")
>>> radii.proven(0.05), radii.unbroken(0.2)
(0.5, 0.5)
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["RobustRadii"]

CURVE_POINTS = 60
"""Number of values of eps in the plot."""


@dataclass(frozen=True, slots=True, eq=False)
class RobustRadii(Result):
    """Result: a lower and an upper bound of each example's robust radius, and the methods that found them.

    ``below`` is zero if nothing is proven, ``above`` infinite if no attack succeeded.
    """

    below: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    above: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    clean: Bool[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    norm: str
    proof: str
    attack: str

    def proven(self, eps: float) -> float:
        """Returns the fraction of examples that are proven correct everywhere within eps."""
        return float((self.clean & (self.below > eps)).double().mean())

    def unbroken(self, eps: float) -> float:
        """Returns the fraction of examples that no attack broke within eps, an upper bound of robust accuracy."""
        return float((self.clean & (self.above > eps)).double().mean())

    def unknown(self, eps: float) -> float:
        """Returns the fraction of examples that are neither proven robust nor broken within eps."""
        return self.unbroken(eps) - self.proven(eps)

    @property
    def contradictions(self) -> int:
        """Returns the number of examples that an attack broke within their proven radius; any above zero
        means a bug.
        """
        return int((self.clean & (self.above < self.below)).sum())

    @property
    def verdict(self) -> str:
        """States in one sentence the typical lower and upper bounds of the examples' robust radii."""
        n, right = len(self.clean), self.clean
        if not bool(right.any()):
            return f"None of {n} examples is classified correctly, so no radius can be measured."
        below, above = float(self.below[right].median()), float(self.above[right].median())
        low = f"at least {below:.3g}" if below > 0 else "not proven"
        high = f"at most {above:.3g}" if above < float("inf") else "not broken"
        return f"Half of {int(right.sum())} correctly classified examples have a robust radius {low}, and {high}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fractions of examples that are proven robust and that no attack broke, over eps."""
        finite = torch.cat([self.above[self.above.isfinite()], self.below])
        grid = torch.linspace(0, 1.05 * float(finite.max()) if len(finite) else 1.0, CURVE_POINTS).tolist()
        marks = (
            Line("not broken by an attack", grid, [self.unbroken(e) for e in grid]),
            Line("proven", grid, [self.proven(e) for e in grid], "dashed"),
        )
        axes = Axis(f"eps (norm {self.norm})"), Axis("share of examples", limits=(0, 1))
        return (Plot("Robust accuracy over eps", marks, *axes, self.verdict),)
