"""Computes kernels layer by layer: first statistics of each point, then the covariances of all pairs of points.

Both passes are one loop over the steps; everything a layer knows is in its rule.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.rules.base import KernelPair, RuleContext, diagonal
from gnomon.kernels.rules.data import DataRule

Statistics = tuple[Tensor | None, ...]
Features = tuple[Tensor | None, ...]


def features(plan: LimitPlan, x: Tensor) -> Features:
    """Returns the data as each input layer of the network receives them; None for other layers."""
    return tuple(rule.features(x) if isinstance(rule, DataRule) else None for rule in plan.rules)


def statistics(plan: LimitPlan, data: Features) -> Statistics:
    """Returns what kernel formulas need about each single point, such as variances before activations."""
    own: list[Tensor | None] = []
    found: list[Tensor | None] = []
    for i, (rule, step) in enumerate(zip(plan.rules, plan.program.steps, strict=True)):
        form = plan.own[i]
        if isinstance(rule, DataRule):
            x = data[i]
            own.append(rule.own(x, form) if x is not None and form is not None else None)
            found.append(None)
            continue
        inputs = [_form(plan, j, own[j], w, plan.own[j], 1) for j, w in zip(step.inputs, rule.watches(), strict=True)]
        measured = _join_statistics(rule.measure(tuple(inputs)), rule.features(tuple(data[j] for j in step.inputs)))
        found.append(measured)
        if form is None:
            own.append(None)
            continue
        wanted = rule.wants(form)
        parts = [_form(plan, j, own[j], w, plan.own[j], 1) for j, w in zip(step.inputs, wanted, strict=True)]
        context = RuleContext(1, form, False, measured, measured, None)
        own.append(rule.apply(tuple(KernelPair(p) for p in parts if p is not None), context).nngp)
    return tuple(found)


def pairs(
    plan: LimitPlan,
    data: tuple[Features, Features],
    stats: tuple[Statistics, Statistics],
    *,
    tangent: bool,
    same: Tensor,
    after: Callable[[], None],
) -> KernelPair:
    """Returns output covariances (and tangent kernels) of all pairs of two sets of points; calls ``after()`` after each
    layer.
    """
    last = None
    for made in walk(plan, data, stats, tangent=tangent, same=same):
        last = made
        after()
    return _output(plan, last, tangent=tangent)


def walk(
    plan: LimitPlan,
    data: tuple[Features, Features],
    stats: tuple[Statistics, Statistics],
    *,
    tangent: bool,
    same: Tensor,
) -> Iterator[KernelPair]:
    """Yields the covariances and tangent kernels of all pairs of points after every layer of the network."""
    held: list[KernelPair | None] = []
    for i, (rule, step) in enumerate(zip(plan.rules, plan.program.steps, strict=True)):
        if isinstance(rule, DataRule):
            x, y = data[0][i], data[1][i]
            assert x is not None and y is not None  # Features are computed for every input of this step.
            made = KernelPair(rule.cross(x, y, plan.full[i]))
            held.append(made)
            yield made
            continue
        context = RuleContext(2, plan.full[i], tangent, stats[0][i], stats[1][i], same)
        inputs = []
        for j, want in zip(step.inputs, rule.wants(plan.full[i]), strict=True):
            source = held[j]
            assert source is not None  # A result is deleted only after its last use, so it is still here.
            nngp = _form(plan, j, source.nngp, want, plan.full[j], 2)
            ntk = _form(plan, j, source.ntk, want, plan.full[j], 2)
            assert nngp is not None
            inputs.append(KernelPair(nngp, ntk))
        made = rule.apply(tuple(inputs), context)
        held.append(made)
        for j in step.inputs:
            if plan.last_use[j] == i:
                held[j] = None
        yield made


def _join_statistics(measured: Tensor | None, data: Tensor | None) -> Tensor | None:
    """Joins two tables of statistics per point, one measured and one from the data, column by column; either may be
    None.
    """
    if measured is None or data is None:
        return data if measured is None else measured
    return torch.cat([measured, data.to(measured)], 1)


def _form(
    plan: LimitPlan, j: int, array: Tensor | None, want: bool | None, have: bool | None, batch: int
) -> Tensor | None:
    """Returns covariances after layer j for all pairs of positions, or only for equal positions, as the next layer
    needs.
    """
    if array is None or want is None:
        return None
    return diagonal(array, batch, len(plan.program.steps[j].grid)) if have and not want else array


def _output(plan: LimitPlan, last: KernelPair | None, *, tangent: bool) -> KernelPair:
    """Averages kernels over the positions of the output, if the network returns one output per position."""
    assert last is not None
    rank = len(plan.program.steps[-1].grid)
    dims = tuple(range(2, 2 + rank))
    nngp = last.nngp.mean(dims) if rank else last.nngp
    if not tangent:
        return KernelPair(nngp)
    if last.ntk is None:
        return KernelPair(nngp, torch.zeros_like(nngp))
    return KernelPair(nngp, last.ntk.mean(dims) if rank else last.ntk)
