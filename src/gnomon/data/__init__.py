"""Data: data sets as pure functions of their size and a seed.

Lives here: real data that come with the dependencies, random points, folders of images, mixtures of Gaussians with
all that is known of them in closed form (`mixture`), and `fields`: simulated solutions of known equations.
Does not live here: downloads, other files, loaders, augmentation.
May import: core; torch, numpy, the standard library, scikit-learn inside the functions that read its data.
Each call makes its own generator: torch's global one is neither read nor changed.
"""

from gnomon.data import fields as fields
from gnomon.data.digits import digits
from gnomon.data.folder import Images, image_folder
from gnomon.data.mixture import GaussianMixture, js_divergence, mixture, optimal_discriminator, ring
from gnomon.data.moons import moons
from gnomon.data.sphere import sphere
from gnomon.data.split import Split

__all__ = [
    "GaussianMixture",
    "Images",
    "Split",
    "digits",
    "image_folder",
    "js_divergence",
    "mixture",
    "moons",
    "optimal_discriminator",
    "ring",
    "sphere",
]
