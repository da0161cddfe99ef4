"""First floor: the loss as a function of the parameters, near where they are.

Lives here: the Hessian as an operator, the sharpness against the step size, its trace, the noise of gradients.
Does not live here: the kernel (`gnomon.tangent`), training (`gnomon.training`).
May import: core, linalg, training; torch.
Everything is measured in eval mode, and the module is left as it was.
"""

from gnomon.landscape.hessian import Hessian, hessian
from gnomon.landscape.noise import NoiseScale, noise_scale
from gnomon.landscape.sharpness import Sharpness, hessian_trace, sharpness

__all__ = ["Hessian", "NoiseScale", "Sharpness", "hessian", "hessian_trace", "noise_scale", "sharpness"]
