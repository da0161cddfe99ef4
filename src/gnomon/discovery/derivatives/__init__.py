"""Numerical differentiation of samples on uniform grids: one method per file, all with the same interface."""

from gnomon.discovery.derivatives.base import AbstractDerivative
from gnomon.discovery.derivatives.finite import FiniteDifferenceDerivative
from gnomon.discovery.derivatives.polynomial import LocalPolynomialDerivative, smoothing_window
from gnomon.discovery.derivatives.smoothest import best_derivative_rule
from gnomon.discovery.derivatives.spectral import SpectralDerivative
from gnomon.discovery.derivatives.total_variation import TotalVariationDerivative

__all__ = [
    "AbstractDerivative",
    "FiniteDifferenceDerivative",
    "LocalPolynomialDerivative",
    "SpectralDerivative",
    "TotalVariationDerivative",
    "best_derivative_rule",
    "smoothing_window",
]
