"""Computes the divergence of a vector field (the trace of its Jacobian), exactly or estimated with random directions.

    tr df/dx = sum_i e_i . (df/dx) e_i                                                                     (1)
    tr df/dx = E e . (df/dx) e,    E e e^T = I                                                             (2)

(1) needs one derivative for each number in an example, (2) one for each random direction. With S the symmetric part of
the Jacobian, one Gaussian direction has variance 2 |S|_F^2, and one of random signs has 2 (|S|_F^2 - sum_i S_ii^2),
which is never more.

Hypotheses: the field treats every example separately. Reference: [hutchinson1989stochastic]; [grathwohl2019ffjord].
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import vjp, vmap

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.generative.vectors import check_vectors, finite_points

__all__ = ["AbstractTraceEstimator", "ExactTrace", "HutchinsonTrace", "hutchinson_trace"]

Field = Callable[[Tensor], Tensor]
"""A function from points (n, ...) to vectors of the same shape."""


class AbstractTraceEstimator(ABC):
    """Interface of methods that compute a vector field's divergence from products of its Jacobian with some
    directions.
    """

    @abstractmethod
    def directions(self, x: Tensor) -> Tensor:
        """Returns the directions in which the divergence at these points is measured."""

    @abstractmethod
    def weight(self, x: Tensor) -> float:
        """Returns the factor by which the sum over all directions is multiplied to give the divergence."""

    def __call__(self, field: Field, x: Tensor, directions: Tensor) -> tuple[Tensor, Float[Tensor, " n"]]:
        """Returns the values of a vector field at points, and its divergence at these points.

        See equations (1) or (2) of the module docstring.
        """
        value, pull = vjp(field, x)[:2]
        products = vmap(lambda e: (pull(e)[0] * e).flatten(1).sum(1))(directions)
        return value, self.weight(x) * products.sum(0)  # (1) (2)


@dataclass(frozen=True, slots=True)
class ExactTrace(AbstractTraceEstimator):
    """Computes the exact divergence of a vector field (trace of its Jacobian), using all coordinate directions.

    See equation (1) of the module docstring.

    >>> x = torch.ones(2, 3)
    >>> ExactTrace()(lambda x: x**2, x, ExactTrace().directions(x))[1].tolist()  # 3 * 2 x
    [6.0, 6.0]
    """

    def directions(self, x: Tensor) -> Tensor:  # noqa: D102
        d = x[0].numel()
        return torch.eye(d, dtype=x.dtype, device=x.device).reshape(d, 1, *x.shape[1:]).expand(d, *x.shape)

    def weight(self, x: Tensor) -> float:  # noqa: D102
        return 1.0


@dataclass(frozen=True, slots=True)
class HutchinsonTrace(AbstractTraceEstimator):
    """Estimates the divergence of a vector field from random directions with entries +-1 or Gaussian entries.

    See equation (2) of the module docstring.

    >>> x = torch.ones(2, 3)
    >>> HutchinsonTrace(4)(lambda x: x**2, x, HutchinsonTrace(4).directions(x))[1].tolist()  # no error on a diagonal
    [6.0, 6.0]
    """

    directions_per_example: int = 1
    law: str = "signs"
    seed: int = 0

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_integer("directions_per_example", self.directions_per_example)
        check_seed(self.seed)
        if self.law not in ("signs", "gaussian"):
            raise out_of_range_error("law", '"signs" or "gaussian"', self.law)

    def directions(self, x: Tensor) -> Tensor:  # noqa: D102
        generator = torch.Generator().manual_seed(self.seed)
        drawn = torch.randn(self.directions_per_example, *x.shape, generator=generator, dtype=torch.float64)
        return (drawn.sign() if self.law == "signs" else drawn).to(x)

    def weight(self, x: Tensor) -> float:  # noqa: D102
        return 1 / self.directions_per_example


@add_call_to_errors
def hutchinson_trace(
    field: Field, x: Tensor, *, directions: int = 10, law: str = "signs", seed: int = 0
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """Estimates the divergence of a vector field from random directions, with a standard error for each point.

        tr df/dx ~ (1/k) sum_j e_j . (df/dx) e_j                                                           (1)

    Args:
        field: a function from points (n, ...) to vectors, separately for each example.
        x: the points.
        directions: the number k of directions, at least two.
        law: the distribution of the directions, "signs" or "gaussian".
        seed: random seed of the directions.

    Hypotheses: see the module. Reference: [hutchinson1989stochastic].
    Cost: k directional derivatives.

    >>> trace, error = hutchinson_trace(lambda x: x @ torch.tensor([[1.0, 2.0], [0.0, 3.0]]).T, torch.zeros(1, 2))
    >>> bool((trace - 4).abs() <= 4 * error)
    True
    """
    k, x = check_integer("directions", directions, least=2), finite_points(x, "x")
    drawn = HutchinsonTrace(k, law, seed).directions(x)
    value, pull = vjp(field, x)[:2]
    check_vectors(value, x)
    products = vmap(lambda e: (pull(e)[0] * e).flatten(1).sum(1))(drawn)
    return products.mean(0), products.std(0) / k**0.5  # (1)
