"""First floor: what data promise for examples that were not seen.

Lives here: checks of data without a network, each with its false-alarm rate: test examples that are copies of training
examples (`leaks`), test examples drawn differently (`shift`), labels that look wrong (`suspects`), equal inputs with
different labels (`conflicts`), columns and targets that training stumbles over (`columns`, `channel_findings`,
`number_findings`, `class_findings`); what a simple model reaches, and what more data bring it (`baseline`); bounds on
the error on new examples with every factor (`Bound`); `pacbayes`, certificates; learning curves, double descent,
memorization, temperatures.
Does not live here: anything about a network's layers (`gnomon.geometry`) or its training (`gnomon.checkup`).
May import: core, the ground floor; torch.
"""

from gnomon.generalization.baseline import Baseline, baseline
from gnomon.generalization.bound import Bound
from gnomon.generalization.capacity import (
    Rademacher,
    kernel_rademacher,
    linear_rademacher,
    massart,
    min_norm_bound,
    network_dimension,
    sauer,
    vc_bound,
)
from gnomon.generalization.channels import channel_findings
from gnomon.generalization.columns import Columns, columns
from gnomon.generalization.conditioning import InputConditioning, input_conditioning
from gnomon.generalization.conflicts import Conflicts, conflicts
from gnomon.generalization.cushions import Cushions, cushions
from gnomon.generalization.descents import epoch_wise, sample_wise
from gnomon.generalization.double_descent import DoubleDescent, double_descent, isotropic_risk, spectral_risk
from gnomon.generalization.gap import GeneralizationGap, generalization_gap
from gnomon.generalization.leaks import Leaks, leaks
from gnomon.generalization.learning_curve import LearningCurve, learning_curve
from gnomon.generalization.memorization import (
    Forgetting,
    Memorization,
    forgetting,
    kernel_influence,
    memorization,
    network_rademacher,
)
from gnomon.generalization.noise_fit import NoiseFit, noise_fit
from gnomon.generalization.norms import LayerNorms, norms, path_norm
from gnomon.generalization.output_margins import OutputMargins, output_margins, spectral_complexity
from gnomon.generalization.pacbayes import (
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
from gnomon.generalization.replaced import ReplaceOne, replace_one
from gnomon.generalization.scaling import ScalingLaw, scaling_law
from gnomon.generalization.shift import Shift, shift
from gnomon.generalization.stability import Stability, ridge_stability
from gnomon.generalization.suspects import Suspects, suspects
from gnomon.generalization.targets import class_findings, number_findings
from gnomon.generalization.temperature import (
    Distilled,
    Temperature,
    distill,
    distillation_loss,
    smoothed_gap,
    temperature,
)
from gnomon.generalization.weight_bounds import GeneralizationBounds, generalization_bounds

__all__ = [
    "Baseline",
    "Columns",
    "Conflicts",
    "GeneralizationGap",
    "InputConditioning",
    "Leaks",
    "NoiseFit",
    "Bound",
    "Certificate",
    "Cushions",
    "Distilled",
    "DoubleDescent",
    "Forgetting",
    "FreshPrior",
    "GaussianWeights",
    "GeneralizationBounds",
    "GivenPrior",
    "LayerNorms",
    "LearnedPrior",
    "LearningCurve",
    "Memorization",
    "OutputMargins",
    "Rademacher",
    "ReplaceOne",
    "ScalingLaw",
    "Shift",
    "Stability",
    "Suspects",
    "baseline",
    "channel_findings",
    "class_findings",
    "columns",
    "conflicts",
    "generalization_gap",
    "input_conditioning",
    "leaks",
    "noise_fit",
    "Temperature",
    "catoni",
    "certify",
    "cushions",
    "distill",
    "distillation_loss",
    "double_descent",
    "epoch_wise",
    "forgetting",
    "gaussian_kl",
    "generalization_bounds",
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
    "norms",
    "number_findings",
    "output_margins",
    "path_norm",
    "quadratic",
    "replace_one",
    "ridge_stability",
    "sample_wise",
    "sauer",
    "scaling_law",
    "seeger",
    "shift",
    "smoothed_gap",
    "spectral_complexity",
    "spectral_risk",
    "suspects",
    "temperature",
    "vc_bound",
]
