"""Which engine runs a plan: the fused one where it applies, the reference otherwise.

It applies to programs that it covers, on the CPU, when no gradient is asked for and numba is installed. Results are
those of the reference, to 1e-10 in float64 and 2e-5 in float32.
"""

import warnings
from functools import cache
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor

from gnomon.kernels.fused import dense, images, pairs
from gnomon.kernels.plan import Plan

Features = tuple[Tensor | None, ...]
DTYPES = {torch.float32: np.float32, torch.float64: np.float64}


def kernels(
    plan: Plan, data: tuple[Features, Features], kinds: tuple[str, ...], dtype: torch.dtype
) -> dict[str, Tensor] | None:
    """The kernels of a plan, or None where the reference must run (or must explain what is not finite).

    ``data`` are the features of both sides, one object twice for a symmetric kernel.
    Cost: see docs/rooms/fused.md.
    """
    x, y = (next((f for f in side if f is not None), None) for side in data)
    if x is None or y is None or dtype not in DTYPES or x.device.type != "cpu" or x.dtype != torch.float64:
        return None
    if torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
        return None
    small = dense.covers(plan)
    staged = None if small else images.lower(plan)
    if (not small and staged is None) or not _compiler():
        return None
    symmetric = data[0] is data[1]
    sides = (x.detach(), x.detach()) if symmetric else (x.detach(), y.detach())
    sides = (sides[0], sides[0]) if symmetric else sides
    chain = dense.lower(plan, sides, dtype) if small else None
    if chain is None and staged is None:
        return None
    out = {kind: torch.from_numpy(np.empty((len(x), len(y)), DTYPES[dtype])) for kind in kinds}  # numpy asks for huge pages
    try:
        if chain is not None:
            bad = dense.run(chain, (out.get("nngp"), out.get("ntk")), symmetric=symmetric)
        else:
            bad = pairs.run(staged, sides, out, symmetric=symmetric)
    except images.Uncovered:
        return None
    return None if bad else out


@cache
def _compiler() -> bool:
    """Whether numba is installed; said once if it is not."""
    if find_spec("numba") is not None:
        return True
    warnings.warn("numba is not installed: kernels are computed by torch, slower by a factor of 10 to 100", stacklevel=2)
    return False
