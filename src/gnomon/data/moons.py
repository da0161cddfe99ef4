"""Draws 2D points from two interleaved half circles (two moons), a test set for classifiers."""

from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed

__all__ = ["moons"]


@add_call_to_errors
def moons(n: int, *, noise: float = 0.1, seed: int = 0) -> Float[Tensor, "n 2"]:
    """Draws 2D points near two interleaved half circles (two moons), as centered float64 numbers.

        (cos t, sin t) - (1/2, 1/4)    or    (1 - cos t, 1/2 - sin t) - (1/2, 1/4),    t uniform in [0, pi]    (1)

    with Gaussian noise added to both coordinates; each half circle is as likely as the other.

    Hypotheses: none. Reference: [pedregosa2011scikit], whose ``make_moons`` is this, not centered.
    Cost: n random points.

    >>> x = moons(1000, noise=0.0)
    >>> upper = (x + torch.tensor([0.5, 0.25])).norm(dim=1)
    >>> bool(((upper - 1).abs() < 1e-12).double().mean() > 0.4)                   # about half are on the first circle
    True
    """
    n = check_integer("n", n)
    noise = check_number("noise", noise, above=-1e-300)
    generator = torch.Generator().manual_seed(check_seed(seed))
    t = pi * torch.rand(n, generator=generator, dtype=torch.float64)
    first = torch.rand(n, generator=generator, dtype=torch.float64) < 0.5
    circle = torch.stack([t.cos(), t.sin()], 1)
    other = torch.stack([1 - t.cos(), 0.5 - t.sin()], 1)
    points = torch.where(first[:, None], circle, other) - torch.tensor([0.5, 0.25], dtype=torch.float64)  # (1)
    return points + noise * torch.randn(n, 2, generator=generator, dtype=torch.float64)
