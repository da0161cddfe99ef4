"""Lipschitz constants: exact for layers, upper and lower bounds for networks."""

from gnomon.robustness.lipschitz.network import LipschitzBounds, lipschitz_bounds
from gnomon.robustness.lipschitz.operators import operator_norm

__all__ = ["LipschitzBounds", "lipschitz_bounds", "operator_norm"]
