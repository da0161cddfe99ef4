"""First floor: the function over its inputs, and how signals travel through its layers.

Lives here: signal propagation, measured on any module by hooks on its layers (`signal`), with what is wrong and the
cure (`signal_findings`), and as predicted by mean-field theory for a fully connected network (`mean_field`); the gain
of an activation (`activation_gain`), how regular labels are over the inputs (`label_regularity`); `attacks`, one family
in a file, and robust accuracy (`robust_accuracy`) with the premises it is believed under (`preflight`); `certificates`
and `lipschitz`, what is proven; `regions`, where a piecewise linear network is linear.
Does not live here: exact kernels of infinite width (`gnomon.kernels`); theory and measurement meet upstairs.
May import: core, the ground floor; torch.
"""

from gnomon.geometry.attacks import Attack, attack, minimal_distance, universal_perturbation
from gnomon.geometry.certificates import output_bounds, smoothed_radius
from gnomon.geometry.findings import signal_findings
from gnomon.geometry.gain import ActivationGain, activation_gain
from gnomon.geometry.layer import Backward, Forward, LayerSignal
from gnomon.geometry.lipschitz import LipschitzBounds, lipschitz_bounds, operator_norm
from gnomon.geometry.meanfield import MeanField, critical_weight_std, mean_field
from gnomon.geometry.preflight import Preflight, preflight
from gnomon.geometry.radii import RobustRadii
from gnomon.geometry.radius import robust_radius
from gnomon.geometry.regions import LineRegions, PlaneRegions, maximal_regions, regions_in_plane, regions_on_line
from gnomon.geometry.regularity import LabelRegularity, label_regularity
from gnomon.geometry.robust import RobustAccuracy, robust_accuracy
from gnomon.geometry.signal import Signal, signal

__all__ = [
    "ActivationGain",
    "Attack",
    "Backward",
    "Forward",
    "LabelRegularity",
    "LayerSignal",
    "LineRegions",
    "LipschitzBounds",
    "MeanField",
    "PlaneRegions",
    "Preflight",
    "RobustAccuracy",
    "RobustRadii",
    "Signal",
    "activation_gain",
    "attack",
    "critical_weight_std",
    "label_regularity",
    "lipschitz_bounds",
    "maximal_regions",
    "mean_field",
    "minimal_distance",
    "operator_norm",
    "output_bounds",
    "preflight",
    "regions_in_plane",
    "regions_on_line",
    "robust_accuracy",
    "robust_radius",
    "signal",
    "signal_findings",
    "smoothed_radius",
    "universal_perturbation",
]
