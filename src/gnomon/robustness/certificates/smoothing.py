"""Randomized smoothing: classifies by majority vote under Gaussian noise, which proves a radius with some confidence.

    g(x) = the class that f(x + s u) has most often, u ~ N(0, I);   Euclidean radius s Q(p),  p > 1/2       (1)

with Q the quantile of the normal distribution and p a lower confidence bound of the share of that class, by the exact
binomial interval. The radius holds for the vote g, not for f itself, and for any model.
Reference: [cohen2019certified], Theorem 1 and algorithm CERTIFY.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.robustness.attacks.base import AttackedModel
from gnomon.robustness.attacks.run import examples_to_attack

__all__ = ["SmoothedRadii", "smoothed_radius"]

SELECTION_DRAWS = 100
"""Number of draws that choose the class, before the draws that prove it."""


@dataclass(frozen=True, slots=True, eq=False)
class SmoothedRadii(Result):
    """Result: the certified radius of each example (zero if the vote is too close), and whether the vote is correct.

    >>> radii, right = torch.tensor([0.5, 0.2, 0.0, 0.9]), torch.tensor([True, True, True, False])
    >>> found = SmoothedRadii(radii, right, sigma=0.25, samples=1000, confidence=0.999)
    >>> found.proven(0.0), found.proven(0.3)
    (0.5, 0.25)
    """

    radii: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    right: Bool[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    sigma: float
    samples: int
    confidence: float

    def proven(self, eps: float) -> float:
        """Returns the fraction of examples that the majority vote under noise provably classifies correctly
        within eps.
        """
        return float((self.right & (self.radii > eps)).double().mean())

    @property
    def verdict(self) -> str:
        """States in one sentence the median radius within which the majority vote under noise provably does
        not change.
        """
        known = self.radii[self.right & (self.radii > 0)]
        middle = float(known.median()) if len(known) else 0.0
        share, sure = self.proven(0.0), f"{self.confidence:.1%} confidence for each"
        return (
            f"Under noise of standard deviation {self.sigma:g} the majority vote is correct and certified for "
            f"{share:.1%}, half to {middle:.3g} ({sure})."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fraction of examples that the majority vote under noise provably classifies correctly, over eps."""
        grid = torch.linspace(0, max(1e-9, 1.05 * float(self.radii.max())), 60).tolist()
        line = Line("proven", grid, [self.proven(e) for e in grid])
        return (Plot("Certified accuracy of the vote", (line,), Axis("eps (norm 2)"), Axis("share", limits=(0, 1))),)


@add_call_to_errors
def smoothed_radius(
    module: nn.Module, data: Any, *, sigma: float = 0.25, draws: int = 1000, confidence: float = 0.95, seed: int = 0
) -> SmoothedRadii:
    """Returns a radius around each example within which the majority vote under noise does not change, at a confidence.

    Hypotheses: any classifier of one input tensor; the statement is on the vote, and holds for each example with the
    stated confidence over the draws.
    Reference: [cohen2019certified].
    Cost: draws + 100 forward passes for each example.

    >>> net, data = nn.Linear(1, 2, bias=False), (torch.tensor([[1.0]]), torch.tensor([0]))
    >>> with torch.no_grad():
    ...     _ = net.weight.copy_(torch.tensor([[1.0], [-1.0]]))
    >>> bool(0 < smoothed_radius(net, data, sigma=0.5).radii <= 1.0)                   # the true one is 1
    True
    """
    from scipy.special import betaincinv, ndtri  # Imported here, because scipy is slow to import.

    sigma, draws = check_number("sigma", sigma, above=0), check_integer("draws", draws, least=2)
    confidence = check_number("confidence", confidence, above=0, below=1)
    x, y = examples_to_attack(module, data)
    generator = torch.Generator().manual_seed(check_seed(seed))
    radii, right = torch.zeros(len(x), dtype=torch.float64), torch.zeros(len(x), dtype=torch.bool)
    with AttackedModel(module).attack_mode() as classifier, torch.no_grad():
        for i, one in enumerate(x):
            chosen = int(_votes(classifier, one, sigma, SELECTION_DRAWS, generator).argmax())
            count = int(_votes(classifier, one, sigma, draws, generator)[chosen])
            low = float(betaincinv(count, draws - count + 1, 1 - confidence)) if count else 0.0
            radii[i] = max(0.0, sigma * float(ndtri(low))) if low > 0.5 else 0.0  # (1)
            right[i] = chosen == int(y[i])
    return SmoothedRadii(radii, right, sigma, draws, confidence)


def _votes(classifier: AttackedModel, x: Tensor, sigma: float, count: int, generator: torch.Generator) -> Tensor:
    noise = torch.randn((count, *x.shape), generator=generator).to(x)
    f = classifier.all_scores(x + sigma * noise)
    return f.argmax(1).bincount(minlength=f.shape[1])
