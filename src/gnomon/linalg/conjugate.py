"""Solves linear systems with a positive definite operator (matrix-vector products only) by conjugate gradients.

    (A + damping I) x = b,      r_k = b - (A + damping I) x_k,      p_k conjugate:  p_i^T A p_j = 0          (1)

Hypotheses: A + damping I is positive definite; a direction of negative curvature is detected and reported.
Reference: [hestenes1952methods].
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, NotConvergedError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.linalg.operator import AbstractOperator

__all__ = ["LinearSolve", "solve_operator"]


@dataclass(frozen=True, slots=True, eq=False)
class LinearSolve(Result):
    """The solution x of the linear system, the relative residual after each product, and the requested tolerance.

    >>> found = LinearSolve(torch.ones(2), residuals=(1.0, 0.1, 1e-9), tolerance=1e-6)
    >>> print(found.verdict)
    The system is solved: residual 1.0e-09 of b after 2 products.
    """

    x: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    residuals: tuple[float, ...]
    tolerance: float

    @property
    def converged(self) -> bool:
        """Whether the solution is accurate: the last relative residual is at most the tolerance."""
        return self.residuals[-1] <= self.tolerance

    @property
    def verdict(self) -> str:
        """A sentence that says whether the linear system was solved to the requested accuracy."""
        done = "solved" if self.converged else "not solved"
        return f"The system is {done}: residual {self.residuals[-1]:.1e} of b after {len(self.residuals) - 1} products."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the relative residual after each product, with the tolerance."""
        marks = (Line("residual", range(len(self.residuals)), [max(r, 1e-300) for r in self.residuals]),
                 Reference("tolerance", self.tolerance))  # fmt: skip
        return (Plot("Conjugate gradients", marks, Axis("products"), Axis("relative residual", log=True)),)


@add_call_to_errors
def solve_operator(
    operator: AbstractOperator,
    b: Float[Tensor, " n"],
    *,
    damping: float = 0.0,
    tolerance: float = 1e-5,
    products: int = 1000,
) -> LinearSolve:
    """Solves (A + damping I) x = b for an operator A by conjugate gradients, to a relative residual ``tolerance``.

    See equation (1) of the module docstring.

    Raises `NotConvergedError`, with the result so far, if a direction of negative or zero curvature is found, or if
    the products are spent.

    Reference: [hestenes1952methods].
    Cost: one product for each step, about sqrt(condition number) log(2 / tolerance) / 2 of them; four vectors.

    >>> from gnomon.linalg.operator import DenseOperator
    >>> solve_operator(DenseOperator(torch.diag(torch.tensor([1.0, 4.0]))), torch.ones(2)).x.tolist()
    [1.0, 0.25]
    """
    damping = check_number("damping", damping)
    tolerance = check_number("tolerance", tolerance, above=0)
    products = check_integer("products", products)
    if b.shape != (operator.size,) or not bool(b.isfinite().all()):
        found = f"b has shape {tuple(b.shape)}" if b.shape != (operator.size,) else "b is not finite"
        raise InputError(
            found, accepted=f"a vector of {operator.size} numbers", fix="Pass a finite vector of that length"
        )
    b = b.to(operator.like)
    size = b.norm()
    x, r = torch.zeros_like(b), b.clone()
    if size == 0:
        return LinearSolve(x, (0.0,), tolerance)
    p, square, residuals = r.clone(), torch.dot(r, r), [1.0]
    for _ in with_progress_bar(range(products), "products"):
        ap = operator.matvec(p) + damping * p
        curvature = torch.dot(p, ap)
        if not curvature > 0:
            found = f"a direction of curvature {float(curvature / torch.dot(p, p)):.2g} was found"
            raise NotConvergedError(
                found,
                accepted="a positive definite operator",
                fix="Raise damping above the negative curvature",
                reached=LinearSolve(x, tuple(residuals), tolerance),
            )
        step = square / curvature
        x, r = x + step * p, r - step * ap  # (1)
        before, square = square, torch.dot(r, r)
        residuals.append(float(square.sqrt() / size))
        if residuals[-1] <= tolerance:
            return LinearSolve(x, tuple(residuals), tolerance)
        p = r + square / before * p
    found = f"the residual is {residuals[-1]:.1e} of b after {products} products"
    raise NotConvergedError(
        found,
        accepted="a well-conditioned operator",
        fix="Raise damping, products or tolerance",
        reached=LinearSolve(x, tuple(residuals), tolerance),
    )
