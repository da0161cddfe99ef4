"""Proofs that no point within a distance is classified otherwise, one method in a file."""

from gnomon.robustness.certificates.bounds import Bounds, output_bounds
from gnomon.robustness.certificates.proofs import Crown, Intervals, LipschitzMargin
from gnomon.robustness.certificates.smoothing import SmoothedRadii, smoothed_radius

__all__ = ["Bounds", "Crown", "Intervals", "LipschitzMargin", "SmoothedRadii", "output_bounds", "smoothed_radius"]
