"""First floor: the loss as a function of the parameters, near where a model stands.

Lives here: Hessian, Gauss-Newton and Fisher matrices as operators (eigenvalues, trace, diagonal, density, inverse),
sharpness against 2 / lr, the edge of stability, the noise of gradients, the loss between two models.
Does not live here: curvature in the outputs, the kernel (`gnomon.tangent`), and what theory says of both.
May import: core, linalg, training; torch; scipy and matplotlib inside the functions that need them.
Models are read in eval mode and left as they were found.
"""

from gnomon.landscape.between import LossBetween, average, loss_between
from gnomon.landscape.edge import Edge, edge
from gnomon.landscape.gauss_newton import GaussNewtonOperator, empirical_fisher, fisher, gauss_newton
from gnomon.landscape.hessian import HessianOperator, hessian
from gnomon.landscape.noise import GradientNoise, gradient_noise
from gnomon.landscape.sharpness import Sharpness, sharpness

__all__ = [
    "Edge",
    "GaussNewtonOperator",
    "GradientNoise",
    "HessianOperator",
    "LossBetween",
    "Sharpness",
    "average",
    "edge",
    "empirical_fisher",
    "fisher",
    "gauss_newton",
    "gradient_noise",
    "hessian",
    "loss_between",
    "sharpness",
]
