"""Equation discovery: finds the differential equations that measured data follow.

Contains: sparse discovery of differential equations: libraries of terms, differentiation, weak form, selection,
simulation.
Does not contain: what a network looks at (`gnomon.attribution`).
May import: core, findings.
"""

from gnomon.discovery.candidates import Library
from gnomon.discovery.derivatives import FiniteDifferences, LocalPolynomial, Spectral, TotalVariation
from gnomon.discovery.discover import discover
from gnomon.discovery.distillation import distill, extrapolation_gap
from gnomon.discovery.forms import PointwiseForm, WeakForm
from gnomon.discovery.ode import discover_implicit, discover_ode
from gnomon.discovery.recovery import law_recovery
from gnomon.discovery.regression import TermSelection, bic_path
from gnomon.discovery.residual import model_residual, pde_residual
from gnomon.discovery.simulation import simulate

__all__ = [
    "FiniteDifferences",
    "Library",
    "PointwiseForm",
    "LocalPolynomial",
    "TermSelection",
    "Spectral",
    "TotalVariation",
    "WeakForm",
    "bic_path",
    "discover",
    "discover_implicit",
    "discover_ode",
    "distill",
    "extrapolation_gap",
    "model_residual",
    "pde_residual",
    "law_recovery",
    "simulate",
]
