"""What does the network look at?

Contains: attribution maps with sanity checks, frequencies, units, probes of layers, receptive fields, shortcuts,
information.
Does not contain: transformations of the input (`gnomon.symmetry`).
May import: core, findings.
"""

from gnomon.attribution.blocks import BlockAblation, block_ablation
from gnomon.attribution.cues import BagOfPatches, CueConflict, analogy_score, bag_of_patches_score, cue_conflict
from gnomon.attribution.fourier import FourierMask, fourier_mask, keep_frequencies
from gnomon.attribution.gradient import gradient, integrated_gradients, smooth_grad
from gnomon.attribution.information import (
    BottleneckCurve,
    InformationPlane,
    bottleneck_curve,
    discrete_information,
    information_plane,
    mutual_information,
)
from gnomon.attribution.inversion import Inversion, invert_layer
from gnomon.attribution.layers import layer_activations
from gnomon.attribution.maps import cam, cam_overlap, grad_cam
from gnomon.attribution.neurons import NeuronDistance, neuron_distance
from gnomon.attribution.occlusion import occlusion
from gnomon.attribution.orbits import OrbitCurvature, orbit_curvature
from gnomon.attribution.probes import LayerProbe, LayerProbes, intrinsic_dimension, layer_probe
from gnomon.attribution.receptive import ReceptiveField, receptive_field
from gnomon.attribution.record import Attribution
from gnomon.attribution.regularity import LabelRegularity, label_regularity
from gnomon.attribution.representation import RepresentationReport, representation_report
from gnomon.attribution.sanity import Faithfulness, Sanity, deletion_insertion, sanity_check
from gnomon.attribution.sheet import ContactSheet, contact_sheet
from gnomon.attribution.shortcut import Reliance, Shortcuts, shortcuts
from gnomon.attribution.similarity import LayerSimilarity, cka, layer_similarity, procrustes
from gnomon.attribution.token_sheet import TokenSheet, token_sheet
from gnomon.attribution.tokens import token_attribution
from gnomon.attribution.trees import SurrogateTree, surrogate_tree
from gnomon.attribution.units import (
    DirectionSemantics,
    TopActivating,
    Visualization,
    direction_semantics,
    top_activating,
    visualize_unit,
)
from gnomon.attribution.variance import VarianceShares, variance_shares
from gnomon.attribution.variational import VariationalInformation, variational_information

__all__ = [
    "BlockAblation",
    "block_ablation",
    "NeuronDistance",
    "neuron_distance",
    "ReceptiveField",
    "receptive_field",
    "LabelRegularity",
    "label_regularity",
    "VarianceShares",
    "variance_shares",
    "Attribution",
    "BagOfPatches",
    "BottleneckCurve",
    "ContactSheet",
    "CueConflict",
    "DirectionSemantics",
    "Faithfulness",
    "FourierMask",
    "InformationPlane",
    "Inversion",
    "LayerProbe",
    "LayerProbes",
    "LayerSimilarity",
    "OrbitCurvature",
    "Reliance",
    "RepresentationReport",
    "Sanity",
    "Shortcuts",
    "SurrogateTree",
    "TokenSheet",
    "TopActivating",
    "VariationalInformation",
    "Visualization",
    "analogy_score",
    "bag_of_patches_score",
    "bottleneck_curve",
    "cam",
    "cam_overlap",
    "cka",
    "contact_sheet",
    "cue_conflict",
    "deletion_insertion",
    "direction_semantics",
    "discrete_information",
    "fourier_mask",
    "grad_cam",
    "gradient",
    "information_plane",
    "integrated_gradients",
    "intrinsic_dimension",
    "invert_layer",
    "keep_frequencies",
    "layer_activations",
    "layer_probe",
    "layer_similarity",
    "mutual_information",
    "occlusion",
    "orbit_curvature",
    "procrustes",
    "representation_report",
    "sanity_check",
    "shortcuts",
    "smooth_grad",
    "surrogate_tree",
    "token_attribution",
    "token_sheet",
    "top_activating",
    "variational_information",
    "visualize_unit",
]
