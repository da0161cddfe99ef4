"""First floor: the function over its inputs, and how signals travel through its layers.

Lives here: signal propagation, measured on any module by hooks on its layers (`signal`), with what is wrong and the
cure (`signal_findings`), and as predicted by mean-field theory for a fully connected network (`mean_field`); the gain
of an activation (`activation_gain`), how regular labels are over the inputs (`label_regularity`); `attacks`, one family
in a file, and robust accuracy (`robust_accuracy`) with the premises it is believed under (`preflight`); `certificates`
and `lipschitz`, what is proven; `regions`, where a piecewise linear network is linear; architectures: what an output
sees (`receptive_field`), which blocks matter (`block_ablation`), depth as time (`ode_gap`), what is lost
(`invertibility`), how many units a function needs (`barron_norm`), the distance of functions (`sup_distance`).
Does not live here: exact kernels of infinite width (`gnomon.kernels`); theory and measurement meet upstairs.
May import: core, the ground floor; torch.
"""

from gnomon.geometry.activity import UnitActivity, unit_activity
from gnomon.geometry.attacks import Attack, attack, minimal_distance, universal_perturbation
from gnomon.geometry.barron import BarronNorm, barron_norm
from gnomon.geometry.blocks import BlockAblation, block_ablation
from gnomon.geometry.certificates import output_bounds, smoothed_radius
from gnomon.geometry.depth import DepthAsTime, ode_gap
from gnomon.geometry.distances import MarginDistribution, NoiseSensitivity, margin_distribution, noise_sensitivity
from gnomon.geometry.duplicates import UnitDuplicates, unit_duplicates
from gnomon.geometry.findings import signal_findings
from gnomon.geometry.gain import ActivationGain, activation_gain
from gnomon.geometry.homogeneous import MarginPath, NormalizedMargin, margin_path, normalized_margin
from gnomon.geometry.inverse import Invertibility, invertibility
from gnomon.geometry.invisible import InvisibleWeights, invisible_weights
from gnomon.geometry.jacobian import JacobianSpectrum, LinearMap, jacobian_spectrum, linear_map
from gnomon.geometry.layer import Backward, Forward, LayerSignal
from gnomon.geometry.lipschitz import LipschitzBounds, lipschitz_bounds, operator_norm
from gnomon.geometry.meanfield import MeanField, critical_weight_std, mean_field
from gnomon.geometry.moments import MomentShift, moment_shift
from gnomon.geometry.neurons import NeuronDistance, neuron_distance
from gnomon.geometry.preflight import Preflight, preflight
from gnomon.geometry.radii import RobustRadii
from gnomon.geometry.radius import robust_radius
from gnomon.geometry.receptive import ReceptiveField, receptive_field
from gnomon.geometry.regions import (
    BallPatterns,
    LineRegions,
    PlaneRegions,
    maximal_regions,
    patterns_in_ball,
    regions_in_plane,
    regions_on_line,
)
from gnomon.geometry.regularity import LabelRegularity, label_regularity
from gnomon.geometry.robust import ENSEMBLE, THOROUGH, RobustAccuracy, robust_accuracy
from gnomon.geometry.scales import SignalScales, signal_scales
from gnomon.geometry.separation import (
    LinearCapacity,
    NovikoffBound,
    Separability,
    linear_capacity,
    novikoff_bound,
    separability,
)
from gnomon.geometry.signal import Signal, signal
from gnomon.geometry.supremum import SupDistance, sup_distance
from gnomon.geometry.variance import VarianceShares, variance_shares

__all__ = [
    "ENSEMBLE",
    "THOROUGH",
    "ActivationGain",
    "Attack",
    "Backward",
    "BallPatterns",
    "BarronNorm",
    "BlockAblation",
    "DepthAsTime",
    "Forward",
    "Invertibility",
    "InvisibleWeights",
    "JacobianSpectrum",
    "LabelRegularity",
    "LayerSignal",
    "LineRegions",
    "LinearCapacity",
    "LinearMap",
    "LipschitzBounds",
    "MarginDistribution",
    "MarginPath",
    "MeanField",
    "MomentShift",
    "NeuronDistance",
    "NoiseSensitivity",
    "NormalizedMargin",
    "NovikoffBound",
    "PlaneRegions",
    "Preflight",
    "ReceptiveField",
    "RobustAccuracy",
    "RobustRadii",
    "Separability",
    "Signal",
    "SignalScales",
    "SupDistance",
    "UnitActivity",
    "UnitDuplicates",
    "VarianceShares",
    "activation_gain",
    "attack",
    "barron_norm",
    "block_ablation",
    "critical_weight_std",
    "invertibility",
    "invisible_weights",
    "jacobian_spectrum",
    "label_regularity",
    "linear_capacity",
    "linear_map",
    "lipschitz_bounds",
    "margin_distribution",
    "margin_path",
    "maximal_regions",
    "mean_field",
    "minimal_distance",
    "moment_shift",
    "neuron_distance",
    "noise_sensitivity",
    "normalized_margin",
    "novikoff_bound",
    "ode_gap",
    "operator_norm",
    "output_bounds",
    "patterns_in_ball",
    "preflight",
    "receptive_field",
    "regions_in_plane",
    "regions_on_line",
    "robust_accuracy",
    "robust_radius",
    "separability",
    "signal",
    "signal_findings",
    "signal_scales",
    "smoothed_radius",
    "sup_distance",
    "unit_activity",
    "unit_duplicates",
    "universal_perturbation",
    "variance_shares",
]
