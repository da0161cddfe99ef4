"""Loads 1797 handwritten digits of 8 x 8 pixels: real images that need no download.

The images of a class are shuffled by the seed, then all images are put in one order by

    key = (place within the class + 1/2) / size of the class                       (1)

so that each part of the order holds the classes in proportion. The training part is its beginning, the test part
its end: for one seed a smaller training part is contained in a larger one, and the test part does not depend on
``n_train``.
"""

import torch
from torch import Generator, Tensor

from gnomon.core.errors import add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.data.split import TrainTestSplit

__all__ = ["digits"]

IMAGE_COUNT = 1797
"""Number of images in scikit-learn's digits."""
CLASS_COUNT = 10
"""Number of classes."""
MAX_PIXEL_VALUE = 16.0
"""Largest pixel value in scikit-learn's copy."""


@add_call_to_errors
def digits(n_train: int = 1000, n_test: int = 797, *, seed: int = 0) -> TrainTestSplit:
    """Loads scikit-learn's handwritten digits as images (n, 1, 8, 8) with pixels in [0, 1], split evenly by class and
    shuffled.

    Each class has its proportional share within 1.02 images in the training part and in the test part, by the order
    (1). Pixels are divided by 16 and not standardized.

    Hypotheses: n_train >= 1, n_test >= 0 and n_train + n_test <= 1797.
    Reference: [alpaydin1998optical]; the test part of that collection.
    Cost: reads a file of 57 kB inside scikit-learn; 0.05 s, and 1.5 s more for the first import of scikit-learn.

    >>> split = digits(100, 50)
    >>> split
    TrainTestSplit('digits': 100 to train, 50 to test, inputs (1, 8, 8), 10 classes)
    >>> split.y.bincount(minlength=10).tolist()
    [10, 10, 10, 10, 10, 10, 10, 10, 10, 10]
    """
    n_train, n_test = (check_integer(n, v, least=-IMAGE_COUNT) for n, v in (("n_train", n_train), ("n_test", n_test)))
    seed = check_seed(seed)
    _check(n_train, n_test)
    # Imported here, because scikit-learn takes a second to import and `import gnomon` must stay fast.
    from sklearn.datasets import load_digits

    pixels, labels = (torch.from_numpy(array) for array in load_digits(return_X_y=True))
    # Pixel values are multiples of 1/16, which every float dtype represents exactly.
    images = pixels.to(torch.float32).reshape(-1, 1, 8, 8) / MAX_PIXEL_VALUE
    labels = labels.to(torch.int64)
    generator = Generator().manual_seed(seed)
    order = _stratify(labels, generator)
    # Both parts come from one shuffle, so that neither the training nor the test set depends on the other's size.
    place = torch.randperm(IMAGE_COUNT, generator=generator)
    train, test = (part[place[part].argsort()] for part in (order[:n_train], order[IMAGE_COUNT - n_test :]))
    return TrainTestSplit("digits", CLASS_COUNT, images[train], labels[train], images[test], labels[test])


def _stratify(labels: Tensor, generator: Generator) -> Tensor:
    """Orders all examples so that the first n of them contain the classes in about the same proportion, for every n."""
    shuffled = torch.randperm(len(labels), generator=generator)
    members = [shuffled[labels[shuffled] == c] for c in range(CLASS_COUNT)]
    keys = torch.cat([(torch.arange(len(m), dtype=torch.float64) + 0.5) / len(m) for m in members])  # (1)
    return torch.cat(members)[keys.argsort(stable=True)]


def _check(n_train: int, n_test: int) -> None:
    for name, value, least, most in (
        ("n_train", n_train, 1, IMAGE_COUNT),
        ("n_test", n_test, 0, IMAGE_COUNT - n_train),
    ):
        if not least <= value <= most:
            accepted = f"a whole number from {least} to {most} (the data set has {IMAGE_COUNT} images)"
            raise out_of_range_error(name, accepted, value)
