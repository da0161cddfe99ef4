"""Capacity of a class of functions: VC dimension, growth function, and Rademacher complexity, which bound errors.

    Sauer         Pi(m) <= sum_{i <= d} binom(m, i),   d the VC dimension                                        (1)
    VC            sup |R_n - R| <= sqrt(32 (ln Pi(n) + ln(8 / delta)) / n)                                       (2)
    networks      d <= C p L ln p,  and the growth of (1) at that d;  p weights, L layers, ReLU                  (3)
    linear        Rad = (B / n) E |sum_i e_i x_i| <= B sqrt(sum |x_i|^2) / n,     |w| <= B                       (4)
    kernel        Rad = (B / n) E sqrt(e^T K e) <= B sqrt(tr K) / n,              |f|_K <= B                     (5)
    Massart       Rad <= sqrt(2 ln Pi(m) / m)                                                                    (6)
    gap           sup (R - R_n) <= 2 Rad + 3 sqrt(ln(2 / delta) / (2 n))                                        (7)
    min norm      test error of kernel regression <= 2 sqrt(y^T K^-1 y / n) + 3 sqrt(ln(2 / delta) / (2 n))     (8)

e are random signs. Expectations are exact if there are at most `draws` choices of signs, up to a common sign; otherwise
they are means over draws with a 95 % interval.

Hypotheses: independent examples; losses in [0, 1]; in (8) a Lipschitz loss, |x| = 1 and labels +-1 that K can fit.
Reference: [sauer1972density] for (1), [vapnik1971uniform] for (2), [bartlett2019nearly] for (3),
[bartlett2002rademacher] for (4) to (7), [arora2019fine] for (8).

>>> sauer_bound(10, 2)                                                            # 1 + 10 + 45
56
"""

from dataclasses import dataclass
from math import comb, log, sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.bounds.bound import GeneralizationErrorBound
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs, check_integer, check_module, check_number
from gnomon.core.metrics import binomial_interval
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.results import Hypothesis, Interval, QuantityDefinition, Result, Value

__all__ = [
    "RademacherComplexity",
    "kernel_rademacher",
    "linear_rademacher",
    "massart_bound",
    "min_norm_bound",
    "network_vc_dimension",
    "sauer_bound",
    "vc_bound",
]

CONFIDENCE_LEVEL = 0.95
"""Confidence level of the interval."""


@add_call_to_errors
def sauer_bound(m: int, dimension: int) -> int:
    """Bounds the number of ways in which functions of a given VC dimension can label m points.

    See equation (1) of the module docstring.
    Hypotheses: none.
    Reference: [sauer1972density].

    >>> sauer_bound(3, 5) == 2**3                                                 # below the dimension: all of them
    True
    """
    m, dimension = (check_integer(k, v, least=0) for k, v in (("m", m), ("dimension", dimension)))
    return sum(comb(m, i) for i in range(min(m, dimension) + 1))  # (1)


@add_call_to_errors
def vc_bound(n: int, labelings: float, delta: float = 0.05) -> float:
    """Bounds the gap between training and true error for functions that can label n points in ``labelings`` ways.

    See equation (2) of the module docstring.

    Args:
        n: number of examples.
        labelings: number of ways to label them, such as ``sauer_bound(n, dimension)``.
        delta: the probability that the difference is larger.

    Hypotheses: independent examples.
    Reference: [vapnik1971uniform].

    >>> round(vc_bound(10_000, sauer_bound(10_000, 2)), 3)
    0.27...
    """
    n, delta = check_integer("n", n), check_number("delta", delta, above=0, below=1)
    if not labelings >= 1:
        raise InputError(
            f"labelings is {labelings}", accepted="at least one labeling", fix="Pass sauer_bound(n, dimension)"
        )
    return sqrt(32 * (log(labelings) + log(8 / delta)) / n)  # (2)


