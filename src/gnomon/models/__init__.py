"""Provides architectures that theory covers and torch.nn does not have, as plain torch modules with their equations.

Contains: plain torch modules, each with its equation: perceptrons, convolutions, attention, recurrences, graphs,
residual blocks, neural ODEs.
Does not contain: kernels, training, measurements.
May import: core.
"""

from gnomon.models.attention import SelfAttention
from gnomon.models.blocks import AdditiveCouplingBlock, DenseBlock, ResidualLayer, ReversibleNetwork
from gnomon.models.graphs import GATLayer, GCNLayer, GINLayer, gcn_matrix
from gnomon.models.hopfield import HopfieldNetwork, ModernHopfield
from gnomon.models.networks import cnn, mlp
from gnomon.models.ode import NeuralODE
from gnomon.models.on_graph import ModuleOnGraph
from gnomon.models.piecewise import pwl_network
from gnomon.models.positions import sinusoidal_positions
from gnomon.models.recurrent import LinearRecurrentUnit, MinGRU
from gnomon.models.sets import DeepSets, PointNet
from gnomon.models.vision import VisionTransformer, patchify

__all__ = [
    "AdditiveCouplingBlock",
    "DeepSets",
    "DenseBlock",
    "GATLayer",
    "GCNLayer",
    "GINLayer",
    "HopfieldNetwork",
    "LinearRecurrentUnit",
    "MinGRU",
    "ModernHopfield",
    "NeuralODE",
    "ModuleOnGraph",
    "PointNet",
    "ResidualLayer",
    "ReversibleNetwork",
    "SelfAttention",
    "VisionTransformer",
    "cnn",
    "gcn_matrix",
    "mlp",
    "patchify",
    "pwl_network",
    "sinusoidal_positions",
]
