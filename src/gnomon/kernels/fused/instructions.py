"""Converts a network to a list of instructions for compiled kernel loops and a table of statistics per point.

Whatever a rule says about two points is written here in the variables of formulas.py; the statistics of single points
come from the rules themselves, in float64. A step that has no instruction makes the whole plan uncovered: the
reference then runs.
"""

from dataclasses import dataclass
from math import pi

import torch
from torch import Tensor

from gnomon.kernels.duals import Erf, LeakyReLU, Quadrature, ReLU, ScaledDual, Sign
from gnomon.kernels.duals.base import AbstractDual
from gnomon.kernels.fused import series
from gnomon.kernels.fused.opcodes import AFFINE, ERF, KINK, SERIES, SIGN, TRAINED
from gnomon.kernels.match import Function
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.rules.activation import ActivationRule, LineRule
from gnomon.kernels.rules.base import KernelPair, RuleContext
from gnomon.kernels.rules.data import DataRule
from gnomon.program.steps import Activation, TrainableActivationParameter


@dataclass(frozen=True, slots=True)
class Instruction:
    """One operation of compiled kernel loops, with ``statistics`` for each point and ``numbers`` for the whole
    operation.
    """

    op: int
    target: int
    source: int
    statistics: tuple[Tensor, ...] = ()
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class PointMoments:
    """Mean squares of every layer's output for each data point, and other statistics of points that layers need."""

    own: tuple[Tensor, ...]
    measured: tuple[Tensor | None, ...]


def moments(plan: LimitPlan, x: Tensor) -> PointMoments:
    """Returns the mean squares of every layer's output for each data point x, as the infinite-width limit predicts."""
    own: list[Tensor] = []
    measured: list[Tensor | None] = []
    for rule, step in zip(plan.rules, plan.program.steps, strict=True):
        if isinstance(rule, DataRule):
            own.append(rule.own(x, False))
            measured.append(None)
            continue
        selves = tuple(own[j] for j in step.inputs)
        found = rule.measure(tuple(None if w is None else s for s, w in zip(selves, rule.watches(), strict=True)))
        measured.append(found)
        own.append(
            rule.apply(tuple(KernelPair(s) for s in selves), RuleContext(1, False, False, found, found, None)).nngp
        )
    return PointMoments(tuple(own), tuple(measured))


def activation(
    plan: LimitPlan, i: int, before: Tensor, after: Tensor, terms: int | None
) -> tuple[int, tuple[Tensor, ...], tuple[float, ...]] | None:
    """Returns the instruction of an activation (operation, statistics, numbers) for compiled loops; None if there is
    none.

    ``terms`` is the length of a series, if a series is used; None takes as many as needed.
    """
    rule, op = plan.rules[i], plan.program.steps[i].op
    assert isinstance(rule, ActivationRule | LineRule) and isinstance(op, Activation)
    if isinstance(rule, LineRule):
        return _line(rule, before)
    dual, outer, inner = _scales(rule.dual)
    if isinstance(dual, ReLU | LeakyReLU):
        return _kink(rule, dual, (outer * inner) ** 2, before, after)
    if any(t.kind != "bias" for t in rule.trainable):
        return None
    bias = sum(1 / t.scale**2 for t in rule.trainable)
    own = dual.variance(inner**2 * before) / 2
    if isinstance(dual, Erf):
        s = (1 + 2 * inner**2 * before).sqrt()
        return ERF, (s, 1 / s, own), (outer**2, inner**2, outer**2 * inner**2 * 4 / pi, bias)
    if isinstance(dual, Sign):
        s = before.sqrt() * abs(inner)
        return SIGN, (s, _reciprocal(s), own), (outer**2, inner**2, 0.0, 0.0)
    if isinstance(dual, Quadrature) and bool((before > 0).all()) and dual.corners(inner**2 * before):
        return None
    h = series.coefficients(Function(op.expression), rule.dual, before, terms)
    if h is None:
        return None
    return SERIES, (_reciprocal(before.sqrt()), before / 2, after / 2, *h), (float(len(h)), bias)


def is_piecewise_linear(rule: object) -> bool:
    """Whether a layer is linear or a piecewise linear activation, so that float32 arithmetic keeps float32 accuracy."""
    if not isinstance(rule, ActivationRule):
        return True
    return isinstance(_scales(rule.dual)[0], ReLU | LeakyReLU)


def _scales(dual: AbstractDual) -> tuple[AbstractDual, float, float]:
    """Splits an activation outer * g(inner * x) + shift into (g, outer, inner); the shift does not change distances."""
    return (dual.inner, dual.outer_scale, dual.inner_scale) if isinstance(dual, ScaledDual) else (dual, 1.0, 1.0)


def _line(rule: LineRule, before: Tensor) -> tuple[int, tuple[Tensor, ...], tuple[float, ...]]:
    slope, _ = rule.line
    gain = bias = 0.0
    for t in rule.trainable:
        ratio = (slope / t.scale if t.scale else 1.0) ** 2
        gain, bias = (gain + ratio, bias) if t.kind == "gain" else (gain, bias + ratio)
    return AFFINE, ((gain * before + bias) / 2,), (slope**2, gain)


def _kink(
    rule: ActivationRule, dual: ReLU | LeakyReLU, scale: float, before: Tensor, after: Tensor
) -> tuple[int, tuple[Tensor, ...], tuple[float, ...]] | None:
    slope = dual.slope if isinstance(dual, LeakyReLU) else 0.0
    if slope and bool((before == 0).any()):
        return None  # At variance zero, derivatives follow another convention, which the compiled loops do not know.
    s = before.sqrt()
    numbers = (scale * slope, scale * (1 - slope) ** 2)
    shift = rule.dual.shift if isinstance(rule.dual, ScaledDual) else 0.0
    if not rule.trainable:
        # Distances between points do not depend on the shift, but joining.py needs the shift.
        return KINK, (s, _reciprocal(s)), (*numbers, shift)
    if shift:
        return None
    bias, gain, prelu = (_sum(rule.trainable, kind) for kind in ("bias", "gain", "slope"))
    return TRAINED, (s, _reciprocal(s), after / 2), (*numbers, bias, gain, prelu)


def _sum(trainable: tuple[TrainableActivationParameter, ...], kind: str) -> float:
    return sum(1.0 if kind == "slope" else 1 / t.scale**2 for t in trainable if t.kind == kind)


def _reciprocal(s: Tensor) -> Tensor:
    return torch.where(s > 0, 1 / s, torch.zeros_like(s))
