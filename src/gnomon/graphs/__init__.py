"""Graph networks: measures which graphs they can distinguish, and how far information spreads between nodes.

Contains: oversmoothing, influence and reach, spectra, Weisfeiler-Leman classes, permutation errors, filter responses.
Does not contain: layers on graphs (`gnomon.models`).
May import: core, findings.
"""

from gnomon.graphs.filters import filter_response
from gnomon.graphs.graph import adjacency
from gnomon.graphs.influence import node_influence
from gnomon.graphs.permutation import permutation_error
from gnomon.graphs.smoothing import oversmoothing, smoothing_rate
from gnomon.graphs.spectrum import distances, effective_resistance, graph_spectrum
from gnomon.graphs.weisfeiler import graph_classes, weisfeiler_leman_colors

__all__ = [
    "adjacency",
    "distances",
    "effective_resistance",
    "filter_response",
    "graph_classes",
    "graph_spectrum",
    "node_influence",
    "oversmoothing",
    "permutation_error",
    "smoothing_rate",
    "weisfeiler_leman_colors",
]
