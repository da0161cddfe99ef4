"""Landing: where kernels of networks and predictions from kernels meet.

Lives here: `predict` (also `gnomon.predict`), from a module or a kernel, and data, to a run that has not happened.
Does not live here: kernels (`gnomon.tangent`, `gnomon.kernels`), the dynamics they drive (`gnomon.dynamics`), training.
May import: core, the ground floor, kernels, tangent, dynamics; torch.
"""

from gnomon.forecast.predict import predict

__all__ = ["predict"]
