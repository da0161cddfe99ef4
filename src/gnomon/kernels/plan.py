"""Plans the computation of an infinite-width kernel: the formula of each layer, and which covariances it needs.

Covariances between different positions are kept only if a later step sums over them (pooling, attention); all
else needs equal positions only. Variances of each point are needed only below nonlinearities.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

from torch import nn

from gnomon.kernels.duals import Quadrature
from gnomon.kernels.duals.base import AbstractDual
from gnomon.kernels.match import dual_of
from gnomon.kernels.rules.activation import ActivationRule, LineRule
from gnomon.kernels.rules.affine import AffineConstants, ConvRule, DenseRule
from gnomon.kernels.rules.base import AbstractRule
from gnomon.kernels.rules.branches import StackRule, WeightedRule
from gnomon.kernels.rules.data import DataRule
from gnomon.kernels.rules.heads import HeadsRule
from gnomon.kernels.rules.normalization import DropoutRule, NormalizeRule
from gnomon.kernels.rules.positions import AttendRule, BlendRule, MixRule, MoveRule
from gnomon.kernels.rules.recurrence import RecurRule
from gnomon.kernels.rules.taps import TapsRule
from gnomon.program.expression import Expression
from gnomon.program.laws import Init, InitializationLaw, initialization_laws_by_path
from gnomon.program.linear import slope_and_intercept
from gnomon.program.steps import (
    Activation,
    Concat,
    Conv,
    DataPositionMap,
    Dense,
    DeterministicAttention,
    Dropout,
    FixedPositionMap,
    Input,
    MultiheadAttention,
    Normalize,
    Program,
    ProgramStep,
    Recurrence,
    Reorder,
    SharedWeightMap,
    StackBranches,
    Sum,
)  # fmt: skip

CLOSED_TEMPORARIES = 6
"""Number of arrays that a closed-form dual holds at its peak."""
NUMERIC_TEMPORARIES = 1
"""Number of arrays that a numeric dual holds at its peak."""
LINEAR_TEMPORARIES = 2


@dataclass(frozen=True, slots=True)
class LimitPlan:
    """A network's layers with a kernel formula for each; ``full[i]`` and ``own[i]`` say which covariances layer i
    needs.
    """

    program: Program
    rules: tuple[AbstractRule | DataRule, ...]
    full: tuple[bool, ...]
    own: tuple[bool | None, ...]
    last_use: tuple[int, ...]

    @property
    def data_rule(self) -> DataRule:
        """The formula of the input layer, for networks with a single input."""
        rule = self.rules[0]
        assert isinstance(rule, DataRule)  # Callers use this property only for programs whose first step is the data.
        return rule

    def pair_entries(self, *, tangent: bool) -> int:
        """Returns how many numbers a kernel computation stores for one pair of points at its memory peak."""
        return self._peak(2 if tangent else 1)

    def activation_entries(self, *, numeric: bool = False) -> int:
        """Returns the number of covariances that the activations of the network transform for one pair of points.

        ``numeric`` counts only activations without a closed form.
        """
        return sum(
            self._size(i, self.full[i])
            for i, rule in enumerate(self.rules)
            if isinstance(rule, ActivationRule) and (isinstance(rule.dual, Quadrature) or not numeric)
        )

    def point_entries(self) -> int:
        """Returns how many numbers a kernel computation stores for one point at its memory peak."""
        sizes = [0 if f is None else self._size(i, f) for i, f in enumerate(self.own)]
        return sum(sizes) + CLOSED_TEMPORARIES * max(sizes, default=0) + 1

    def _size(self, i: int, full: bool) -> int:
        return prod(self.program.steps[i].grid) ** (2 if full else 1)

    def _peak(self, arrays: int) -> int:
        peak = 0
        for i, step in enumerate(self.program.steps):
            live = sum(self._size(j, self.full[j]) for j in range(i + 1) if self.last_use[j] >= i)
            extra = _temporaries(self.rules[i])
            here = max([self._size(i, self.full[i]), *(self._size(j, self.full[j]) for j in step.inputs)])
            peak = max(peak, arrays * live + extra * here)
        return peak


def _temporaries(rule: AbstractRule | DataRule) -> int:
    if not isinstance(rule, ActivationRule):
        return LINEAR_TEMPORARIES
    return NUMERIC_TEMPORARIES if isinstance(rule.dual, Quadrature) else CLOSED_TEMPORARIES


def plan(
    program: Program, module: nn.Module, init: Init, *, standard: bool, duals: dict[Any, AbstractDual] | None = None
) -> LimitPlan:
    """Chooses a kernel formula for each layer of a network, given the distribution of its initial weights.

    ``duals`` caches the duals of earlier expressions; new ones are added.
    """
    chosen, duals = initialization_laws_by_path(program, module, init), {} if duals is None else duals
    rules = tuple(_rule(program, step, chosen, standard, duals) for step in program.steps)
    full, own, last = _forms(program, rules)
    return LimitPlan(program, rules, full, own, last)


def _forms(
    program: Program, rules: tuple[AbstractRule | DataRule, ...]
) -> tuple[tuple[bool, ...], tuple[bool | None, ...], tuple[int, ...]]:
    """Finds which layers need covariances between all pairs of positions (pixels, tokens), and which only between equal
    ones.
    """
    count = len(program.steps)
    full, own, last = [False] * count, [None] * count, [count] * count
    forms: list[bool | None] = list(own)
    for i in range(count - 1, -1, -1):
        rule, inputs = rules[i], program.steps[i].inputs
        if isinstance(rule, DataRule):
            continue
        wants, watches = rule.wants(full[i]), rule.watches()
        carried = rule.wants(bool(forms[i])) if forms[i] is not None else (None,) * len(inputs)
        for j, want, watch, carry in zip(inputs, wants, watches, carried, strict=True):
            full[j] = full[j] or want
            last[j] = i if last[j] == count else last[j]
            needs = [f for f in (forms[j], watch, carry) if f is not None]
            forms[j] = any(needs) if needs else None
    return tuple(full), tuple(forms), tuple(last)


def _rule(
    program: Program,
    step: ProgramStep,
    chosen: dict[str, InitializationLaw],
    standard: bool,
    duals: dict[Any, AbstractDual],
) -> AbstractRule | DataRule:
    rank = len(program.steps[step.inputs[0]].grid) if step.inputs else 0
    match step.op:
        case Input():
            return DataRule(step.op)
        case Dense():
            return DenseRule(
                step.op, AffineConstants.of(step.op.weights, chosen[step.op.weights.path], standard=standard), rank
            )
        case Conv():
            return ConvRule(
                step.op, AffineConstants.of(step.op.weights, chosen[step.op.weights.path], standard=standard)
            )
        case SharedWeightMap():
            terms = AffineConstants.of(step.op.weights, chosen[step.op.weights.path], standard=standard)
            return TapsRule(step.op, terms, step.grid)
        case Activation():
            straight = slope_and_intercept(step.op.expression)
            if straight is not None:
                return LineRule(straight, step.op.trainable, rank)
            return ActivationRule(_dual(step.op.expression, duals), step.op.trainable, rank)
        case FixedPositionMap():
            return MixRule(step.op)
        case Reorder():
            return MoveRule(step.op, rank)
        case Sum():
            return WeightedRule(tuple(c * c for c in step.op.coefficients))
        case Concat():
            return WeightedRule(step.op.shares)
        case StackBranches():
            return StackRule(step.op.axis, len(step.inputs), rank)
        case Normalize():
            return NormalizeRule(step.op, rank)
        case Dropout():
            return DropoutRule(step.op.keep, rank)
        case DeterministicAttention():
            return AttendRule(chosen[step.op.weights.path].weight_std ** 2)
        case MultiheadAttention():
            return HeadsRule(step.op.mask, padded=len(step.inputs) == 4)
        case DataPositionMap():
            return BlendRule()
        case Recurrence():
            terms = AffineConstants.of(step.op.weights, chosen[step.op.weights.path], standard=standard)
            return RecurRule(_dual(step.op.expression, duals), terms)


def _dual(tree: Expression, duals: dict[Any, AbstractDual]) -> AbstractDual:
    """Returns the Gaussian expectations of an activation; layers with the same activation share one object."""
    try:
        if tree not in duals:
            duals[tree] = dual_of(tree)
        return duals[tree]
    except TypeError:  # An expression that contains unhashable values cannot be cached.
        return dual_of(tree)
