"""Compares autograd gradients with finite differences of the loss along random directions.

    error = |g.v - (L(w + h v) - L(w - h v)) / 2h| / max(|g.v|, |difference|)                                     (1)

A custom backward with a mistake, an in-place write or a detached part shows here. The difference errs by h^2 and by
rounding / h, so that float64 is used; a kink of relu between the two ends shows as an error of single directions.
Hypotheses: a differentiable loss; a deterministic network.
Reference: [rumelhart1986learning]; [higham2002accuracy] for the step.

>>> import torch
>>> gradient_check(nn.Linear(2, 1), (torch.randn(4, 2), torch.randn(4))).worst < 1e-6
True
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import map_tensors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_seed
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Finding, Plot, Result, Value
from gnomon.findings import network as kinds
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import loss_gradient, trainable_parameters

__all__ = ["GradientCheck", "gradient_check"]

RELATIVE_STEP = 1e-6
"""Step relative to the norm of the parameters, near eps^(1/3) of float64."""
MAX_GRADIENT_ERROR = 1e-3
"""Relative error above which a gradient is wrong: a thousand times the error of rounding and of the step."""


@dataclass(frozen=True, slots=True)
class GradientCheck(Result):
    """Result: the relative error of autograd compared with finite differences, for each parameter and for all
    together.
    """

    errors: dict[str, float]
    examples: int

    @property
    def worst(self) -> float:
        """Returns the largest relative error of a gradient."""
        return max(self.errors.values())

    @property
    def verdict(self) -> str:
        """Says in one sentence whether the autograd gradients are correct."""
        name = max(self.errors, key=self.errors.__getitem__)
        if self.worst < MAX_GRADIENT_ERROR:
            return f"Gradients agree with finite differences of the loss up to a relative error of {self.worst:.1g}."
        return f"The gradient of '{name}' differs from the slope of the loss by {self.worst:.1%}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports the parameter with the most wrong gradient, if gradients are wrong."""
        if self.worst < MAX_GRADIENT_ERROR:
            return ()
        name = max(self.errors, key=self.errors.__getitem__)
        return (Finding(kinds.WRONG_GRADIENT, name, {"error": self.worst}, (Value("relative error", self.worst),)),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the relative error of each parameter's autograd gradient."""
        bars = Bars("error", tuple(self.errors), tuple(self.errors.values()))
        return (Plot("Gradients and differences", (bars,), Axis("relative error"), caption=self.verdict),)


@add_call_to_errors
def gradient_check(
    module: nn.Module, data: Any, *, examples: int = 32, loss: Loss | None = None, seed: int = 0
) -> GradientCheck:
    """Compares each parameter's autograd gradient with finite differences of the loss along random directions.

    See equation (1) of the module docstring.

    Args:
        module: left as it was; a copy in float64 and eval mode is looked at.
        data: as in `gnomon.train`.
        examples: that are used, drawn by the seed.
        loss: as in `gnomon.train`.
        seed: of examples and directions.

    Hypotheses: see the module. Reference: [rumelhart1986learning].
    Cost: a gradient, and two forward passes for each parameter tensor.

    >>> class Detached(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = nn.Parameter(torch.ones(1))
    ...     def forward(self, x):
    ...         return x * self.w * self.w.detach()                                   # half of the slope is lost
    >>> round(gradient_check(Detached(), (torch.ones(2, 1), torch.zeros(2))).worst, 3)
    0.5
    """
    check_module_is_callable(module)
    generator = torch.Generator().manual_seed(check_seed(seed))
    model = copy_module(module).double()
    batch = data_source(data, module=module).probe(check_integer("examples", examples), seed=seed)
    inputs = map_tensors(lambda t: t.double() if t.is_floating_point() else t, batch.x)
    with preserve(model):
        objective = Objective.of((inputs, batch.y), model, loss)
        leaves = trainable_parameters(model)
        names = [name for name, p in model.named_parameters() if p.requires_grad]
        g = loss_gradient(model, objective)[1]
        w = parameters_to_vector(leaves).detach().clone()
        h = RELATIVE_STEP * max(float(w.norm()), 1.0)
        errors, start = {}, 0
        for name, leaf in [*zip(names, leaves, strict=True), ("all parameters", None)]:
            v = torch.randn(w.shape, generator=generator, dtype=w.dtype)
            if leaf is not None:
                mask = torch.zeros_like(w)
                mask[start : start + leaf.numel()] = 1
                v, start = v * mask, start + leaf.numel()
            v = v / v.norm()
            ends = []
            for sign in (1, -1):
                vector_to_parameters(w + sign * h * v, leaves)
                ends.append(objective.measure(model, None)[0])
            slope, difference = float(g @ v), (ends[0] - ends[1]) / (2 * h)
            rounding = 1e-14 * abs(ends[0]) / h  # rounding error of the difference of two nearly equal losses
            error = max(0.0, abs(slope - difference) - rounding)
            errors[name] = error / max(abs(slope), abs(difference), 1e-300) if error else 0.0  # (1)
        vector_to_parameters(w, leaves)
    return GradientCheck(errors, len(batch))
