"""Scattering transforms: signal representations by wavelets that are provably stable to deformations.

Contains: wavelets and scattering transforms, frequency reports of filters, sensitivity to deformations, Gabor fits,
synthesis.
Does not contain: classifiers (`gnomon.estimators`), group convolutions (`gnomon.symmetry`).
May import: core.
"""

from gnomon.scattering.deformation import deformation_sensitivity, fourier_modulus
from gnomon.scattering.energy import energy_by_order
from gnomon.scattering.frequency_coverage import frequency_coverage
from gnomon.scattering.gabor import gabor_fit
from gnomon.scattering.images import Scattering2d
from gnomon.scattering.moments import scattering_moments
from gnomon.scattering.report import filter_report
from gnomon.scattering.rotation import roto_translation_scattering
from gnomon.scattering.signals import Scattering1d
from gnomon.scattering.synthesis import invert_scattering, synthesize_like
from gnomon.scattering.wavelets import WaveletTransform

__all__ = [
    "Scattering1d",
    "Scattering2d",
    "WaveletTransform",
    "deformation_sensitivity",
    "energy_by_order",
    "fourier_modulus",
    "frequency_coverage",
    "gabor_fit",
    "invert_scattering",
    "filter_report",
    "roto_translation_scattering",
    "scattering_moments",
    "synthesize_like",
]
