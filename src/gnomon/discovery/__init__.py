"""Equation discovery: finds the differential equations that measured data follow.

Contains: sparse discovery of differential equations: libraries of terms, differentiation, weak form, selection,
simulation.
Does not contain: what a network looks at (`gnomon.attribution`).
May import: core, findings.
"""

from gnomon.discovery.candidates import TermLibrary
from gnomon.discovery.derivatives import (
    FiniteDifferenceDerivative,
    LocalPolynomialDerivative,
    SpectralDerivative,
    TotalVariationDerivative,
)
from gnomon.discovery.discover import discover
from gnomon.discovery.distillation import distill_equation, extrapolation_gap
from gnomon.discovery.forms import PointwiseForm, WeakForm
from gnomon.discovery.ode import discover_implicit, discover_ode
from gnomon.discovery.recovery import equation_recovery
from gnomon.discovery.regression import TermSelection, best_terms_by_count
from gnomon.discovery.residual import network_pde_residual, pde_residual
from gnomon.discovery.simulation import simulate

__all__ = [
    "FiniteDifferenceDerivative",
    "TermLibrary",
    "PointwiseForm",
    "LocalPolynomialDerivative",
    "TermSelection",
    "SpectralDerivative",
    "TotalVariationDerivative",
    "WeakForm",
    "best_terms_by_count",
    "discover",
    "discover_implicit",
    "discover_ode",
    "distill_equation",
    "extrapolation_gap",
    "network_pde_residual",
    "pde_residual",
    "equation_recovery",
    "simulate",
]