@add_call_to_errors
def network_vc_dimension(module: nn.Module) -> float:
    """Estimates the VC dimension of a ReLU network with p parameters and L layers as p L ln p, up to a constant.

    See equation (3) of the module docstring.
    Pseudo-dimensions of its real outputs are of the same order.

    Hypotheses: piecewise linear activations; p weights that are all free.
    Reference: [bartlett2019nearly], Theorem 7.

    >>> round(network_vc_dimension(nn.Linear(99, 1)), 3) == round(100 * log(100), 3)
    True
    """
    check_module(module)
    p = sum(q.numel() for q in module.parameters())
    depth = sum(isinstance(part, AFFINE_LAYERS) for part in module.modules())
    return p * max(1, depth) * log(max(p, 2))  # (3)


@add_call_to_errors
def massart_bound(m: int, labelings: float) -> float:
    """Bounds the Rademacher complexity of functions that can label m points in ``labelings`` different ways.

    See equation (6) of the module docstring.
    Hypotheses: values in [-1, 1].
    Reference: [bartlett2002rademacher].

    >>> massart_bound(8, 1.0)                                                     # one labeling: nothing to fit
    0.0
    """
    return sqrt(2 * log(labelings) / check_integer("m", m))  # (6)


@dataclass(frozen=True, slots=True)
class RademacherComplexity(Result):
    """Result: the Rademacher complexity of a class of functions (how well its best function fits random signs)."""

    value: float
    interval: Interval
    closed: float
    examples: int
    draws: int

    def gap(self, delta: float = 0.05) -> float:
        """Bounds the gap between training and true loss for all functions in the class, by the Rademacher complexity.

        See equation (7) of the module docstring.
        """
        return 2 * self.interval.high + 3 * sqrt(log(2 / delta) / (2 * self.examples))  # (7)

    @property
    def verdict(self) -> str:
        """States the Rademacher complexity and the upper bound that the formula gives, in one sentence."""
        return (
            f"On {self.examples} points the best function of the class has a correlation with random signs of "
            f"{self.value:.3g} "
            f"({self.interval}); the formula's upper bound is {self.closed:.3g}."
        )


@add_call_to_errors
def linear_rademacher(x: Any, radius: float = 1.0, *, draws: int = 1000, seed: int = 0) -> RademacherComplexity:
    """Computes how well linear functions with bounded weights fit random signs (Rademacher complexity).

    See equation (4) of the module docstring.
    Hypotheses: none.
    Reference: [bartlett2002rademacher].
    Cost: n d for each draw.

    >>> linear_rademacher(torch.eye(4), 2.0).value                               # |sum of signs| = sqrt(4) always
    1.0
    """
    table = as_numbers(x, "x").double().flatten(1)
    check_finite_inputs(table)
    draws = check_integer("draws", draws, least=2)
    signs = _signs(len(table), draws, seed)
    sizes = check_number("radius", radius, above=0) * (signs @ table).norm(dim=1) / len(table)  # (4)
    return _estimate(sizes, radius * float(table.norm()) / len(table), len(table))


@add_call_to_errors
def kernel_rademacher(
    kernel: Float[Tensor, "n n"], radius: float = 1.0, *, draws: int = 1000, seed: int = 0
) -> RademacherComplexity:
    """Computes how well functions with bounded kernel norm fit random signs (Rademacher complexity).

    See equation (5) of the module docstring.
    Hypotheses: a symmetric positive semidefinite kernel.
    Reference: [bartlett2002rademacher].
    Cost: n^2 for each draw.

    >>> x = torch.randn(5, 3)
    >>> a, b = kernel_rademacher(x @ x.T), linear_rademacher(x)
    >>> abs(a.value - b.value) < 1e-6
    True
    """
    k = kernel.double()
    draws = check_integer("draws", draws, least=2)
    signs = _signs(len(k), draws, seed)
    quadratic = ((signs @ k) * signs).sum(1).clamp_min(0)
    sizes = check_number("radius", radius, above=0) * quadratic.sqrt() / len(k)  # (5)
    return _estimate(sizes, radius * float(k.diagonal().sum().clamp_min(0)) ** 0.5 / len(k), len(k))


