"""What can be promised on unseen data?

Contains: PAC-Bayes certificates, norm and capacity bounds, stability, learning curves, double descent, memorization.
Does not contain: checks of the data themselves (`gnomon.checks`).
May import: core, findings, training.
"""

from gnomon.bounds.barron import BarronNorm, barron_norm
from gnomon.bounds.bound import Bound
from gnomon.bounds.capacity import (
    Rademacher,
    kernel_rademacher,
    linear_rademacher,
    massart,
    min_norm_bound,
    network_dimension,
    sauer,
    vc_bound,
)
from gnomon.bounds.cushions import Cushions, cushions
from gnomon.bounds.descents import epoch_wise, sample_wise
from gnomon.bounds.double_descent import DoubleDescent, double_descent, isotropic_risk, spectral_risk
from gnomon.bounds.gap import GeneralizationGap, generalization_gap
from gnomon.bounds.learning_curve import LearningCurve, learning_curve
from gnomon.bounds.memorization import (
    Forgetting,
    Memorization,
    forgetting,
    kernel_influence,
    memorization,
    network_rademacher,
)
from gnomon.bounds.noise_fit import NoiseFit, noise_fit
from gnomon.bounds.norms import LayerNorms, norms, path_norm
from gnomon.bounds.output_margins import OutputMargins, output_margins, spectral_complexity
from gnomon.bounds.pacbayes import (
    Certificate,
    FreshPrior,
    GaussianWeights,
    GivenPrior,
    LearnedPrior,
    catoni,
    certify,
    gaussian_kl,
    inverse_kl,
    mcallester,
    quadratic,
    seeger,
)
from gnomon.bounds.replaced import ReplaceOne, replace_one
from gnomon.bounds.scaling import ScalingLaw, scaling_law
from gnomon.bounds.stability import Stability, ridge_stability
from gnomon.bounds.weight_bounds import GeneralizationBounds, generalization_bounds

__all__ = [
    "BarronNorm",
    "Bound",
    "Certificate",
    "Cushions",
    "DoubleDescent",
    "Forgetting",
    "FreshPrior",
    "GaussianWeights",
    "GeneralizationBounds",
    "GeneralizationGap",
    "GivenPrior",
    "LayerNorms",
    "LearnedPrior",
    "LearningCurve",
    "Memorization",
    "NoiseFit",
    "OutputMargins",
    "Rademacher",
    "ReplaceOne",
    "ScalingLaw",
    "Stability",
    "barron_norm",
    "catoni",
    "certify",
    "cushions",
    "double_descent",
    "epoch_wise",
    "forgetting",
    "gaussian_kl",
    "generalization_bounds",
    "generalization_gap",
    "inverse_kl",
    "isotropic_risk",
    "kernel_influence",
    "kernel_rademacher",
    "learning_curve",
    "linear_rademacher",
    "massart",
    "mcallester",
    "memorization",
    "min_norm_bound",
    "network_dimension",
    "network_rademacher",
    "noise_fit",
    "norms",
    "output_margins",
    "path_norm",
    "quadratic",
    "replace_one",
    "ridge_stability",
    "sample_wise",
    "sauer",
    "scaling_law",
    "seeger",
    "spectral_complexity",
    "spectral_risk",
    "vc_bound",
]
