"""Certificates: proofs that no point within a distance changes the class, one method in each file."""

from gnomon.robustness.certificates.bounds import Bounds, output_bounds
from gnomon.robustness.certificates.proofs import Crown, Intervals, LipschitzMargin
from gnomon.robustness.certificates.smoothing import SmoothedRadii, smoothed_radius

__all__ = ["Bounds", "Crown", "Intervals", "LipschitzMargin", "SmoothedRadii", "output_bounds", "smoothed_radius"]
