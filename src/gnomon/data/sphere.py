"""Draws random points from a sphere: inputs of equal norm, which most theorems on kernels assume."""

import torch
from torch import Generator

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.typing import Points

__all__ = ["sphere_points"]


@add_call_to_errors
def sphere_points(n: int, d: int, *, seed: int = 0) -> Points:
    """Draws n points uniformly from the sphere of radius sqrt(d) in d dimensions, as a float64 tensor.

        x = sqrt(d) g / |g|,    g ~ N(0, I_d)                                      (1)

    so that the mean square of the coordinates of each point is 1.

    Hypotheses: n >= 1, d >= 1; for d = 1 the sphere is the two points +1 and -1.
    Reference: [muller1959note].
    Cost: n d normal numbers.

    >>> x = sphere_points(3, 4, seed=1)
    >>> [round(v, 12) for v in x.square().mean(1).tolist()]
    [1.0, 1.0, 1.0]
    """
    n, d = (check_integer(name, size) for name, size in (("n", n), ("d", d)))
    generator = Generator().manual_seed(check_seed(seed))
    normal = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return d**0.5 * normal / normal.norm(dim=1, keepdim=True)  # (1)
