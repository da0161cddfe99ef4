"""First floor: wavelets, and representations of signals and images whose stability is proven.

Lives here: the scattering transforms `Scattering1d` and `Scattering2d`.
Does not live here: classifiers (`gnomon.estimators`), group convolutions (`gnomon.symmetry`).
May import: core; torch, numpy, numba.
"""

from gnomon.scattering.images import Scattering2d
from gnomon.scattering.path import Path
from gnomon.scattering.signals import Scattering1d

__all__ = ["Path", "Scattering1d", "Scattering2d"]
