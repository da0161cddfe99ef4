"""Data sets that need no download: handwritten digits, random points, Gaussian mixtures, simulated physical fields.

Contains: real data from the dependencies, random points, mixtures with known densities, simulated fields; each a
function of its size and a seed.
Does not contain: downloads and augmentation.
May import: core.
"""

from gnomon.data import fields as fields
from gnomon.data.digits import digits
from gnomon.data.folder import ImageFolder, image_folder
from gnomon.data.mixture import (
    GaussianMixture,
    gaussian_mixture,
    js_divergence,
    optimal_discriminator,
    ring_of_gaussians,
)
from gnomon.data.moons import moons
from gnomon.data.sphere import sphere_points
from gnomon.data.split import TrainTestSplit

__all__ = [
    "GaussianMixture",
    "ImageFolder",
    "TrainTestSplit",
    "digits",
    "image_folder",
    "js_divergence",
    "gaussian_mixture",
    "moons",
    "optimal_discriminator",
    "ring_of_gaussians",
    "sphere_points",
]
