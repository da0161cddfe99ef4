"""Estimates how many seconds compilation takes before the first Gaussian expectation of a function.

Piecewise linear functions, as ReLU, have closed forms (wedges); others a series and double integrals (loops).
"""

import torch

from gnomon.expectations.arrays import COMPILE_SECONDS, SECONDS_PER_PAIR, is_numpy_faster
from gnomon.expectations.functions import Elementwise
from gnomon.expectations.line import Sampler
from gnomon.expectations.linear import lines

__all__ = ["compile_seconds"]


def compile_seconds(function: Elementwise, pairs: int | None = None) -> float:
    """Estimates the seconds to compile the loops for a function's Gaussian expectations; 0 if they are compiled
    already.

    Few ``pairs`` need none, because numpy computes their series and integrals (arrays.py).
    Cost: some 50 ms for a new function; numba is imported unless numpy is enough.

    >>> compile_seconds(torch.nn.ReLU()) in (0.0, 1.0, 6.0, 7.0)
    True
    """
    straight = lines(Sampler(function), torch.ones(1, dtype=torch.float64)) is not None
    if is_numpy_faster(COMPILE_SECONDS if pairs is None else pairs * SECONDS_PER_PAIR):
        return 0.0
    from gnomon.core.machine.loops import is_compiled
    from gnomon.expectations.loops import hermite_sums, ridges, smooth_expectations, sums
    from gnomon.expectations.wedges import wedges

    needed = (
        ((wedges, 6.0), (sums, 1.0))
        if straight
        else ((sums, 1.0), (ridges, 2.0), (hermite_sums, 1.0), (smooth_expectations, 1.0))
    )
    return sum((seconds for loop, seconds in needed if not is_compiled(loop)), 0.0)
