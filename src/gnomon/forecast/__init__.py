"""Predicts what gradient descent will do to a network on given data, before training.

Contains: `predict` (also `gnomon.predict`): from a module or kernel and data to a predicted run.
Does not contain: kernels and dynamics themselves (`gnomon.tangent`, `gnomon.kernels`, `gnomon.dynamics`).
May import: adapter, core, dynamics, kernels, tangent, training.
"""

from gnomon.forecast.predict import predict

__all__ = ["predict"]
