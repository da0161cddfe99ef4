"""Estimates the trace of a matrix that is given only by products with vectors, with a confidence interval.

    trace A = E[z^T A z]                       z of independent random signs                          (1)
    trace A = trace(Q^T A Q) + E[z^T P A P z]  Q spans A S for random S, P = I - Q Q^T                (2)

(1) errs like |A|_F / sqrt(samples); (2) takes the large eigenvalues out first and errs like trace(A) / products when
A is positive. The interval is Student's t over independent samples: it covers the trace with the stated probability
up to the deviation of z^T A z from a Gaussian, which falls with the number of samples.
Reference: (1) [hutchinson1989stochastic]; (2) [meyer2021hutch].
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.errors import BudgetError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, format_bytes, free_bytes
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results import Axis, Interval, Plot, Reference, Result, Scatter
from gnomon.linalg.operator import AbstractOperator
from gnomon.linalg.square import lapack_dtype

__all__ = ["TraceEstimate", "automatic_trace", "hutch_plus_plus", "hutchinson"]

TABLES_IN_MEMORY = 4
"""Number of tables of the size of A S that (2) holds at the same time."""


@dataclass(frozen=True, slots=True)
class TraceEstimate(Result):
    """An estimate of an operator's trace, its confidence interval, and the number of products with the operator.

    >>> TraceEstimate(6.0, Interval(5.5, 6.5, 0.95), 3).verdict
    'The trace is 6 +- 0.5 at 95% confidence.'
    """

    value: float
    interval: Interval
    products: int

    @property
    def half_width(self) -> float:
        """Half the width of the confidence interval of the trace."""
        return self.interval.width / 2

    @property
    def verdict(self) -> str:
        """A sentence with the estimated trace and its interval."""
        return f"The trace is {self.value:.4g} +- {self.half_width:.2g} at {self.interval.confidence:.0%} confidence."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the estimated trace with its interval."""
        low, high = self.interval.low, self.interval.high
        marks = (
            Scatter("estimate", (self.products,), (self.value,)),
            Reference("lower end", low),
            Reference("upper end", high),
        )
        return (Plot("Trace", marks, Axis("products with the operator"), Axis("trace"), self.verdict),)


def hutchinson(
    operator: AbstractOperator, *, samples: int = 64, confidence: float = 0.95, seed: int = 0
) -> TraceEstimate:
    """Estimates the trace of an operator by Hutchinson's method: the mean of z^T A z over random signs z.

    See equation (1) of the module docstring.
    Hypotheses: samples >= 2. Unbiased for any square operator.
    Reference: [hutchinson1989stochastic].
    Cost: one product per sample.

    >>> from gnomon.linalg.operator import DenseOperator
    >>> hutchinson(DenseOperator(torch.diag(torch.arange(4.0))), samples=3)  # exact for diagonal matrices
    TraceEstimate: The trace is 6 +- 0 at 95% confidence.
      value     6.0
      interval  Interval(low=6.0, high=6.0, confidence=0.95)
      products  3
    """
    samples = _check("hutchinson", "samples", samples, 2, confidence, seed)
    values = torch.stack([torch.dot(v, operator.matvec(v)) for v in _signs(operator, samples, seed)])  # (1)
    return _estimate(0.0, values, confidence, samples)


