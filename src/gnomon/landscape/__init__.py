"""Analyzes the loss as a function of the parameters: curvature, sharpness, gradient noise, barriers, symmetries.

Contains: Hessian, Gauss-Newton and Fisher matrices as operators, sharpness, edge of stability, gradient noise, loss
on lines and planes and between models.
Does not contain: the kernel in function space (`gnomon.tangent`).
May import: adapter, core, findings, linalg, program, training.
"""

from gnomon.landscape.batchnorm import normalization_smoothing
from gnomon.landscape.between import average_models, loss_between
from gnomon.landscape.connectivity import mode_connectivity
from gnomon.landscape.edge import edge_of_stability
from gnomon.landscape.flat_directions import flat_directions
from gnomon.landscape.flatness import flatness_radius
from gnomon.landscape.gauss_newton import empirical_fisher, fisher, gauss_newton
from gnomon.landscape.hessian import hessian
from gnomon.landscape.importance import normalization_importance
from gnomon.landscape.matching import match_units
from gnomon.landscape.noise import gradient_noise
from gnomon.landscape.perturbed import largest_loss_rise, local_entropy
from gnomon.landscape.planes import loss_plane
from gnomon.landscape.ranges import lr_range
from gnomon.landscape.run_constants import run_constants
from gnomon.landscape.scale import scale_invariance
from gnomon.landscape.sharpness import sharpness
from gnomon.landscape.sharpness_variants import sharpness_variants
from gnomon.landscape.slices import loss_along
from gnomon.landscape.smoothness import try_gradient_steps
from gnomon.landscape.symmetries import parameter_symmetries

__all__ = [
    "average_models",
    "edge_of_stability",
    "empirical_fisher",
    "fisher",
    "flat_directions",
    "flatness_radius",
    "gauss_newton",
    "gradient_noise",
    "hessian",
    "local_entropy",
    "loss_along",
    "loss_between",
    "loss_plane",
    "lr_range",
    "match_units",
    "mode_connectivity",
    "largest_loss_rise",
    "normalization_importance",
    "normalization_smoothing",
    "parameter_symmetries",
    "run_constants",
    "scale_invariance",
    "sharpness",
    "sharpness_variants",
    "try_gradient_steps",
]
