"""Numerical differentiation of samples on uniform grids: one method per file, all with the same interface."""

from gnomon.discovery.derivatives.base import AbstractDerivative
from gnomon.discovery.derivatives.finite import FiniteDifferences
from gnomon.discovery.derivatives.polynomial import LocalPolynomial, smoothing_window
from gnomon.discovery.derivatives.smoothest import best_derivative_rule
from gnomon.discovery.derivatives.spectral import Spectral
from gnomon.discovery.derivatives.total_variation import TotalVariation

__all__ = [
    "AbstractDerivative",
    "FiniteDifferences",
    "LocalPolynomial",
    "Spectral",
    "TotalVariation",
    "best_derivative_rule",
    "smoothing_window",
]
