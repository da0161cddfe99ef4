"""Which representations of signals are provably stable?

Contains: wavelets and scattering transforms, frequency reports of filters, sensitivity to deformations, Gabor fits,
synthesis.
Does not contain: classifiers (`gnomon.estimators`), group convolutions (`gnomon.symmetry`).
May import: core.
"""

from gnomon.scattering.cover import FrequencyCover, frequency_cover
from gnomon.scattering.deformation import DeformationSensitivity, deformation_sensitivity, fourier_modulus
from gnomon.scattering.energy import EnergyByOrder, energy_by_order
from gnomon.scattering.gabor import GaborFit, gabor_fit
from gnomon.scattering.images import Scattering2d
from gnomon.scattering.moments import ScatteringMoments, scattering_moments
from gnomon.scattering.path import Path
from gnomon.scattering.report import FilterReport, report
from gnomon.scattering.rotation import roto_translation_scattering
from gnomon.scattering.signals import Scattering1d
from gnomon.scattering.synthesis import Reconstruction, invert, synthesize
from gnomon.scattering.wavelets import WaveletTransform

__all__ = [
    "DeformationSensitivity",
    "EnergyByOrder",
    "FilterReport",
    "FrequencyCover",
    "GaborFit",
    "Path",
    "Reconstruction",
    "Scattering1d",
    "Scattering2d",
    "ScatteringMoments",
    "WaveletTransform",
    "deformation_sensitivity",
    "energy_by_order",
    "fourier_modulus",
    "frequency_cover",
    "gabor_fit",
    "invert",
    "report",
    "roto_translation_scattering",
    "scattering_moments",
    "synthesize",
]
