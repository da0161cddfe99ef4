"""The playground: an interactive web page that compares what theory predicts for a network with its real training.

Contains: the page ``playground.html`` and its TypeScript sources (``web``), the same random numbers, data and
networks in Python, fixtures that the page is compared with, and the local server for a user's network.
Does not contain: the theory itself; fixtures compare the page with the package.
May import: core, dynamics, forecast, kernels, landscape, program, tangent, training.
"""

from gnomon.playground.data import make_data, with_features
from gnomon.playground.network import DenseNetwork, fixed_batches
from gnomon.playground.page import page_path
from gnomon.playground.random_numbers import normals, permutation, uniforms

__all__ = [
    "DenseNetwork",
    "fixed_batches",
    "make_data",
    "normals",
    "page_path",
    "permutation",
    "uniforms",
    "with_features",
]
