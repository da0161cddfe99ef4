"""Finds the Gaussian expectations of an elementwise expression: a closed form if there is one, else quadrature.

An expression is brought to the form  outer * g(inner * x) + shift  or to a polynomial.

>>> import torch
>>> from gnomon.program.expression import Apply, Variable
>>> x = Variable()
>>> half = Apply("div", torch.div, (Apply("erf", torch.erf, (Apply("div", torch.div, (x, 2.4)),)), 2.0))
>>> dual_of(Apply("add", torch.add, (half, 0.5)))
ScaledDual(inner=Erf(), outer_scale=0.5, inner_scale=0.4166666666666667, shift=0.5)
"""

from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

from torch import Tensor

from gnomon.kernels.duals import (
    GELU,
    Cos,
    Erf,
    Exp,
    GaussianBump,
    Identity,
    LeakyReLU,
    Polynomial,
    Quadrature,
    ReLU,
    ScaledDual,
    Sign,
    Sin,
)  # fmt: skip
from gnomon.kernels.duals.base import AbstractDual
from gnomon.program.expression import Apply, Expression, Variable, evaluate
from gnomon.program.linear import slope_and_intercept

MAX_POLYNOMIAL_DEGREE = 12
"""Maximum degree of a polynomial that keeps its closed form."""


@dataclass(frozen=True, slots=True)
class Function:
    """An elementwise expression such as x * sigmoid(x), as a function that can be called and compared by value."""

    tree: Expression

    def __call__(self, u: Tensor) -> Tensor:
        """Returns the value of the elementwise expression at u."""
        result: Tensor = evaluate(self.tree, u)
        return result


def dual_of(tree: Expression) -> AbstractDual:
    """Returns the object that computes Gaussian expectations (the dual) of an elementwise expression."""
    coefficients = polynomial(tree)
    if coefficients is not None:
        return Identity() if coefficients == (0.0, 1.0) else Polynomial(coefficients)
    outer, core, shift = _affine(tree)
    known = _closed_form(core)
    if known is None:
        return Quadrature(Function(tree))
    dual, factor, inner = known
    if (outer * factor, inner, shift) == (1.0, 1.0, 0.0):
        return dual
    return ScaledDual(dual, outer * factor, inner, shift)


def polynomial(tree: Any) -> tuple[float, ...] | None:
    """Returns the coefficients, constant first, if an elementwise expression is a polynomial; None otherwise."""
    match tree:
        case Variable():
            return 0.0, 1.0
        case bool() | None:
            return None
        case int() | float():
            return (float(tree),)
        case Apply(name="neg", args=(x,)):
            return _times(polynomial(x), (-1.0,))
        case Apply(name="add" | "sub" as name, args=(x, y), options=()):
            sign = 1.0 if name == "add" else -1.0
            return _plus(polynomial(x), _times(polynomial(y), (sign,)))
        case Apply(name="mul", args=(x, y), options=()):
            return _times(polynomial(x), polynomial(y))
        case Apply(name="div", args=(x, (int() | float()) as y), options=()) if y:
            return _times(polynomial(x), (1.0 / y,))
        case Apply(name="square", args=(x,)):
            return _times(polynomial(x), polynomial(x))
        case Apply(name="pow", args=(x, (int() | float()) as n)) if (
            float(n).is_integer() and 0 <= n <= MAX_POLYNOMIAL_DEGREE
        ):
            result: tuple[float, ...] | None = (1.0,)
            for _ in range(int(n)):
                result = _times(result, polynomial(x))
            return result
        case _:
            return None


def _affine(tree: Any) -> tuple[float, Any, float]:
    """Writes an elementwise expression as outer * core + shift, so that the core has no constant factor or summand
    left.
    """
    match tree:
        case Apply(name="neg", args=(x,)):
            return _shift(_affine(x), -1.0, 0.0)
        case (
            Apply(name="add", args=(x, (int() | float()) as k), options=())
            | Apply(name="add", args=((int() | float()) as k, x), options=())
        ):
            return _shift(_affine(x), 1.0, float(k))
        case Apply(name="sub", args=(x, (int() | float()) as k), options=()):
            return _shift(_affine(x), 1.0, -float(k))
        case Apply(name="sub", args=((int() | float()) as k, x), options=()):
            return _shift(_affine(x), -1.0, float(k))
        case (
            Apply(name="mul", args=(x, (int() | float()) as k), options=())
            | Apply(name="mul", args=((int() | float()) as k, x), options=())
        ):
            return _shift(_affine(x), float(k), 0.0)
        case Apply(name="div", args=(x, (int() | float()) as k), options=()) if k:
            return _shift(_affine(x), 1.0 / k, 0.0)
        case _:
            return 1.0, tree, 0.0


def _shift(form: tuple[float, Any, float], scale: float, shift: float) -> tuple[float, Any, float]:
    outer, core, inner_shift = form
    return scale * outer, core, scale * inner_shift + shift


def _closed_form(core: Any) -> tuple[AbstractDual, float, float] | None:
    """Returns (dual of g, factor, scale) if an expression is factor * g(scale * x) with Gaussian expectations of g
    known.
    """
    if not isinstance(core, Apply) or not core.args:
        return None
    argument = core.args[0]
    straight = slope_and_intercept(argument)
    if core.name == "exp":
        return _exponential(argument)
    if straight is None or straight[1] != 0.0 or straight[0] == 0.0:
        return None
    scale = straight[0]
    dual = _name(core)
    return None if dual is None else (dual, 1.0, scale)


def _name(core: Apply) -> AbstractDual | None:
    match core.name:
        case "relu":
            return ReLU()
        case "clamp" | "clip" if (core.option("min", 1, None), core.option("max", 2, None)) == (0, None):
            return ReLU()
        case "clamp_min" if core.option("min", 1, None) == 0:
            return ReLU()
        case "threshold" if (core.option("threshold", 1, None), core.option("value", 2, None)) == (0, 0):
            return ReLU()
        case "leaky_relu":
            return LeakyReLU(float(core.option("negative_slope", 1, 0.01)))
        case "abs":
            return LeakyReLU(-1.0)
        case "sign" | "sgn":
            return Sign()
        case "erf":
            return Erf()
        case "gelu" if core.option("approximate", 1, "none") == "none":
            return GELU()
        case "sin":
            return Sin()
        case "cos":
            return Cos()
        case _:
            return None


def _exponential(argument: Any) -> tuple[AbstractDual, float, float] | None:
    """Returns the Gaussian expectations of an exponential whose argument is k + s x or k - q x^2; None otherwise."""
    straight, square = slope_and_intercept(argument), polynomial(argument)
    if straight is not None and straight[0] != 0.0:
        return Exp(), exp(straight[1]), straight[0]
    if square is not None and len(square) == 3 and square[1] == 0.0 and square[2] < 0.0:
        return GaussianBump(), exp(square[0]), sqrt(-square[2])
    return None


def _plus(x: tuple[float, ...] | None, y: tuple[float, ...] | None) -> tuple[float, ...] | None:
    if x is None or y is None:
        return None
    size = max(len(x), len(y))
    x, y = x + (0.0,) * (size - len(x)), y + (0.0,) * (size - len(y))
    return tuple(a + b for a, b in zip(x, y, strict=True))


def _times(x: tuple[float, ...] | None, y: tuple[float, ...] | None) -> tuple[float, ...] | None:
    if x is None or y is None or len(x) + len(y) - 2 > MAX_POLYNOMIAL_DEGREE:
        return None
    result = [0.0] * (len(x) + len(y) - 1)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            result[i + j] += a * b
    return tuple(result)
