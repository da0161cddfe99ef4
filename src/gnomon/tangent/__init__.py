"""How does this network move in function space?

Contains: the empirical kernel (`ntk`), the operator J J^T, linearized and Taylor models, laziness, the spectrum on
data.
Does not contain: kernels of infinite width (`gnomon.kernels`), predictions from a kernel (`gnomon.dynamics`).
May import: core, linalg, training.
"""

from gnomon.linalg.alignment import alignment, effective_rank, participation, rotation
from gnomon.tangent.drift import KernelDrift, UnitChanges, kernel_drift, unit_changes
from gnomon.tangent.empirical import ntk, ntk_by_layer
from gnomon.tangent.freedom import EffectiveParameters, KernelNorm, effective_parameters, kernel_norm
from gnomon.tangent.frequencies import FrequencyCurve, KernelFrequencies, circle, frequency_curve, kernel_frequencies
from gnomon.tangent.gap import TangentGap, tangent_gap
from gnomon.tangent.kappa import Kappa, kappa
from gnomon.tangent.laziness import Laziness, laziness
from gnomon.tangent.linear import linearize, rescale, taylor
from gnomon.tangent.linearity import LinearizationError, StepLinearity, linearization_error, step_linearity
from gnomon.tangent.operator import TangentOperator, operator
from gnomon.tangent.residuals import ConvergenceRate, ResidualModes, convergence_rate, residual_modes
from gnomon.tangent.spectrum import KernelSpectrum, kernel_spectrum
from gnomon.tangent.sweeps import (
    Gaussianity,
    GradientExponents,
    RegimeMap,
    ScaleSweep,
    WidthSpread,
    gradient_exponents,
    kernel_spread,
    output_gaussianity,
    output_spread,
    regime_map,
    scale_sweep,
)

__all__ = [
    "ConvergenceRate",
    "EffectiveParameters",
    "FrequencyCurve",
    "Gaussianity",
    "GradientExponents",
    "Kappa",
    "KernelDrift",
    "KernelFrequencies",
    "KernelNorm",
    "KernelSpectrum",
    "Laziness",
    "LinearizationError",
    "RegimeMap",
    "ResidualModes",
    "ScaleSweep",
    "StepLinearity",
    "TangentGap",
    "TangentOperator",
    "UnitChanges",
    "WidthSpread",
    "alignment",
    "circle",
    "convergence_rate",
    "effective_parameters",
    "effective_rank",
    "frequency_curve",
    "gradient_exponents",
    "kappa",
    "kernel_drift",
    "kernel_frequencies",
    "kernel_norm",
    "kernel_spectrum",
    "kernel_spread",
    "laziness",
    "linearization_error",
    "linearize",
    "ntk",
    "ntk_by_layer",
    "operator",
    "output_gaussianity",
    "output_spread",
    "participation",
    "regime_map",
    "rescale",
    "residual_modes",
    "rotation",
    "scale_sweep",
    "step_linearity",
    "tangent_gap",
    "taylor",
    "unit_changes",
]
