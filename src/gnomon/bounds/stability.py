"""Algorithmic stability: how much one training example can change what is learned, and the error bound that follows.

Kernel ridge regression, (1 / n) sum (f - y)^2 + a |f|_K^2, with k(x, x) <= q^2 and targets in [-M, M]:

    uniform     b = s^2 q^2 / (2 a n),  s = 2 (M + q M / sqrt(a)): the largest change of a loss            (1)
    measured    b_i = |l(f, i) - l(f_{-i}, i)|,    f_{-i} the fit without example i, by the leave-one-out formula   (2)
    gap         R <= R_n + 2 b + (4 n b + L) sqrt(ln(1 / delta) / (2 n)),    L the largest loss                    (3)

The loss has Lipschitz constant s over the values of f, because |f|_K <= M / sqrt(a).

Hypotheses: independent examples; for (3) the uniform b of (1), not the measured one.
Reference: [bousquet2002stability], Theorems 12 and 22.

>>> import torch
>>> found = ridge_stability(torch.eye(50).double(), torch.ones(50), decay=10.0)
>>> found.measured.value < found.uniform
True
"""

from dataclasses import dataclass
from math import log, sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bounds.bound import GeneralizationErrorBound
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_number
from gnomon.core.results import Hypothesis, Interval, QuantityDefinition, Result, Value

__all__ = ["RidgeStability", "ridge_stability"]


@dataclass(frozen=True, slots=True)
class RidgeStability(Result):
    """Result: how much one training example changes kernel ridge regression, in theory and measured, and an error
    bound.
    """

    uniform: float
    measured: Value
    training: float
    bound: GeneralizationErrorBound

    @property
    def verdict(self) -> str:
        """States how much one training example changes the learned function, and the error bound that follows."""
        return (
            f"Removing one training example changes a loss by at most {self.uniform:.3g} in theory and by "
            f"{float(self.measured.value):.3g} here; the bound on the error is {self.bound.value:.3g}."
        )


@add_call_to_errors
def ridge_stability(
    kernel: Float[Tensor, "n n"],
    y: Float[Tensor, " m"],
    *,
    decay: float,
    confidence: float = 0.95,
    test: tuple[Float[Tensor, "t n"], Float[Tensor, " t"]] | None = None,
) -> RidgeStability:
    """Computes how much one training example can change kernel ridge regression, in theory and as measured.

    See equations (1) to (3) of the module docstring.
    ``test`` is the kernel of test examples with the others, and their targets: the error on them is then reported with
    the bound.

    Hypotheses: as for the module; targets in [-1, 1] make the numbers comparable with shares.
    Reference: [bousquet2002stability].
    Cost: n^3 / 3.

    >>> ridge_stability(torch.eye(20).double(), torch.zeros(20) + 0.5, decay=1.0).training
    0.2267...
    """
    a, delta = check_number("decay", decay, above=0), 1 - check_number("confidence", confidence, above=0, below=1)
    k, target, n = kernel.double(), y.double().reshape(-1), len(kernel)
    if len(target) != n or n < 2:
        raise InputError(
            f"the kernel has {n} rows and y {len(target)}",
            accepted="a target per row",
            fix="Pass y with one target for each row of the kernel",
        )
    inverse = torch.linalg.inv(k + n * a * torch.eye(n, dtype=k.dtype))
    alpha = inverse @ target
    fitted = (k @ alpha - target).square()
    left = (alpha / inverse.diagonal()).square()
    change = float((fitted - left).abs().max())  # (2)
    q, m = float(k.diagonal().max().clamp_min(0)) ** 0.5, float(target.abs().max())
    slope = 2 * (m + q * m / sqrt(a))
    uniform = slope**2 * q**2 / (2 * a * n)  # (1)
    training, largest = float(fitted.mean()), (m + q * m / sqrt(a)) ** 2
    tail = sqrt(log(1 / delta) / (2 * n))
    parts = (
        Value("training error", training),
        Value("2 b", 2 * uniform),
        Value("4 n b sqrt(ln(1 / delta) / (2 n))", 4 * n * uniform * tail),
        Value("L sqrt(ln(1 / delta) / (2 n))", largest * tail),
    )
    premises = (
        Hypothesis("examples are independent and identically distributed", None),
        Hypothesis(
            "the kernel is positive semidefinite", bool(torch.linalg.eigvalsh((k + k.mT) / 2)[0] > -1e-8 * q**2)
        ),
    )
    words = QuantityDefinition(
        "R_n + 2 b + (4 n b + L) sqrt(ln(1 / delta) / (2 n))", "mean squared error", "bousquet2002stability"
    )
    seen = None if test is None else _test((test[0].double() @ alpha - test[1].double().reshape(-1)).square())
    bound = GeneralizationErrorBound(
        "uniform stability", sum(float(p.value) for p in parts), parts, delta, premises, words, seen
    )  # (3)
    return RidgeStability(uniform, Value("largest change of a loss", change), training, bound)


def _test(losses: Tensor) -> Value:
    mean, half = float(losses.mean()), 1.96 * float(losses.std()) / len(losses) ** 0.5
    return Value("mean squared error on test examples", mean, Interval(mean - half, mean + half, 0.95), "estimate")
