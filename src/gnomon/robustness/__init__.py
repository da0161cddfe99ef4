"""Robustness: how far inputs can move before the predicted class changes, and what can be proven about it.

Contains: attacks, certificates, Lipschitz constants, linear regions, the Jacobian in the inputs.
Does not contain: certainty of decisions (`gnomon.decisions`), bounds on unseen data (`gnomon.bounds`).
May import: core, findings, linalg, program, training.
"""

from gnomon.robustness.attacks import attack, minimal_distance, universal_perturbation
from gnomon.robustness.certificates import output_bounds, smoothed_radius
from gnomon.robustness.distances import margin_distribution, noise_sensitivity
from gnomon.robustness.inverse import invertibility
from gnomon.robustness.jacobian import jacobian_spectrum, linear_map
from gnomon.robustness.lipschitz import lipschitz_bounds, operator_norm
from gnomon.robustness.preflight import preflight
from gnomon.robustness.radius import robust_radius
from gnomon.robustness.regions import maximal_regions, patterns_in_ball, regions_in_plane, regions_on_line
from gnomon.robustness.robust import THOROUGH_ATTACKS, robust_accuracy
from gnomon.robustness.supremum import supremum_distance

__all__ = [
    "THOROUGH_ATTACKS",
    "attack",
    "invertibility",
    "jacobian_spectrum",
    "linear_map",
    "lipschitz_bounds",
    "margin_distribution",
    "maximal_regions",
    "minimal_distance",
    "noise_sensitivity",
    "operator_norm",
    "output_bounds",
    "patterns_in_ball",
    "preflight",
    "regions_in_plane",
    "regions_on_line",
    "robust_accuracy",
    "robust_radius",
    "smoothed_radius",
    "supremum_distance",
    "universal_perturbation",
]
