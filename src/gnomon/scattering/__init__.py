"""First floor: wavelets, and representations of signals and images whose stability is proven.

Lives here: the scattering transforms `Scattering1d` and `Scattering2d`; what a bank of filters, ours or a convolution
of a model, does to frequencies (`report`); how much a representation changes under deformations
(`deformation_sensitivity`); the Gabor functions nearest to learned filters (`gabor_fit`) and the waves that they cover
(`frequency_cover`); the share of energy in each order (`energy_by_order`); a wavelet transform that is undone exactly;
moments of stationary processes, invariants to rotations, and signals with given coefficients.
Does not live here: classifiers (`gnomon.estimators`), group convolutions (`gnomon.symmetry`).
May import: core; torch, numpy, numba.
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
