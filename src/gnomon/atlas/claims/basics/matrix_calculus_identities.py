"""The derivatives of A w, a^T X b, a^T X^T b and a^T X a are A, a b^T, b a^T and a a^T.

    d<w, x> / dw = x,    d(A w) / dw = A,    d(a^T X b) / dX = a b^T,    d(a^T X^T b) / dX = b a^T,
    d(a^T X a) / dX = a a^T                                                                              (1)

Row i of a Jacobian belongs to output i. In the other common layout, with row i for input i, every Jacobian is
transposed: d(A w) / dw = A^T. Reference: [petersen2012matrix].
"""

import torch
from torch.autograd.functional import jacobian

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, seed):
    """Returns three random vectors and a random matrix."""
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=g, dtype=torch.float64) for shape in ((n,), (n,), (n,), (n, n))]


def predicted(n, seed):
    """Returns the entries of the five derivatives by the formulas; A is the matrix."""
    a, b, x, matrix = problem(n, seed)
    return torch.cat([x, *(m.flatten() for m in (matrix, torch.outer(a, b), torch.outer(b, a), torch.outer(a, a)))])


def derivatives(n, seed):
    """Returns the five derivatives by automatic differentiation, with output axes before input axes."""
    a, b, x, matrix = problem(n, seed)
    return [
        jacobian(lambda w: w @ x, a),
        jacobian(lambda w: matrix @ w, a),
        jacobian(lambda m: a @ m @ b, matrix),
        jacobian(lambda m: a @ m.mT @ b, matrix),
        jacobian(lambda m: a @ m @ a, matrix),
    ]


def observed(n, seed):
    """Returns the derivatives as matrices with one row for each output."""
    return torch.cat([d.flatten() for d in derivatives(n, seed)])


def control(n, seed):
    """Returns the derivatives as matrices with one row for each input."""
    first, *others = derivatives(n, seed)
    return torch.cat([first, *(d.T.flatten() for d in others)])


CLAIM = Claim(
    id="matrix-calculus-identities",
    question="What are the derivatives of the most common matrix products?",
    equation=r"\partial (A w)/\partial w = A, \quad \partial (a^T X b) / \partial X = a b^T",
    axes=("entry of the five derivatives", "derivative"),
    source=Source("theorem", "petersen2012matrix"),
    premises=(Premise("row i of a Jacobian belongs to output i"),),
    parameters={"n": 5},
    full={"n": 40},
    judge=equals(rounding=100),
    remark="Tables often use the layout with rows for inputs but examples the other one: d(A w)/dw is A^T or A.",
)
