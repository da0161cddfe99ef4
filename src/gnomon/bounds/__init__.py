"""Bounds on the error of a network on unseen examples, and measurements of how well it generalizes.

Contains: PAC-Bayes certificates, norm and capacity bounds, stability, learning curves, double descent, memorization.
Does not contain: checks of the data themselves (`gnomon.checks`).
May import: core, findings, training.
"""

from gnomon.bounds.barron import barron_norm
from gnomon.bounds.capacity import vc_bound
from gnomon.bounds.cushions import layer_noise_tolerance
from gnomon.bounds.descents import epoch_wise_double_descent, sample_wise_double_descent
from gnomon.bounds.double_descent import double_descent
from gnomon.bounds.gap import generalization_gap
from gnomon.bounds.learning_curve import learning_curve
from gnomon.bounds.memorization import forgetting_events, kernel_influence, memorization
from gnomon.bounds.noise_fit import label_noise_fit
from gnomon.bounds.norms import layer_norms
from gnomon.bounds.output_margins import output_margins
from gnomon.bounds.pacbayes import (
    LearnedPrior,
    NewWeightsPrior,
    OwnWeightsPrior,
    catoni_bound,
    certify,
    mcallester_bound,
    seeger_bound,
)
from gnomon.bounds.replace_one import replace_one_gap
from gnomon.bounds.scaling import scaling_law
from gnomon.bounds.stability import ridge_stability
from gnomon.bounds.weight_bounds import generalization_bounds

__all__ = [
    "NewWeightsPrior",
    "OwnWeightsPrior",
    "LearnedPrior",
    "barron_norm",
    "catoni_bound",
    "certify",
    "layer_noise_tolerance",
    "double_descent",
    "epoch_wise_double_descent",
    "forgetting_events",
    "generalization_bounds",
    "generalization_gap",
    "kernel_influence",
    "learning_curve",
    "mcallester_bound",
    "memorization",
    "label_noise_fit",
    "layer_norms",
    "output_margins",
    "replace_one_gap",
    "ridge_stability",
    "sample_wise_double_descent",
    "scaling_law",
    "seeger_bound",
    "vc_bound",
]
