"""Analyzes how the outputs of a finite network change when its parameters change (the tangent kernel).

Contains: the empirical kernel (`ntk`), the operator J J^T, linearized and Taylor models, laziness, the spectrum on
data.
Does not contain: kernels of infinite width (`gnomon.kernels`), predictions from a kernel (`gnomon.dynamics`).
May import: adapter, core, linalg, training.
"""

from gnomon.linalg.alignment import alignment
from gnomon.tangent.complexity import effective_parameters
from gnomon.tangent.drift import kernel_drift, unit_changes
from gnomon.tangent.empirical import ntk, ntk_by_layer
from gnomon.tangent.frequencies import frequency_curve, kernel_frequencies
from gnomon.tangent.gap import tangent_gap
from gnomon.tangent.kappa import laziness_criterion
from gnomon.tangent.laziness import laziness
from gnomon.tangent.linear import linearize, scale_output, taylor_model
from gnomon.tangent.linearity import linearization_error, step_linearity
from gnomon.tangent.operator import tangent_operator
from gnomon.tangent.residuals import convergence_rate, residual_modes
from gnomon.tangent.spectrum import kernel_spectrum
from gnomon.tangent.sweeps import gradient_exponents, output_gaussianity, output_spread, regime_map, scale_sweep

__all__ = [
    "alignment",
    "convergence_rate",
    "effective_parameters",
    "frequency_curve",
    "gradient_exponents",
    "laziness_criterion",
    "kernel_drift",
    "kernel_frequencies",
    "kernel_spectrum",
    "laziness",
    "linearization_error",
    "linearize",
    "ntk",
    "ntk_by_layer",
    "tangent_operator",
    "output_gaussianity",
    "output_spread",
    "regime_map",
    "scale_output",
    "residual_modes",
    "scale_sweep",
    "step_linearity",
    "tangent_gap",
    "taylor_model",
    "unit_changes",
]
