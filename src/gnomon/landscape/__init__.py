"""What does the loss look like over the parameters?

Contains: Hessian, Gauss-Newton and Fisher matrices as operators, sharpness, edge of stability, gradient noise, loss
on lines and planes and between models.
Does not contain: the kernel in function space (`gnomon.tangent`).
May import: core, findings, linalg, program, training.
"""

from gnomon.landscape.along import RunConstants, keep_model, run_constants
from gnomon.landscape.averaging import AveragingGain, averaging_gain
from gnomon.landscape.basins import BasinMap, basin_map
from gnomon.landscape.batchnorm import NormalizationSmoothing, normalization_smoothing
from gnomon.landscape.between import LossBetween, average, loss_between
from gnomon.landscape.connectivity import ModeConnectivity, mode_connectivity
from gnomon.landscape.edge import Edge, edge
from gnomon.landscape.flat import FlatDirections, flat_directions
from gnomon.landscape.flatness import FlatnessRadius, flatness_radius
from gnomon.landscape.flow import FlowGap, flow_gap
from gnomon.landscape.forms import SharpnessForms, sharpness_forms
from gnomon.landscape.gauss_newton import GaussNewtonOperator, empirical_fisher, fisher, gauss_newton
from gnomon.landscape.hessian import HessianOperator, hessian
from gnomon.landscape.implicit import ImplicitPenalty, implicit_penalty
from gnomon.landscape.importance import NormalizationImportance, normalization_importance
from gnomon.landscape.invisible import InvisibleWeights, invisible_weights
from gnomon.landscape.matching import MatchedUnits, match_units
from gnomon.landscape.noise import GradientNoise, gradient_noise
from gnomon.landscape.norms import RankPath, SolutionNorms, WeightNorms, rank_path, solution_norms
from gnomon.landscape.perturbed import LocalEntropy, NearbyRise, local_entropy, nearby_rise
from gnomon.landscape.planes import LossPlane, loss_plane
from gnomon.landscape.ranges import LrRange, ScaleRobustness, lr_range, scale_robustness
from gnomon.landscape.scale import ScaleInvariance, scale_invariance
from gnomon.landscape.sharpness import Sharpness, sharpness
from gnomon.landscape.shrinkage import Shrinkage, equivalent_weight_decay, shrinkage
from gnomon.landscape.slices import Convexity, LossSlice, convexity, loss_along
from gnomon.landscape.smoothness import PolyakConstant, StepsAhead, polyak_constant, steps_ahead
from gnomon.landscape.starts import StartSensitivity, start_sensitivity
from gnomon.landscape.symmetries import ParameterSymmetries, parameter_symmetries

__all__ = [
    "InvisibleWeights",
    "invisible_weights",
    "AveragingGain",
    "BasinMap",
    "Convexity",
    "Edge",
    "FlatDirections",
    "FlatnessRadius",
    "FlowGap",
    "GaussNewtonOperator",
    "GradientNoise",
    "HessianOperator",
    "ImplicitPenalty",
    "LocalEntropy",
    "LossBetween",
    "LossPlane",
    "LossSlice",
    "LrRange",
    "MatchedUnits",
    "ModeConnectivity",
    "NearbyRise",
    "NormalizationImportance",
    "NormalizationSmoothing",
    "ParameterSymmetries",
    "PolyakConstant",
    "RankPath",
    "RunConstants",
    "ScaleInvariance",
    "ScaleRobustness",
    "Sharpness",
    "SharpnessForms",
    "Shrinkage",
    "SolutionNorms",
    "StartSensitivity",
    "StepsAhead",
    "WeightNorms",
    "average",
    "averaging_gain",
    "basin_map",
    "convexity",
    "edge",
    "empirical_fisher",
    "equivalent_weight_decay",
    "fisher",
    "flat_directions",
    "flatness_radius",
    "flow_gap",
    "gauss_newton",
    "gradient_noise",
    "hessian",
    "implicit_penalty",
    "keep_model",
    "local_entropy",
    "loss_along",
    "loss_between",
    "loss_plane",
    "lr_range",
    "match_units",
    "mode_connectivity",
    "nearby_rise",
    "normalization_importance",
    "normalization_smoothing",
    "parameter_symmetries",
    "polyak_constant",
    "rank_path",
    "run_constants",
    "scale_invariance",
    "scale_robustness",
    "sharpness",
    "sharpness_forms",
    "shrinkage",
    "solution_norms",
    "start_sensitivity",
    "steps_ahead",
]
