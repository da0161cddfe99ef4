"""All activations, each with its definition, derivative and kinks in numpy: one row, one battery of tests.

A new activation is a new row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
import torch
from scipy import special
from torch.nn import functional

from gnomon.kernels.duals import (
    GELU,
    AbstractDual,
    Cos,
    Erf,
    Exp,
    GaussianBump,
    Heaviside,
    Identity,
    LeakyReLU,
    Polynomial,
    Quadrature,
    ReLU,
    ScaledDual,
    Sign,
    Sin,
    monomial,
)  # fmt: skip

Function = Callable[[np.ndarray], np.ndarray]

SELU_SCALE, SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
CUBIC = (0.5, -1.0, 0.25, 0.1)


@dataclass(frozen=True)
class Activation:
    """A dual and what it must be the dual of."""

    name: str
    dual: AbstractDual
    function: Function
    derivative: Function
    kinks: tuple[float, ...] = ()
    jumps: bool = False

    @property
    def closed(self) -> bool:
        return not isinstance(self.dual, Quadrature)

    @property
    def tolerance(self) -> float:
        """Of sqrt(E[f^2] E[g^2]): rounding for closed forms, the promise of the docstring for quadrature."""
        return 1e-10 if self.closed else 1e-8

    def gain(self, x: np.ndarray) -> np.ndarray:
        return x * self.derivative(x)


def _elu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _elu_slope(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, 1.0, np.exp(np.minimum(x, 0)))


def _normal(x: np.ndarray) -> np.ndarray:
    return np.exp(-(x**2) / 2) / sqrt(2 * pi)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, x)


def _mish_slope(x: np.ndarray) -> np.ndarray:
    t = np.tanh(_softplus(x))
    return t + x * (1 - t**2) * special.expit(x)


def _leaky(slope: float) -> tuple[Function, Function]:
    return lambda x: np.where(x > 0, x, slope * x), lambda x: np.where(x > 0, 1.0, slope)


def _zero(x: np.ndarray) -> np.ndarray:
    return np.zeros_like(x)


CLOSED = (
    Activation("identity", Identity(), lambda x: x, np.ones_like),
    Activation("relu", ReLU(), lambda x: np.maximum(x, 0), lambda x: 1.0 * (x > 0), (0,)),
    Activation("leaky", LeakyReLU(0.1), *_leaky(0.1), (0,)),
    Activation("abs", LeakyReLU(-1.0), np.abs, lambda x: np.where(x > 0, 1.0, -1.0), (0,)),
    Activation("steep", LeakyReLU(2.5), *_leaky(2.5), (0,)),
    Activation("sign", Sign(), np.sign, _zero, (0,), jumps=True),
    Activation("step", Heaviside(), lambda x: 1.0 * (x > 0), _zero, (0,), jumps=True),
    Activation("erf", Erf(), special.erf, lambda x: 2 / sqrt(pi) * np.exp(-(x**2))),
    Activation("gelu", GELU(), lambda x: x * special.ndtr(x), lambda x: special.ndtr(x) + x * _normal(x)),
    Activation("sin", Sin(), np.sin, np.cos),
    Activation("cos", Cos(), np.cos, lambda x: -np.sin(x)),
    Activation("exp", Exp(), np.exp, np.exp),
    Activation("gaussian", GaussianBump(), lambda x: np.exp(-(x**2)), lambda x: -2 * x * np.exp(-(x**2))),
    Activation(
        "cubic",
        Polynomial(CUBIC),
        lambda x: np.polynomial.polynomial.polyval(x, CUBIC),
        lambda x: np.polynomial.polynomial.polyval(x, [-1.0, 0.5, 0.3]),
    ),
    Activation("square", monomial(2), lambda x: x**2, lambda x: 2 * x),
    Activation("constant", Polynomial((1.5,)), lambda x: np.full_like(x, 1.5), _zero),
    Activation(
        "scaled-erf",
        ScaledDual(Erf(), outer_scale=0.5, inner_scale=0.7, shift=0.5),
        lambda x: 0.5 * special.erf(0.7 * x) + 0.5,
        lambda x: 0.7 / sqrt(pi) * np.exp(-((0.7 * x) ** 2)),
    ),
    Activation(
        "scaled-relu",
        ScaledDual(ReLU(), outer_scale=-1.5, inner_scale=-2.0, shift=0.3),
        lambda x: -1.5 * np.maximum(-2 * x, 0) + 0.3,
        lambda x: 3.0 * (x < 0),
        (0,),
    ),
)

NUMERIC = (
    Activation("tanh", Quadrature(torch.tanh), np.tanh, lambda x: 1 / np.cosh(np.clip(x, -300, 300)) ** 2),
    Activation("sigmoid", Quadrature(torch.sigmoid), special.expit, lambda x: special.expit(x) * special.expit(-x)),
    Activation(
        "silu",
        Quadrature(functional.silu),
        lambda x: x * special.expit(x),
        lambda x: special.expit(x) * (1 + x * special.expit(-x)),
    ),
    Activation("elu", Quadrature(functional.elu), _elu, _elu_slope, (0,)),
    Activation(
        "threshold",
        Quadrature(lambda x: functional.threshold(x, 0.1, 0.2)),
        lambda x: np.where(x > 0.1, x, 0.2),
        lambda x: 1.0 * (x > 0.1),
        (0.1,),
        jumps=True,
    ),
    Activation(
        "selu",
        Quadrature(functional.selu),
        lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * _elu(x)),
        lambda x: SELU_SCALE * np.where(x > 0, 1.0, SELU_ALPHA * _elu_slope(x)),
        (0,),
    ),
    Activation("softplus", Quadrature(functional.softplus), _softplus, special.expit),
    Activation("mish", Quadrature(functional.mish), lambda x: x * np.tanh(_softplus(x)), _mish_slope),
    Activation(
        "hardtanh", Quadrature(functional.hardtanh), lambda x: np.clip(x, -1, 1), lambda x: 1.0 * (abs(x) < 1), (-1, 1)
    ),
    Activation(
        "hardswish",
        Quadrature(functional.hardswish),
        lambda x: x * np.clip(x + 3, 0, 6) / 6,
        lambda x: np.where(x > 3, 1.0, np.where(x < -3, 0.0, (2 * x + 3) / 6)),
        (-3, 3),
    ),
    Activation(
        "softsign",
        Quadrature(functional.softsign),
        lambda x: x / (1 + abs(x)),
        lambda x: 1 / (1 + abs(x)) ** 2,
        (0,),
    ),
    Activation(
        "shifted-relu",
        Quadrature(lambda x: torch.relu(x - 1 / 3)),
        lambda x: np.maximum(x - 1 / 3, 0),
        lambda x: 1.0 * (x > 1 / 3),
        (1 / 3,),
    ),
    Activation(
        "hardshrink",
        Quadrature(functional.hardshrink),
        lambda x: np.where(abs(x) > 0.5, x, 0.0),
        lambda x: 1.0 * (abs(x) > 0.5),
        (-0.5, 0.5),
        jumps=True,
    ),
    Activation(
        "stairs",
        Quadrature(lambda x: torch.floor(2 * x.clamp(-1.1, 1.1))),
        lambda x: np.floor(2 * np.clip(x, -1.1, 1.1)),
        _zero,
        (-1, -0.5, 0, 0.5, 1),
        jumps=True,
    ),
)

ALL = CLOSED + NUMERIC
