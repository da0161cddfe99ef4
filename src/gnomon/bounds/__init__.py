"""What can be promised on unseen data?

Contains: PAC-Bayes certificates, norm and capacity bounds, stability, learning curves, double descent, memorization.
Does not contain: checks of the data themselves (`gnomon.checks`).
May import: core, findings, training.
"""

from gnomon.bounds.barron import barron_norm
from gnomon.bounds.capacity import vc_bound
from gnomon.bounds.cushions import cushions
from gnomon.bounds.descents import epoch_wise, sample_wise
from gnomon.bounds.double_descent import double_descent
from gnomon.bounds.gap import generalization_gap
from gnomon.bounds.learning_curve import learning_curve
from gnomon.bounds.memorization import forgetting, kernel_influence, memorization
from gnomon.bounds.noise_fit import noise_fit
from gnomon.bounds.norms import norms
from gnomon.bounds.output_margins import output_margins
from gnomon.bounds.pacbayes import FreshPrior, GivenPrior, LearnedPrior, catoni, certify, mcallester, seeger
from gnomon.bounds.replaced import replace_one
from gnomon.bounds.scaling import scaling_law
from gnomon.bounds.stability import ridge_stability
from gnomon.bounds.weight_bounds import generalization_bounds

__all__ = [
    "FreshPrior",
    "GivenPrior",
    "LearnedPrior",
    "barron_norm",
    "catoni",
    "certify",
    "cushions",
    "double_descent",
    "epoch_wise",
    "forgetting",
    "generalization_bounds",
    "generalization_gap",
    "kernel_influence",
    "learning_curve",
    "mcallester",
    "memorization",
    "noise_fit",
    "norms",
    "output_margins",
    "replace_one",
    "ridge_stability",
    "sample_wise",
    "scaling_law",
    "seeger",
    "vc_bound",
]
