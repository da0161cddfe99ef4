"""Points drawn uniformly from a sphere: inputs of equal size, the setting of most theorems on kernels."""

import torch
from torch import Generator

from gnomon.core.errors import InputError, lesson
from gnomon.core.typing import Points


def sphere(n: int, d: int, *, seed: int = 0) -> Points:
    """Draw n points uniformly from the sphere of radius sqrt(d) in d dimensions, float64.

        x = sqrt(d) g / |g|,    g ~ N(0, I_d)                                      (1)

    so that the mean square of the coordinates of each point is 1.

    Hypotheses: n >= 1, d >= 1; for d = 1 the sphere is the two points +1 and -1.
    Reference: [muller1959note].
    Cost: n d normal numbers.

    >>> x = sphere(3, 4, seed=1)
    >>> [round(v, 12) for v in x.square().mean(1).tolist()]
    [1.0, 1.0, 1.0]
    """
    if n < 1 or d < 1:
        cure = "Ask for at least one point in at least one dimension"
        raise InputError(lesson("data.sphere(n, d)", f"n = {n}, d = {d}", "n >= 1 and d >= 1", cure))
    normal = torch.randn(n, d, generator=Generator().manual_seed(seed), dtype=torch.float64)
    return d**0.5 * normal / normal.norm(dim=1, keepdim=True)  # (1)
