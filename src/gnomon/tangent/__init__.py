"""Tangents: the finite network's own kernel, and how far training stays on it.

Lives here: the empirical kernel (`ntk`), J J^T as an operator, the tangent and Taylor models, the rescaled model,
laziness between checkpoints and kappa before training, comparison of kernels, modes of a kernel on data.
Does not live here: kernels of infinite width (`gnomon.kernels`), predictions from a kernel (`gnomon.dynamics`).
May import: core, linalg.
"""

from gnomon.tangent.alignment import alignment, effective_rank, participation, rotation
from gnomon.tangent.empirical import ntk
from gnomon.tangent.kappa import Kappa, kappa
from gnomon.tangent.laziness import Laziness, laziness
from gnomon.tangent.linear import linearize, rescale, taylor
from gnomon.tangent.operator import TangentOperator, operator
from gnomon.tangent.spectrum import Spectrum, spectrum

__all__ = [
    "Kappa",
    "Laziness",
    "Spectrum",
    "TangentOperator",
    "alignment",
    "effective_rank",
    "kappa",
    "laziness",
    "linearize",
    "ntk",
    "operator",
    "participation",
    "rescale",
    "rotation",
    "spectrum",
    "taylor",
]
