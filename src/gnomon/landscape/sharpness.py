"""Computes sharpness, the largest eigenvalue of the loss's Hessian, and the learning rates that are stable with it.

    lambda_1(H) < 2 (1 + momentum) / lr                                                         (1)

is the condition for gradient descent to be stable around a minimum; equality is the edge of stability.

Reference: [cohen2021gradient]; (1) for momentum is [polyak1964some].

>>> import torch
>>> result = sharpness(nn.Linear(1, 1, bias=False), (torch.tensor([[2.0]]), torch.zeros(1)), lr=0.25)
>>> round(result.value, 4), result.limit, result.stable                                  # x^2 = 4 against 2 / lr = 8
(4.0, 8.0, True)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from torch import nn

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_number, check_seed
from gnomon.core.machine.budget import limit_time
from gnomon.core.results import Axis, Bars, Finding, Interval, Plot, Reference, Result, Value
from gnomon.findings import training as kinds
from gnomon.landscape.hessian import hessian
from gnomon.linalg.lanczos import top_eigenpairs
from gnomon.linalg.operator import AbstractOperator
from gnomon.training.evaluate import Loss

__all__ = ["Sharpness", "sharpness", "sharpness_of"]


@dataclass(frozen=True, slots=True)
class Sharpness(Result):
    """The largest Hessian eigenvalues with error bounds, and the learning rate that is compared with them.

    ``lr`` is None if none was passed; ``products`` is the number of Hessian-vector products that were computed.
    """

    values: tuple[float, ...]
    residuals: tuple[float, ...]
    lr: float | None
    momentum: float
    products: int

    @property
    def value(self) -> float:
        """The largest Hessian eigenvalue, called sharpness."""
        return self.values[0]

    @property
    def limit(self) -> float:
        """The largest sharpness at which the given learning rate is stable; infinite without a learning rate.

        See equation (1) of the module docstring.
        """
        return inf if self.lr is None else 2 * (1 + self.momentum) / self.lr  # (1)

    @property
    def largest_lr(self) -> float:
        """The largest learning rate that is stable at this sharpness; infinite if no direction has positive
        curvature.
        """
        return 2 * (1 + self.momentum) / self.value if self.value > 0 else inf

    @property
    def ratio(self) -> float:
        """Sharpness divided by the largest stable sharpness; above 1, the learning rate is too large here."""
        return self.value / self.limit

    @property
    def stable(self) -> bool:
        """Returns whether the learning rate is stable at this sharpness.

        See equation (1) of the module docstring.
        """
        return self.value < self.limit

    @property
    def verdict(self) -> str:
        """A sentence with the sharpness and the learning rates that are stable with it."""
        head = f"The largest Hessian eigenvalue is {self.value:.4g} (within {self.residuals[0]:.1g})"
        if self.lr is None:
            return f"{head}: learning rates below {self.largest_lr:.3g} are stable here."
        if self.stable:
            return f"{head}, {self.ratio:.0%} of the largest at which lr {self.lr:.3g} is stable ({self.limit:.4g})."
        tail = f"use an lr below {self.largest_lr:.3g}"
        return f"{head}, {self.ratio:.2f} times the largest at which lr {self.lr:.3g} is stable: {tail}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A finding if the learning rate is too large for the sharpness; otherwise empty."""
        if self.stable or self.lr is None:
            return ()

        interval = Interval(self.value - self.residuals[0], self.value + self.residuals[0])
        evidence = (Value("sharpness", self.value, interval, "estimate"), Value("limit", self.limit))
        values = {"lr": self.lr, "ratio": self.ratio, "largest": self.largest_lr}
        return (Finding(kinds.UNSTABLE_HERE, values=values, evidence=evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the largest Hessian eigenvalues, with their stability limit if a learning rate was passed."""
        labels = [f"eigenvalue {i + 1}" for i in range(len(self.values))]
        bars = Bars("largest eigenvalues", labels, self.values)
        limit = () if self.limit == inf else (Reference("limit of the learning rate", self.limit, vertical=True),)
        return (Plot("Sharpness", (bars, *limit), Axis("Hessian eigenvalue"), caption=self.verdict),)


@add_call_to_errors
@limit_time
def sharpness(
    module: nn.Module,
    data: Any,
    *,
    loss: Loss | None = None,
    lr: float | None = None,
    momentum: float = 0.0,
    k: int = 1,
    parameters: str | Sequence[str] | None = None,
    iterations: int | None = None,
    accuracy: float | None = None,
    tile: int | None = None,
    seed: int = 0,
    budget: float | None = None,
) -> Sharpness:
    """Computes the k largest Hessian eigenvalues of the mean loss by Lanczos, and the largest stable learning rate.

        lambda_1 = max over v of v^T H v / v^T v,    stable below 2 (1 + momentum) / lr                   (1)

    ``iterations`` fixes the number of products, which then bounds the time; by default, products continue until each
    residual is below the square root of the precision. ``accuracy=0.01`` ends them as soon as the error of each
    value is estimated to be below one percent of the largest value, usually after 5 to 15 products; the residuals are
    bounds and may then be larger. Other arguments are as in `hessian`.

    ``budget`` is the number of seconds after which the call ends with an error that says how long it would take.

    Hypotheses: as for `hessian`; (1) is exact for a quadratic loss, and local for others.
    Reference: [cohen2021gradient].
    Cost: 22 Hessian-vector products and as many vectors of p numbers for k = 1, more if convergence is slow.

    >>> import torch
    >>> net, x = nn.Linear(2, 1, bias=False), 2.0 * torch.eye(2)
    >>> print(sharpness(net, (x, torch.zeros(2)), lr=1.5).verdict)
    The largest Hessian eigenvalue is 2 (within ...), 1.50 times the largest at which lr 1.5 is stable: use
    an lr below 1.
    """
    lr = None if lr is None else check_number("lr", lr, above=0)
    if not 0 <= check_number("momentum", momentum) < 1:
        raise out_of_range_error("momentum", "at least 0 and below 1", momentum)
    k, seed = check_integer("k", k), check_seed(seed)
    steps = None if iterations is None else check_integer("iterations", iterations)
    share = None if accuracy is None else check_number("accuracy", accuracy, above=0)
    operator = hessian(module, data, loss=loss, parameters=parameters, tile=tile)
    pairs = operator.top(k, iterations=steps, accuracy=share, seed=seed)
    return Sharpness(tuple(pairs.values.tolist()), tuple(pairs.residuals.tolist()), lr, momentum, pairs.products)


def sharpness_of(operator: AbstractOperator, *, steps: int, seed: int) -> Sharpness:
    """Returns the sharpness of a Hessian operator, computed by at most ``steps`` products with vectors.

    >>> import torch
    >>> net, x = nn.Linear(2, 1, bias=False), 2.0 * torch.eye(2)
    >>> round(sharpness_of(hessian(net, (x, torch.zeros(2, 1))), steps=2, seed=0).value, 6)
    2.0
    """
    top = top_eigenpairs(operator, 1, steps=steps, seed=seed)
    return Sharpness(tuple(top.values.tolist()), tuple(top.residuals.tolist()), None, 0.0, top.products)