@add_call_to_errors
def min_norm_bound(
    kernel: Float[Tensor, "n n"],
    y: Float[Tensor, " n"],
    *,
    delta: float = 0.05,
    test: tuple[Float[Tensor, "m n"], Float[Tensor, " m"]] | None = None,
) -> GeneralizationErrorBound:
    """Bounds the test error of the kernel regression that fits labels +1 and -1 exactly.

    See equation (8) of the module docstring.
    ``test`` is the kernel of test examples with the others, and their labels: the error rate on them is then reported
    with the bound.

    Hypotheses: as for (8); labels that the kernel fits with a small norm, which is the first factor.
    Reference: [arora2019fine], Theorem 5.1.
    Cost: n^3 / 3.

    >>> bound = min_norm_bound(torch.eye(100), torch.ones(100))
    >>> float(bound.factors[0].value), bound.vacuous                          # nothing is known between the points
    (2.0, True)
    """
    delta, n = check_number("delta", delta, above=0, below=1), len(kernel)
    target = y.double().reshape(-1)
    factor, info = torch.linalg.cholesky_ex((kernel.double() + kernel.double().mT) / 2)
    if int(info):
        found = f"the kernel of {n} points is not positive definite (leading minor {int(info)})"
        raise InputError(
            found, accepted="a kernel that fits any labels", fix="Drop repeated rows, or add a small ridge"
        )
    weights = torch.cholesky_solve(target[:, None], factor)[:, 0]
    norm = float((target * weights).sum())
    signs = bool((target.abs() == 1).all())
    unit = bool(((kernel.diagonal() - kernel.diagonal().mean()).abs() < 1e-6 * kernel.diagonal().mean()).all())
    parts = (
        Value("2 sqrt(y^T K^-1 y / n)", 2 * sqrt(norm / n)),
        Value("3 sqrt(ln(2 / delta) / (2 n))", 3 * sqrt(log(2 / delta) / (2 * n))),
    )
    premises = (
        Hypothesis("examples are independent and identically distributed", None),
        Hypothesis("labels are +1 and -1", signs),
        Hypothesis(
            "inputs have one length",
            unit,
            "the diagonal of the kernel is constant" if unit else "the diagonal of the kernel is not constant",
        ),
    )
    words = QuantityDefinition(
        "2 sqrt(y^T K^-1 y / n) + 3 sqrt(ln(2 / delta) / (2 n))", "error of the min-norm fit", "arora2019fine"
    )
    seen = None if test is None else _wrong(test[0].double() @ weights, test[1])
    return GeneralizationErrorBound(
        "min-norm kernel", sum(float(p.value) for p in parts), parts, delta, premises, words, seen
    )  # (8)


def _wrong(made: Tensor, labels: Tensor) -> Value:
    wrong, m = int((made.sign() != labels.double().reshape(-1).sign()).sum()), len(made)
    return Value("error on test examples", wrong / m, binomial_interval(wrong, m), "estimate")


def _signs(n: int, draws: int, seed: int) -> Tensor:
    """Returns all vectors of n signs that begin with +1, or ``draws`` random ones if there are more vectors than
    that.
    """
    if _exact(n, draws):
        bits = torch.arange(2 ** (n - 1))[:, None] >> torch.arange(n - 1)
        return torch.cat([torch.ones(len(bits), 1), 2.0 * (bits & 1) - 1], 1).double()
    generator = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randint(2, (draws, n), generator=generator).double() - 1


def _exact(n: int, draws: int) -> bool:
    return n <= 20 and 2 ** (n - 1) <= draws


def _estimate(sizes: Tensor, closed: float, n: int) -> RademacherComplexity:
    exact = _exact(n, len(sizes)) and len(sizes) == 2 ** (n - 1)
    mean, half = float(sizes.mean()), 0.0 if exact else 1.96 * float(sizes.std()) / len(sizes) ** 0.5
    return RademacherComplexity(mean, Interval(mean - half, mean + half, CONFIDENCE_LEVEL), closed, n, len(sizes))
