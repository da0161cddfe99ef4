"""Five derivatives of products, in the layout where row i of a Jacobian belongs to output i.

    d<w, x> / dw = x,    d(A w) / dw = A,    d(a^T X b) / dX = a b^T,    d(a^T X^T b) / dX = b a^T,
    d(a^T X a) / dX = a a^T                                                                              (1)

The other layout, with row i for input i, transposes every Jacobian: d(A w) / dw = A^T there.
Reference: [petersen2012matrix].
"""

import torch
from torch.autograd.functional import jacobian

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, seed):
    """Three vectors and a matrix; the vectors are those of the identities."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=g, dtype=torch.float64) for shape in ((n,), (n,), (n,), (n, n))]


def predicted(n, seed):
    """Equation (1), with A the matrix; all entries in a row."""
    a, b, x, matrix = problem(n, seed)
    return torch.cat([x, *(m.flatten() for m in (matrix, torch.outer(a, b), torch.outer(b, a), torch.outer(a, a)))])


def derivatives(n, seed):
    """By automatic differentiation, which keeps the axes of the output before those of the input."""
    a, b, x, matrix = problem(n, seed)
    return [
        jacobian(lambda w: w @ x, a),
        jacobian(lambda w: matrix @ w, a),
        jacobian(lambda m: a @ m @ b, matrix),
        jacobian(lambda m: a @ m.mT @ b, matrix),
        jacobian(lambda m: a @ m @ a, matrix),
    ]


def observed(n, seed):
    """In this layout."""
    return torch.cat([d.flatten() for d in derivatives(n, seed)])


def control(n, seed):
    """In the other one."""
    first, *others = derivatives(n, seed)
    return torch.cat([first, *(d.T.flatten() for d in others)])


CLAIM = Claim(
    id="matrix-calculus-identities",
    title="The derivatives of A w, a^T X b, a^T X^T b and a^T X a are A, a b^T, b a^T and a a^T",
    equation=r"\partial (A w)/\partial w = A, \quad \partial (a^T X b) / \partial X = a b^T",
    source=Source("theorem", "petersen2012matrix"),
    premises=(Premise("row i of a Jacobian belongs to output i"),),
    parameters={"n": 5},
    full={"n": 40},
    judge=equals(rounding=100),
    remark="Tables often use the layout with rows for inputs and examples the other one: d(A w)/dw is A^T or A.",
)
