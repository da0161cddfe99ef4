"""Compares gradient descent with gradient flow, its limit for small learning rates.

    gap = |f_lr(t) - f_flow(t)| / |f_flow(t) - f(0)|,   the flow by the same time in steps of lr / c              (1)

The gap is proportional to lr. If the gap is large, the learning rate itself influences what is learned.
Hypotheses: full-batch descent. Reference: [hairer2006geometric], section IX; [cohen2021gradient].

>>> GradientFlowGap(0.02, 0.03, 0.1, 50).verdict[:33]
'Gradient descent stays near gradi'
"""

from dataclasses import dataclass
from typing import Any

from torch import nn
from torch.nn.utils import parameters_to_vector

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Result
from gnomon.training import SGD, train
from gnomon.training.evaluate import Loss

__all__ = ["GradientFlowGap", "gradient_flow_gap"]


@dataclass(frozen=True, slots=True)
class GradientFlowGap(Result):
    """The relative distance between gradient descent and gradient flow, for outputs and for parameters."""

    outputs: float
    parameters: float
    lr: float
    steps: int

    @property
    def verdict(self) -> str:
        """A sentence that says whether the size of the learning rate influences what is learned."""
        near = self.outputs < 0.1
        return (
            f"Gradient descent {'stays near gradient flow' if near else 'differs from gradient flow'}: after "
            f"{self.steps} steps "
            f"with learning rate {self.lr:.3g} the outputs of the two differ by {self.outputs:.1%} of the change in "
            f"training."
        )


@add_call_to_errors
def gradient_flow_gap(
    module: nn.Module, data: Any, *, lr: float, steps: int = 100, step_divisor: int = 8, loss: Loss | None = None
) -> GradientFlowGap:
    """Measures how far the result of gradient descent is from the result of the same training in much smaller steps.

    See equation (1) of the module docstring.

    Args:
        module: left as it was; two copies are trained.
        data: as in `gnomon.train`.
        lr: the learning rate.
        steps: number of steps with this learning rate.
        step_divisor: number of small steps that replace one step.
        loss: as in `gnomon.train`.

    Hypotheses: see the module. Reference: [hairer2006geometric].
    Cost: steps (1 + step_divisor) gradients.

    >>> import torch
    >>> net, x = nn.Linear(1, 1, bias=False), torch.ones(1, 1)
    >>> _ = nn.init.ones_(net.weight)
    >>> found = gradient_flow_gap(net, (x, torch.zeros(1)), lr=0.5, steps=1, step_divisor=2)  # 0.0625 / 0.4375
    >>> round(found.outputs, 4)
    0.1429
    """
    check_module_is_callable(module)
    rate, c = check_number("lr", lr, above=0), check_integer("step_divisor", step_divisor, least=2)
    count = check_integer("steps", steps)
    runs = [train(module, data, loss=loss, optimizer=SGD(r), steps=s, record=[s], mode="eval").raise_if_interrupted()
            for r, s in ((rate, count), (rate / c, count * c))]  # fmt: skip
    if any(run.stopped == "diverged" for run in runs):
        raise InputError(
            f"descent diverged at lr = {rate:.3g}", accepted="a stable learning rate", fix="Use a smaller lr"
        )
    inputs = data_source(data, module=module).whole().x
    f0, f1, f2 = (outputs_in_eval_mode(m, inputs).double() for m in (module, runs[0].model, runs[1].model))
    w0, w1, w2 = (parameters_to_vector(m.parameters()).detach().double() for m in (module, *(r.model for r in runs)))
    gaps = [float((a - b).norm() / (b - o).norm().clamp_min(1e-300)) for a, b, o in ((f1, f2, f0), (w1, w2, w0))]
    return GradientFlowGap(gaps[0], gaps[1], rate, count)  # (1)
