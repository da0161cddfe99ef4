"""Which engine runs a plan: the fused one where it applies, the reference otherwise.

It applies to programs that it covers, on the CPU, when no gradient is asked for and numba is installed. Results are
those of the reference, to 1e-10 in float64 and 2e-5 in float32.
"""

import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor

from gnomon.kernels.fused import dense, images, pairs, stages
from gnomon.kernels.plan import Plan

DTYPES = {torch.float32: np.float32, torch.float64: np.float64}


def kernels(
    plan: Plan, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype
) -> dict[str, Tensor] | None:
    """The kernels of a plan, or None where the reference must run (or must explain what is not finite).

    ``points`` are both sides, one object twice for a symmetric kernel. Equations: those of the rules.
    Hypotheses: float64 points, as ``limit`` prepares them.
    Reference: [jacot2018neural], [novak2019bayesian].
    Cost: about that of one dual evaluation per entry and layer.

    >>> from torch import nn
    >>> from gnomon.program.laws import Law
    >>> from gnomon.kernels.plan import plan
    >>> from gnomon.program.read import read
    >>> net, x = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1)), torch.eye(2, dtype=torch.float64)
    >>> made = plan(read(net, x), net, Law(2**0.5), standard=False)
    >>> kernels(made, (x, x), ("nngp",), torch.float64)["nngp"]  # the arc-cosine kernel: 1 and 1 / pi
    tensor([[1.0000, 0.3183],
            [0.3183, 1.0000]], dtype=torch.float64)
    """
    x, y = points
    if (
        dtype not in DTYPES
        or x.device.type != "cpu"
        or (torch.is_grad_enabled() and (x.requires_grad or y.requires_grad))
    ):
        return None
    chained = dense.covers(plan)
    staged = None if chained else images.lower(plan)
    if (not chained and staged is None) or not _compiler():
        return None
    with torch.no_grad():
        # numpy asks the system for huge pages, torch does not
        out = {kind: torch.from_numpy(np.empty((len(x), len(y)), DTYPES[dtype])) for kind in kinds}
        bad = _chain(plan, points, out) if staged is None else _images(staged, points, out)
    return None if bad else out


def workspace(plan: Plan, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:
    """Bytes beside the result, for so many points like those of a sample; None where the reference runs.

    Cost: that of a few points.

    >>> from torch import nn
    >>> from gnomon.kernels.plan import plan
    >>> from gnomon.program.read import read
    >>> net, x = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1)), torch.eye(2, dtype=torch.float64)
    >>> workspace(plan(read(net, x), net, "torch", standard=True), x, 1000, torch.float64) < 2**23
    True
    """
    if kernels(plan, (sample, sample), ("ntk",), dtype) is None:
        return None
    threads, rule = torch.get_num_threads(), stages.data_rule(plan)
    with torch.no_grad():
        if dense.covers(plan):
            data = rule.features(sample)
            made = dense.lower(plan, (data, data), dtype)
            return None if made is None else dense.workspace(made, count, threads)
        staged = images.lower(plan)
        found = None if staged is None else rule.op.function(sample).movedim(rule.op.channel, 1)
        return None if staged is None or found is None else pairs.workspace(staged, found, count, threads)


def _chain(plan: Plan, points: tuple[Tensor, Tensor], out: dict[str, Tensor]) -> bool:
    """Run a dense program; True if the reference must take over."""
    sides = _both(points, stages.data_rule(plan).features)
    made = dense.lower(plan, sides, next(iter(out.values())).dtype)
    if made is None:
        return True
    return dense.run(made, (out.get("nngp"), out.get("ntk")), symmetric=sides[0] is sides[1]) > 0


def _images(staged: images.Programme, points: tuple[Tensor, Tensor], out: dict[str, Tensor]) -> bool:
    """Run a convolutional program; True if the reference must take over."""
    op = stages.data_rule(staged.plan).op
    sides = _both(points, lambda x: op.function(x).movedim(op.channel, 1))
    try:
        return pairs.run(staged, sides, out, symmetric=sides[0] is sides[1]) > 0
    except images.Uncovered:
        return True


def _both(points: tuple[Tensor, Tensor], function: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    first = function(points[0])
    return first, first if points[1] is points[0] else function(points[1])


@cache
def _compiler() -> bool:
    """Whether numba is installed; said once if it is not."""
    if find_spec("numba") is not None:
        return True
    warnings.warn("numba is not installed: kernels are computed by torch, 10 to 100 times slower", stacklevel=2)
    return False
