"""Certificates: proofs that no point within a distance changes the predicted class, one method in each file."""

from gnomon.robustness.certificates.bounds import StepBounds, output_bounds
from gnomon.robustness.certificates.proofs import CrownProof, IntervalProof, LipschitzProof
from gnomon.robustness.certificates.smoothing import SmoothedRadii, smoothed_radius

__all__ = [
    "StepBounds",
    "CrownProof",
    "IntervalProof",
    "LipschitzProof",
    "SmoothedRadii",
    "output_bounds",
    "smoothed_radius",
]
