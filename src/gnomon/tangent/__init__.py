"""Tangents: the tangent kernel of a finite network, and how far training stays on it.

Lives here: the empirical kernel (`ntk`, `ntk_by_layer`), J J^T as an operator, the tangent, Taylor and rescaled models,
laziness between checkpoints and kappa before training, comparison of kernels, the spectrum of a kernel on data.
Does not live here: kernels of infinite width (`gnomon.kernels`), predictions from a kernel (`gnomon.dynamics`).
May import: core, linalg.
"""

from gnomon.tangent.alignment import alignment, effective_rank, participation, rotation
from gnomon.tangent.empirical import ntk, ntk_by_layer
from gnomon.tangent.kappa import Kappa, kappa
from gnomon.tangent.laziness import Laziness, laziness
from gnomon.tangent.linear import linearize, rescale, taylor
from gnomon.tangent.operator import TangentOperator, operator
from gnomon.tangent.spectrum import KernelSpectrum, kernel_spectrum

__all__ = [
    "Kappa",
    "KernelSpectrum",
    "Laziness",
    "TangentOperator",
    "alignment",
    "effective_rank",
    "kappa",
    "kernel_spectrum",
    "laziness",
    "linearize",
    "ntk",
    "ntk_by_layer",
    "operator",
    "participation",
    "rescale",
    "rotation",
    "taylor",
]
