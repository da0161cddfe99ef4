"""How certain are the decisions of a classifier, and is the certainty justified?

Contains: margins, calibration, temperature, linear separability.
Does not contain: attacks and proofs (`gnomon.robustness`).
May import: core, findings, training.
"""

from gnomon.decisions.calibration import calibration
from gnomon.decisions.homogeneous import margin_path, normalized_margin
from gnomon.decisions.margins import margins
from gnomon.decisions.separation import linear_capacity, novikoff_bound, separability
from gnomon.decisions.temperature import distill, smoothed_gap, temperature

__all__ = [
    "calibration",
    "distill",
    "linear_capacity",
    "margin_path",
    "margins",
    "normalized_margin",
    "novikoff_bound",
    "separability",
    "smoothed_gap",
    "temperature",
]