@add_call_to_errors
def hutch_plus_plus(
    operator: AbstractOperator, *, products: int = 96, confidence: float = 0.95, seed: int = 0
) -> TraceEstimate:
    """Estimates the trace of an operator by Hutch++: exactly in a subspace, and by random signs outside of it.

    See equation (2) of the module docstring.
    Hypotheses: products >= 6. Unbiased for any symmetric operator; the gain over (1) is for fast decaying spectra.
    Reference: [meyer2021hutch], algorithm 1.
    Cost: ``products`` products with the operator, and four thirds of as many vectors of its size in memory; refused
    if they take more than half of what is free.

    >>> from gnomon.linalg.operator import DenseOperator
    >>> trace = hutch_plus_plus(DenseOperator(torch.ones(9, 9)), products=6)                # rank one: nothing remains
    >>> round(trace.value, 3), trace.half_width < 1e-4
    (9.0, True)
    """
    products = _check("hutch_plus_plus", "products", products, 6, confidence, seed)
    third = min(products // 3, operator.size)
    if not _fits(operator, third):
        each = format_bytes(operator.size * operator.like.element_size())
        found = (
            f"{TABLES_IN_MEMORY * third} vectors of {each} do not fit in the free memory of "
            f"{format_bytes(free_bytes())}"
        )
        fix = "Use fewer products, or hutchinson, which needs one vector"
        raise BudgetError(found, accepted="vectors that fit in memory", fix=fix)
    sketch = torch.stack([operator.matvec(v) for v in _signs(operator, third, seed)], dim=1)
    return _deflate(operator, sketch, third, confidence, seed)


def automatic_trace(
    operator: AbstractOperator, *, products: int = 96, confidence: float = 0.95, seed: int = 0
) -> TraceEstimate:
    """Estimates the trace of an operator by the better of two methods, Hutch++ and Hutchinson.

    See equations (2) and (1) of the module docstring.
    The first third of the products, A S, decides: with Q from half of the columns of A S, (2) has the variance
    |A - Q Q^T A|_F^2 over a third of the products and (1) the variance |A|_F^2 over the other two thirds. Both norms
    are
    measured on the other half of the columns. The columns that decide are not used in the estimate of (1). If the
    vectors of (2) take more than half of the free memory it is (1).

    Hypotheses: products >= 12, a symmetric operator. Reference: [meyer2021hutch].
    Cost: ``products`` products with the operator, and four thirds of as many vectors of its size in memory.

    >>> from gnomon.linalg.operator import DenseOperator
    >>> one, flat = DenseOperator(torch.ones(50, 50)), DenseOperator(torch.eye(50))
    >>> automatic_trace(one, products=12).half_width < 1e-3, automatic_trace(flat, products=12).value
    (True, 50.0)
    """
    products = _check("automatic_trace", "products", products, 12, confidence, seed)
    third = min(products // 3, operator.size)
    if not _fits(operator, third):
        return hutchinson(operator, samples=products, confidence=confidence, seed=seed)
    sketch = torch.stack([operator.matvec(v) for v in _signs(operator, third, seed)], dim=1)
    half = third // 2
    q = _basis(sketch[:, :half])
    held = sketch[:, half:]
    if float((held - q @ (q.T @ held)).norm()) ** 2 / third <= float(held.norm()) ** 2 / (2 * third):
        return _deflate(operator, sketch, third, confidence, seed)
    values = torch.stack(
        [torch.dot(v, operator.matvec(v)) for v in _signs(operator, products - third, seed + 1)]
    )  # (1)
    return _estimate(0.0, values, confidence, products)


def _basis(sketch: Tensor) -> Tensor:
    return torch.linalg.qr(sketch.to(lapack_dtype(sketch.dtype)))[0].to(sketch.dtype)


def _deflate(operator: AbstractOperator, sketch: Tensor, third: int, confidence: float, seed: int) -> TraceEstimate:
    q = _basis(sketch)
    known = sum(float(torch.dot(v, operator.matvec(v))) for v in q.T)
    rest = (z - q @ (z @ q) for z in _signs(operator, third, seed + 1))
    values = torch.stack([torch.dot(v, operator.matvec(v)) for v in rest])  # (2)
    return _estimate(known, values, confidence, 3 * third)


def _estimate(known: float, values: Tensor, confidence: float, products: int) -> TraceEstimate:
    from scipy.special import stdtrit  # Imported here, because scipy is slow to import.

    n = len(values)
    spread = float(values.double().std()) / n**0.5 if n > 1 else 0.0
    width = float(stdtrit(max(1, n - 1), (1 + confidence) / 2)) * spread
    value = known + float(values.double().mean())
    return TraceEstimate(value, Interval(value - width, value + width, confidence), products)


def _check(name: str, option: str, value: int, least: int, confidence: float, seed: int) -> int:
    check_number("confidence", confidence, above=0, below=1)
    check_seed(seed)
    return check_integer(option, value, least=least)


def _signs(operator: AbstractOperator, count: int, seed: int) -> Iterator[Tensor]:
    """Yields vectors of random signs one after another, so that only one vector is in memory."""
    generator = torch.Generator().manual_seed(seed)
    for _ in with_progress_bar(range(count), "products"):
        yield (torch.randint(0, 2, (operator.size,), generator=generator) * 2 - 1).to(operator.like)


def _fits(operator: AbstractOperator, third: int) -> bool:
    """Returns whether the vectors of the Hutch++ method and temporaries fit into half of the free memory."""
    return (
        TABLES_IN_MEMORY * third * operator.size * operator.like.element_size() <= SHARE_OF_FREE_MEMORY * free_bytes()
    )
