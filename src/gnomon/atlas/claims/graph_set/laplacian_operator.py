"""A function's mean over a small sphere exceeds its value at the center in proportion to its Laplacian.

    (mean over |y - x| = h of f - f(x)) 2 d / h^2  ->  Laplacian of f,   with an error of order h^2           (1)

f is a function in d dimensions, h the radius. Reference: [defferrard2016convolutional].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 2, the exponent of the sphere's radius in the error of the estimated Laplacian."""
    return 2.0


def errors(shift, points):
    """Returns errors of the estimated Laplacian of exp(x) sin(2 y), per radius h; ``shift`` moves the circle."""
    h = np.array([0.1, 0.2, 0.4, 0.8])
    angles = 2 * np.pi * np.arange(points) / points
    x, y = 0.3 + h[:, None] * (np.cos(angles) + shift), 0.4 + h[:, None] * np.sin(angles)
    f = np.exp(0.3) * np.sin(0.8)
    mean = (np.exp(x) * np.sin(2 * y)).mean(1)
    return h, np.abs((mean - f) * 4 / h**2 + 3 * f)


observed = partial(errors, shift=0.0)  # Around the point.
control = partial(errors, shift=0.1)  # Control: the circle of averaged points is not centered at the point.

CLAIM = Claim(
    id="laplacian-operator",
    question="What does the Laplacian of a function measure?",
    equation=r"\frac{2d}{h^2}\left(\langle f \rangle_{h} - f(x)\right) = \Delta f + O(h^2)",
    axes=("radius h", "error"),
    source=Source("derived"),
    premises=(Premise("the mean is around the point itself"),),
    parameters={"points": 64},
    judge=rate_is(next_order=2.0, label="h"),
)
