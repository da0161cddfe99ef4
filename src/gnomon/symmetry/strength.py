"""Measures accuracy by the strength of an input transformation, and how far layers are from commuting with operators.

    accuracy(t) = share of examples whose class is right after the motion of strength t                          (1)
    |[W, L]| = largest |W L x - L W x| over |x| = 1,    by power iteration on the commutator and its transpose      (2)

Hypotheses: for (2) a layer and an operator that are linear up to an offset.
Reference: [mallat2016understanding] for (2).

>>> import torch
>>> from torch import nn
>>> same = commutator_norm(nn.Identity(), lambda x: 2 * x, (3,))
>>> same
0.0
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module, check_module_is_callable
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import binomial_interval
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Band, Interval, Line, Plot, Result

__all__ = ["StrengthCurve", "accuracy_by_strength", "commutator_norm"]


@dataclass(frozen=True, slots=True)
class StrengthCurve(Result):
    """Result: the accuracy at each strength of an input transformation, with 95 % intervals."""

    strengths: tuple[float, ...]
    accuracy: tuple[float, ...]
    intervals: tuple[Interval, ...]
    examples: int

    @property
    def verdict(self) -> str:
        """States in one sentence how far the accuracy falls as the transformation gets stronger."""
        worst = min(range(len(self.strengths)), key=lambda i: self.accuracy[i])
        return (
            f"Accuracy falls from {max(self.accuracy):.1%} to {self.accuracy[worst]:.1%} at strength "
            f"{self.strengths[worst]:g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the accuracy over the strength of the input transformation."""
        low, high = [i.low for i in self.intervals], [i.high for i in self.intervals]
        marks = (Line("accuracy", self.strengths, self.accuracy), Band("95 %", self.strengths, low, high))
        return (
            Plot(
                ("Accuracy by strength of the transformation"), marks, Axis("strength"), Axis("accuracy"), self.verdict
            ),
        )


@add_call_to_errors
def accuracy_by_strength(
    module: nn.Module, data: Any, flow: Callable[[Tensor, float], Tensor], strengths: Sequence[float]
) -> StrengthCurve:
    """Measures a classifier's accuracy on inputs transformed by flow(x, t), for some strengths t.

    See equation (1) of the module docstring.
    Hypotheses: integer classes; a flow that keeps the shape of inputs.
    Reference: [azulay2019deep].
    Cost: a forward pass for each strength.

    >>> x, y = torch.eye(2), torch.tensor([0, 1])
    >>> curve = accuracy_by_strength(nn.Identity(), (x, y), lambda x, t: x if t < 1 else x.flip(1), [0.0, 1.0])
    >>> curve.accuracy
    (1.0, 0.0)
    """
    check_module_is_callable(module)
    x, y = data_source(data, module=module).pair()
    if not are_classes(y) or not isinstance(x, Tensor) or not len(strengths):
        found = "no strengths were passed" if not len(strengths) else f"the targets are {y.dtype}"
        raise InputError(found, accepted="classes, one tensor and strengths", fix="Pass integer classes and strengths")
    shares, intervals = [], []
    for t in strengths:
        moved = flow(x, float(t))
        if moved.shape != x.shape:
            found = f"strength {t:g} returns shape {tuple(moved.shape)} for {tuple(x.shape)}"
            raise InputError(found, accepted="a flow that keeps the shape", fix="Pass a flow that keeps the shape")
        right = int((outputs_in_eval_mode(module, moved).argmax(1) == y).sum())
        shares.append(right / len(y))
        intervals.append(binomial_interval(right, len(y)))
    return StrengthCurve(tuple(map(float, strengths)), tuple(shares), tuple(intervals), len(y))


@add_call_to_errors
def commutator_norm(
    layer: nn.Module,
    operator: Callable[[Tensor], Tensor],
    shape: tuple[int, ...],
    *,
    steps: int = 50,
    seed: int = 0,
) -> float:
    """Returns the norm of W L - L W for a linear layer W and an operator L on inputs; 0 if they commute.

    See equation (2) of the module docstring.
    ``shape`` is the shape of one input, without the axis of examples; offsets of the layer do not count.

    Hypotheses: as stated for the module; L acts on outputs as on inputs.
    Reference: [mallat2016understanding].
    Cost: four calls of both for each step.

    >>> layer = nn.Linear(2, 2, bias=False)
    >>> _ = nn.init.eye_(layer.weight)
    >>> layer.weight.data[1, 1] = 3.0
    >>> round(commutator_norm(layer, lambda x: x.flip(1), (2,)), 4)          # diag(1, 3) against a swap
    2.0
    """
    check_module(layer)
    steps = check_integer("steps", steps)
    double = copy_module(layer).double().eval().requires_grad_(False)
    zero = torch.zeros(1, *shape, dtype=torch.float64)
    base, moved_base = double(zero), operator(double(zero))

    def commutator(x: Tensor) -> Tensor:
        return double(operator(x)) - base - (operator(double(x)) - moved_base)

    v = torch.randn(zero.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    size = 0.0
    with torch.enable_grad():
        for _ in range(steps):
            v = (v / v.norm()).detach().requires_grad_()
            made = commutator(v)
            size = float(made.detach().norm())
            if size == 0 or not made.requires_grad:
                return 0.0
            (v,) = torch.autograd.grad(made, v, made.detach())  # C^T C v
            if not bool(v.abs().max() > 0):
                return size
    return size  # (2)
