"""The trace of an operator from its products with random vectors, with a confidence interval.

    trace A = E[z^T A z]                       z of independent random signs                          (1)
    trace A = trace(Q^T A Q) + E[z^T P A P z]  Q spans A S for random S, P = I - Q Q^T                (2)

(1) errs like |A|_F / sqrt(samples); (2) takes the large eigenvalues out first and errs like trace(A) / products when
A is positive. The interval is Student's t over independent samples: it covers the trace with the stated probability
up to the deviation of z^T A z from a Gaussian, which falls with the number of samples.
Reference: (1) [hutchinson1989stochastic]; (2) [meyer2021hutch].
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.checks import check_seed, integer, number
from gnomon.core.record import Record
from gnomon.linalg.operator import AbstractOperator
from gnomon.linalg.square import working


@dataclass(frozen=True, slots=True)
class TraceEstimate(Record):
    """An estimate, the half-width of its interval at a stated confidence, and the products it took."""

    value: float
    half_width: float
    confidence: float
    products: int

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end."""
        return self.value - self.half_width, self.value + self.half_width

    @property
    def verdict(self) -> str:
        """One sentence."""
        return f"The trace is {self.value:.4g} +- {self.half_width:.2g} at {self.confidence:.0%} confidence."

    def to_dict(self) -> dict[str, float]:
        """Plain numbers."""
        return {
            "value": self.value,
            "half_width": self.half_width,
            "confidence": self.confidence,
            "products": self.products,
        }


def hutchinson(
    operator: AbstractOperator, *, samples: int = 64, confidence: float = 0.95, seed: int = 0
) -> TraceEstimate:
    """The trace by equation (1).

    Hypotheses: samples >= 2. Unbiased for any square operator.
    Reference: [hutchinson1989stochastic].
    Cost: one product per sample.

    >>> from gnomon.linalg.operator import Dense
    >>> hutchinson(Dense(torch.diag(torch.arange(4.0))), samples=3)                 # exact for diagonal matrices
    TraceEstimate(value=6.0, half_width=0.0, confidence=0.95, products=3)
    """
    samples = _check("hutchinson", "samples", samples, 2, confidence, seed)
    z = _signs(operator, samples, seed)
    values = torch.stack([torch.dot(v, operator.matvec(v)) for v in z])  # (1)
    return _estimate(0.0, values, confidence, samples)


def hutch_plus_plus(
    operator: AbstractOperator, *, products: int = 96, confidence: float = 0.95, seed: int = 0
) -> TraceEstimate:
    """The trace by equation (2), a third of the products for each of S, Q and z.

    Hypotheses: products >= 6. Unbiased for any symmetric operator; the gain over (1) is for fast decaying spectra.
    Reference: [meyer2021hutch], algorithm 1.
    Cost: as many products as given.

    >>> from gnomon.linalg.operator import Dense
    >>> found = hutch_plus_plus(Dense(torch.ones(9, 9)), products=6)                # rank one: nothing is left over
    >>> round(found.value, 3), found.half_width < 1e-4
    (9.0, True)
    """
    products = _check("hutch_plus_plus", "products", products, 6, confidence, seed)
    third = min(products // 3, operator.size)
    sketch = torch.stack([operator.matvec(v) for v in _signs(operator, third, seed)], dim=1)
    q = torch.linalg.qr(sketch.to(working(sketch.dtype)))[0].to(sketch.dtype)
    known = sum(float(torch.dot(v, operator.matvec(v))) for v in q.T)
    z = _signs(operator, third, seed + 1)
    rest = z - (z @ q) @ q.T
    values = torch.stack([torch.dot(v, operator.matvec(v)) for v in rest])  # (2)
    return _estimate(known, values, confidence, 3 * third)


def _estimate(known: float, values: Tensor, confidence: float, products: int) -> TraceEstimate:
    from scipy.special import (
        stdtrit,  # here and not above: scipy is slow to import, and `import gnomon` must stay light
    )

    n = len(values)
    spread = float(values.double().std()) / n**0.5 if n > 1 else 0.0
    width = float(stdtrit(max(1, n - 1), (1 + confidence) / 2)) * spread
    return TraceEstimate(known + float(values.double().mean()), width, confidence, products)


def _check(name: str, option: str, given: int, least: int, confidence: float, seed: int) -> int:
    call = f"{name}(operator)"
    number("confidence", confidence, call=call, above=0, below=1)
    check_seed(seed, call=call)
    return integer(option, given, call=call, least=least)


def _signs(operator: AbstractOperator, count: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.randint(0, 2, (count, operator.size), generator=generator) * 2 - 1).to(operator.like)
