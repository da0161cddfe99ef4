"""Analyzes the predictions of a classifier: calibration, margins, linear separability, temperature.

Contains: margins, calibration, temperature, linear separability.
Does not contain: attacks and proofs (`gnomon.robustness`).
May import: core, findings, training.
"""

from gnomon.decisions.calibration import calibration
from gnomon.decisions.homogeneous import kkt_residual, margin_growth, normalized_margin
from gnomon.decisions.margins import margins
from gnomon.decisions.separation import linear_capacity, novikoff_bound, separability
from gnomon.decisions.temperature import best_temperature, distill

__all__ = [
    "calibration",
    "distill",
    "kkt_residual",
    "linear_capacity",
    "margin_growth",
    "margins",
    "normalized_margin",
    "novikoff_bound",
    "separability",
    "best_temperature",
]
