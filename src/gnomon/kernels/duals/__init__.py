"""Computes expectations such as E[phi(u) phi(v)] over Gaussian u, v for activations phi (the duals), one per file.

Lives here: the contract (base), closed forms, and quadrature for every other elementwise function.
Does not live here: which activation a module uses (program), what a layer does with its dual (rules).
May import: core, torch; numpy for tables of nodes.
Adding an activation adds a file here and a row in the table of the tests.
"""

from gnomon.kernels.duals.base import AbstractDual
from gnomon.kernels.duals.erf import Erf
from gnomon.kernels.duals.exponential import Exp, GaussianBump
from gnomon.kernels.duals.gelu import GELU
from gnomon.kernels.duals.identity import Identity
from gnomon.kernels.duals.leaky import LeakyReLU
from gnomon.kernels.duals.polynomial import Polynomial, monomial
from gnomon.kernels.duals.quadrature import Quadrature
from gnomon.kernels.duals.relu import ReLU
from gnomon.kernels.duals.scaled import ScaledDual
from gnomon.kernels.duals.sign import Heaviside, Sign
from gnomon.kernels.duals.sine import Cos, Sin

__all__ = [
    "AbstractDual",
    "Cos",
    "Erf",
    "Exp",
    "GELU",
    "GaussianBump",
    "Identity",
    "LeakyReLU",
    "Polynomial",
    "Quadrature",
    "ReLU",
    "ScaledDual",
    "Sign",
    "Sin",
    "Heaviside",
    "monomial",
]
