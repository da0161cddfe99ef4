"""Shows which inputs, features and layers a trained network uses for its predictions.

Contains: attribution maps with sanity checks, frequencies, units, probes of layers, receptive fields, shortcuts,
information.
Does not contain: transformations of the input (`gnomon.symmetry`).
May import: core, findings.
"""

from gnomon.attribution.fourier import fourier_mask
from gnomon.attribution.gradient import gradient, integrated_gradients
from gnomon.attribution.information import bottleneck_curve, information_plane, mutual_information
from gnomon.attribution.inversion import invert_layer
from gnomon.attribution.maps import cam, grad_cam
from gnomon.attribution.occlusion import occlusion
from gnomon.attribution.probes import layer_probe
from gnomon.attribution.receptive import receptive_field
from gnomon.attribution.representation import representation_report
from gnomon.attribution.sanity import deletion_insertion, sanity_check
from gnomon.attribution.sheet import attribution_overview
from gnomon.attribution.shortcut import shortcuts
from gnomon.attribution.similarity import layer_similarity
from gnomon.attribution.token_attribution_overview import token_attribution_overview
from gnomon.attribution.tokens import token_attribution
from gnomon.attribution.units import compare_unit_purity, top_activating, visualize_unit
from gnomon.attribution.variance import feature_variance_shares
from gnomon.attribution.variational import variational_information

__all__ = [
    "bottleneck_curve",
    "cam",
    "attribution_overview",
    "deletion_insertion",
    "compare_unit_purity",
    "fourier_mask",
    "grad_cam",
    "gradient",
    "information_plane",
    "integrated_gradients",
    "invert_layer",
    "layer_probe",
    "layer_similarity",
    "mutual_information",
    "occlusion",
    "receptive_field",
    "representation_report",
    "sanity_check",
    "shortcuts",
    "token_attribution",
    "token_attribution_overview",
    "top_activating",
    "feature_variance_shares",
    "variational_information",
    "visualize_unit",
]
