"""First floor: networks on graphs: what they can tell apart, how far nodes see, how alike they become.

Lives here: graphs as matrices (`adjacency`), their spectra, distances and resistances (`graph_spectrum`, `distances`,
`effective_resistance`), oversmoothing with the rate of theory (`oversmoothing`, `smoothing_rate`), influence, reach and
oversquashing (`influence`), the classes of Weisfeiler and Leman (`wl_colors`, `graph_classes`), whether the order of
nodes counts (`permutation_error`), what layers do to frequencies (`filter_response`).
Does not live here: layers on graphs (`gnomon.models`), their limits (`gnomon.kernels`).
May import: core, the ground floor; torch.
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
