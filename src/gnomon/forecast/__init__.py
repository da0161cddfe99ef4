"""Forecast: training predicted from a network and its data.

Lives here: `predict` (also `gnomon.predict`), from a module or a kernel, and data, to a predicted run.
Does not live here: kernels (`gnomon.tangent`, `gnomon.kernels`), the dynamics they drive (`gnomon.dynamics`), training.
May import: core, the ground floor, kernels, tangent, dynamics; torch.
"""

from gnomon.forecast.predict import predict

__all__ = ["predict"]
