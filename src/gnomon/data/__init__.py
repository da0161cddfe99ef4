"""Data: data sets as pure functions of their size and a seed.

Lives here: real data that come with the dependencies, random points, folders of images, and `fields`: simulated
solutions of known equations.
Does not live here: downloads, other files, loaders, augmentation.
May import: core; torch, numpy, the standard library, scikit-learn inside the functions that read its data.
Each call makes its own generator: torch's global one is neither read nor changed.
"""

from gnomon.data import fields as fields
from gnomon.data.digits import digits
from gnomon.data.folder import Images, image_folder
from gnomon.data.sphere import sphere
from gnomon.data.split import Split

__all__ = ["Images", "Split", "digits", "image_folder", "sphere"]
