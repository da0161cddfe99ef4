"""First floor: a network as a function of its inputs.

Lives here: the propagation of signals and gradients through the layers of any module.
Does not live here: what theory says of them for infinite width (`gnomon.kernels.layers`); both meet in an examination.
May import: core; torch.
"""

from gnomon.geometry.signal import Layer, Signal, signal

__all__ = ["Layer", "Signal", "signal"]
