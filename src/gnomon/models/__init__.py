"""Which architectures does theory cover that torch.nn lacks?

Contains: plain torch modules, each with its equation: perceptrons, convolutions, attention, recurrences, graphs,
residual blocks, neural ODEs.
Does not contain: kernels, training, measurements.
May import: core.
"""

from gnomon.models.attention import SelfAttention
from gnomon.models.blocks import Coupling, DenseBlock, ResidualLayer, Reversible
from gnomon.models.graphs import GATLayer, GCNLayer, GINLayer, chebyshev_filter, gcn_matrix
from gnomon.models.hopfield import DenseMemory, Hopfield, ModernHopfield
from gnomon.models.networks import cnn, mlp
from gnomon.models.ode import NeuralODE, runge_kutta
from gnomon.models.on_graph import OnGraph
from gnomon.models.piecewise import pwl_network
from gnomon.models.positions import sinusoidal_positions
from gnomon.models.recurrent import LinearRecurrentUnit, MinGRU
from gnomon.models.scan import linear_scan
from gnomon.models.sets import DeepSets, PointNet, TNet
from gnomon.models.tokens import mask_tokens, sentence_pair, word_pieces
from gnomon.models.vision import BagOfPatches, VisionTransformer, patchify

__all__ = [
    "BagOfPatches",
    "Coupling",
    "DeepSets",
    "DenseBlock",
    "DenseMemory",
    "GATLayer",
    "GCNLayer",
    "GINLayer",
    "Hopfield",
    "LinearRecurrentUnit",
    "MinGRU",
    "ModernHopfield",
    "NeuralODE",
    "OnGraph",
    "PointNet",
    "ResidualLayer",
    "Reversible",
    "SelfAttention",
    "TNet",
    "VisionTransformer",
    "chebyshev_filter",
    "cnn",
    "gcn_matrix",
    "linear_scan",
    "mask_tokens",
    "mlp",
    "patchify",
    "pwl_network",
    "runge_kutta",
    "sentence_pair",
    "sinusoidal_positions",
    "word_pieces",
]
