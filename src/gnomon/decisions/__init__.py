"""How certain are the decisions of a classifier, and is the certainty justified?

Contains: margins, calibration, temperature, linear separability.
Does not contain: attacks and proofs (`gnomon.robustness`).
May import: core, findings, training.
"""

from gnomon.decisions.homogeneous import MarginPath, NormalizedMargin, margin_path, normalized_margin
from gnomon.decisions.separation import (
    LinearCapacity,
    NovikoffBound,
    Separability,
    linear_capacity,
    novikoff_bound,
    separability,
)
from gnomon.decisions.temperature import Distilled, Temperature, distill, distillation_loss, smoothed_gap, temperature

__all__ = [
    "Distilled",
    "LinearCapacity",
    "MarginPath",
    "NormalizedMargin",
    "NovikoffBound",
    "Separability",
    "Temperature",
    "distill",
    "distillation_loss",
    "linear_capacity",
    "margin_path",
    "normalized_margin",
    "novikoff_bound",
    "separability",
    "smoothed_gap",
    "temperature",
]
