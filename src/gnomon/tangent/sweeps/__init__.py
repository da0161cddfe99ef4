"""Measures how a quantity changes with a network's width or output scale, one quantity in each file.

A network is given as a function ``build(width, seed)`` that returns a module; its torch random numbers start from the
seed, so that it may ignore the argument.
"""

from gnomon.tangent.sweeps.gaussianity import Gaussianity, output_gaussianity
from gnomon.tangent.sweeps.gradients import GradientExponents, gradient_exponents
from gnomon.tangent.sweeps.regimes import RegimeMap, regime_map
from gnomon.tangent.sweeps.scales import ScaleSweep, scale_sweep
from gnomon.tangent.sweeps.spread import WidthSpread, kernel_spread, output_spread

__all__ = [
    "Gaussianity",
    "GradientExponents",
    "RegimeMap",
    "ScaleSweep",
    "WidthSpread",
    "gradient_exponents",
    "kernel_spread",
    "output_gaussianity",
    "output_spread",
    "regime_map",
    "scale_sweep",
]
