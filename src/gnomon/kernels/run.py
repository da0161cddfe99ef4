"""Computes the kernels of a module: checks data and memory, then runs compiled loops or torch.

Compiled loops run on the CPU, without gradients, for float64 and float32. Points whose statistics they do not cover
(an activation with a corner at such variances, numbers that overflow) are computed by the reference as well, which
covers everything and explains what is not finite.
"""

from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import BudgetError, InputError, NotFiniteError
from gnomon.core.machine.memory import format_bytes
from gnomon.kernels import fused, propagate, reference
from gnomon.kernels.cost import Needs, needs
from gnomon.kernels.inputs import points, second, takes_tokens
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.prepare import PlanCache, Prepared
from gnomon.kernels.rules.data import DataRule


def compute_kernels(
    plans: PlanCache,
    x1: Any,
    x2: Any,
    kinds: tuple[str, ...],
    dtype: torch.dtype,
    memory: int | None,
    *,
    compiled: bool | None = None,
) -> dict[str, Tensor]:
    """Returns the NNGP and/or NTK matrices between two sets of points; ``x2=None`` is the first set again.

    ``compiled`` chooses compiled loops (True) or torch (False); by default small kernels are computed by torch, because
    loading or compiling loops would take longer.

    >>> from torch import nn
    >>> net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> plans = PlanCache(net, "torch", standard=True)
    >>> compute_kernels(plans, torch.eye(2), None, ("ntk",), torch.float64, None)["ntk"].shape
    torch.Size([2, 2])
    """
    x = points(x1, "x1", tokens=takes_tokens(plans.net))
    y = x if x2 is None else second(x, x2)
    prepared = plans.engine((x, y), dtype, compiled=compiled)
    need = needs(prepared.plan, len(x), len(y), kinds=kinds, word=dtype.itemsize, memory=memory)
    _check_memory(need, (len(x), len(y)), memory)
    with torch.set_grad_enabled(torch.is_grad_enabled() and (x.requires_grad or y.requires_grad)):
        for side in (x,) if x2 is None else (x, y):
            independent_features(prepared.plan, side)
        return _run(prepared, (x, y), kinds, dtype, need.tile)


def independent_features(plan: LimitPlan, x: Tensor) -> list[Tensor]:
    """Returns the data as they enter the first layers; raises an error if preprocessing mixes different examples.

    Cost: one pass over the data.

    >>> from torch import nn
    >>> plans = PlanCache(nn.Linear(2, 1), "torch", standard=True)
    >>> independent_features(plans.plan(torch.eye(2)), torch.eye(2))[0].shape
    torch.Size([2, 2])
    """
    functions = [rule.op.function for rule in plan.rules if isinstance(rule, DataRule)]
    data = [function(x) for function in functions]
    for function, whole in zip(functions, data, strict=True):
        alone = function(x[:1])
        if not torch.allclose(whole[:1], alone, rtol=1e-10, atol=1e-300):
            raise InputError(
                "the preprocessing inside forward gives an input different values in different batches",
                accepted="outputs that do not depend on the rest of the batch",
                fix="Normalize the data before calling, with fixed statistics",
            )
    return data


def _run(
    prepared: Prepared, points: tuple[Tensor, Tensor], kinds: tuple[str, ...], dtype: torch.dtype, tile: int
) -> dict[str, Tensor]:
    """Returns the kernels between two sets of points, by compiled loops or, if they do not support the points, by
    torch.

    All entries of the kernels are finite: compiled loops count the others, and leave it to the reference to explain
    them.
    """
    if prepared.compiled is not None and fused.accepts_points(points, dtype):
        result = prepared.compiled.run(points, kinds, dtype)
        if result is not None:
            return result
    x, y = points
    left = propagate.features(prepared.plan, x)
    data = (left, left if y is x else propagate.features(prepared.plan, y))
    result = reference.run(prepared.plan, data, tile, kinds, dtype)
    _check_finite(result)
    return result


def _check_memory(need: Needs, size: tuple[int, int], memory: int | None) -> None:
    room = need.free if memory is None else min(memory, need.free)
    if need.memory > room:
        raise BudgetError(
            f"the {size[0]} x {size[1]} kernel needs {format_bytes(need.memory)} "
            f"({format_bytes(need.result)} for the result) but only {format_bytes(room)} may be used",
            accepted="a result and one tile that fit in memory",
            fix="Compute fewer rows at a time (x1[:k] against x2), compute only the nngp, or use dtype=torch.float32",
        )


def _check_finite(result: dict[str, Tensor]) -> None:
    for name, k in result.items():
        if not all(bool(torch.isfinite(end)) for end in torch.aminmax(k.detach())):
            raise NotFiniteError(
                f"the {name} is not finite: variances overflow {k.dtype} inside the network",
                accepted="variances that stay bounded from layer to layer",
                fix="Use a smaller weight_std, smaller inputs, or normalization layers",
            )
