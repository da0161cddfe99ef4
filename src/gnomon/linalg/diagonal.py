"""Estimates the diagonal of a matrix that is given only by products with vectors, with an interval for every entry.

    diag A = E[z * (A z)]      z of independent random signs, * entry by entry                        (1)

An entry of (1) errs like the length of its row off the diagonal over sqrt(samples); the intervals are Student's t.
Reference: [bekas2007estimator].
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results import Axis, Histogram, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.linalg.operator import AbstractOperator

__all__ = ["DiagonalEstimate", "diagonal"]


@dataclass(frozen=True, slots=True, eq=False)
class DiagonalEstimate(Result):
    """Estimates of an operator's diagonal entries, with half the widths of their confidence intervals.

    >>> found = DiagonalEstimate(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.1, 0.1, 0.2]), 0.95, products=100)
    >>> print(found.verdict)
    3 estimated diagonal entries have median 2, the median half-width of their intervals is 0.1 (each with 95%
    confidence).
    """

    values: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    half_widths: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    confidence: float
    products: int

    @property
    def verdict(self) -> str:
        """A sentence on the estimated diagonal entries and their intervals."""
        middle, wide = float(self.values.median()), float(self.half_widths.median())
        sure = f"each with {self.confidence:.0%} confidence"
        return (
            f"{len(self.values)} estimated diagonal entries have median {middle:.3g}, the median half-width of "
            f"their intervals is {wide:.2g} ({sure})."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of the estimated diagonal entries."""
        marks = (Histogram.of("entries", self.values),)
        return (Plot("Diagonal", marks, Axis("diagonal entry"), Axis("entries", log=True), self.verdict),)


@add_call_to_errors
def diagonal(
    operator: AbstractOperator, *, samples: int = 100, confidence: float = 0.95, seed: int = 0
) -> DiagonalEstimate:
    """Estimates the diagonal of an operator from products with random signs, with an interval for each entry.

    See equation (1) of the module docstring.
    Hypotheses: samples >= 2; the intervals hold entry by entry, not for all entries at once.
    Reference: [bekas2007estimator].
    Cost: one product per sample, and two vectors.

    >>> from gnomon.linalg.operator import DenseOperator
    >>> diagonal(DenseOperator(torch.diag(torch.arange(3.0))), samples=2).values.tolist()  # exact for diagonal matrices
    [0.0, 1.0, 2.0]
    """
    from scipy.special import stdtrit  # Imported here, because scipy is slow to import.

    samples = check_integer("samples", samples, least=2)
    confidence = check_number("confidence", confidence, above=0, below=1)
    generator = torch.Generator().manual_seed(check_seed(seed))
    mean, square = (torch.zeros(operator.size, dtype=torch.float64, device=operator.like.device) for _ in range(2))
    for count in with_progress_bar(range(1, samples + 1), "products"):
        z = (torch.randint(0, 2, (operator.size,), generator=generator) * 2 - 1).to(operator.like)
        found = (z * operator.matvec(z)).double()  # (1)
        away = found - mean
        mean += away / count
        square += away * (found - mean)
    width = float(stdtrit(samples - 1, (1 + confidence) / 2)) / samples**0.5
    halves = width * (square / (samples - 1)).sqrt()
    return DiagonalEstimate(mean.to(operator.like), halves.to(operator.like), confidence, samples)
