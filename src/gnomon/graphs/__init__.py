"""What can a network on graphs distinguish, and how far does it see?

Contains: oversmoothing, influence and reach, spectra, Weisfeiler-Leman classes, permutation errors, filter responses.
Does not contain: layers on graphs (`gnomon.models`).
May import: core, findings.
"""

from gnomon.graphs.filters import FilterResponse, filter_response
from gnomon.graphs.graph import adjacency
from gnomon.graphs.influence import Influence, influence
from gnomon.graphs.permutation import PermutationError, permutation_error
from gnomon.graphs.smoothing import Oversmoothing, oversmoothing, smoothing_rate
from gnomon.graphs.spectrum import GraphSpectrum, distances, effective_resistance, graph_spectrum
from gnomon.graphs.weisfeiler import GraphClasses, graph_classes, wl_colors

__all__ = [
    "FilterResponse",
    "GraphClasses",
    "GraphSpectrum",
    "Influence",
    "Oversmoothing",
    "PermutationError",
    "adjacency",
    "distances",
    "effective_resistance",
    "filter_response",
    "graph_classes",
    "graph_spectrum",
    "influence",
    "oversmoothing",
    "permutation_error",
    "smoothing_rate",
    "wl_colors",
]
