"""Measures how far a network is from its linearization: at checkpoints of a run, and in one gradient step.

    f_lin(w, x) = f(w0, x) + J(w0, x) (w - w0),    error = |f_lin(w) - f(w)| / |f(w) - f(w0)|                  (1)
    a step w' = w - lr g:    predicted change -lr J g,    observed change f(w') - f(w)                          (2)

For squared loss (2) is -lr Theta (f - y) / n, with the tangent kernel Theta.
Hypotheses: deterministic networks of one architecture.
Reference: [lee2019wide], section 2; [jacot2018neural] for (2).

>>> import torch
>>> start, end = nn.Linear(2, 1), nn.Linear(2, 1)                              # linear in its parameters
>>> linearization_error(start, [end], torch.randn(5, 2)).errors[0] < 1e-5
True
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_number
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Line, Plot, Result, Scatter
from gnomon.tangent.linear import linearize
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import loss_gradient

__all__ = ["LinearizationError", "StepLinearity", "linearization_error", "step_linearity"]

MAX_RELATIVE_ERROR = 0.1
"""Relative error below which the linearization describes the network."""


@dataclass(frozen=True, slots=True)
class LinearizationError(Result):
    """The error of the linearized network's predictions at each checkpoint, and the change of the outputs since the
    start.
    """

    errors: tuple[float, ...]
    moved: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """A sentence that says whether the linearization at the start predicts the outputs of the trained network."""
        word = "describes" if self.errors[-1] < MAX_RELATIVE_ERROR else "does not describe"
        return (
            f"The network linearized at its start {word} the trained one: at the end the prediction misses "
            f"{self.errors[-1]:.1%} of the change of the outputs."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the error of the linearization at each checkpoint."""
        line = Line("error", range(1, len(self.errors) + 1), self.errors)
        return (Plot("Error of the linearization", (line,), Axis("checkpoint"), Axis("share missed"), self.verdict),)


@dataclass(frozen=True, slots=True, eq=False)
class StepLinearity(Result):
    """Predicted and observed changes of a network's outputs in one gradient step, and their relative difference."""

    predicted: Float[Tensor, "n k"]
    observed: Float[Tensor, "n k"]
    error: float

    @property
    def verdict(self) -> str:
        """A sentence that says how well a first-order prediction describes the gradient step."""
        end = (
            "a step of this size is linear"
            if self.error < MAX_RELATIVE_ERROR
            else "the step is too large for a linear prediction"
        )
        return f"The first-order prediction misses {self.error:.1%} of the change of the outputs in one step: {end}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots observed changes of the network's outputs in one gradient step against predicted ones."""
        marks = (Scatter("outputs", self.predicted.flatten(), self.observed.flatten()),)
        return (Plot("One step", marks, Axis("predicted change"), Axis("observed change"), self.verdict),)


@add_call_to_errors
def linearization_error(start: nn.Module, checkpoints: Sequence[nn.Module], data: Any) -> LinearizationError:
    """Returns the relative error of the network linearized at its start, for each checkpoint of a run.

    See equation (1) of the module docstring.

    Args:
        start: the network at which the linearization is made.
        checkpoints: the same network later in training.
        data: inputs, as in `gnomon.tangent.ntk`.

    Hypotheses: one architecture; outputs that have moved. Reference: [lee2019wide].
    Cost: a forward pass and a Jacobian-vector product for each checkpoint.

    >>> net = nn.Linear(1, 1)
    >>> linearization_error(net, [net], torch.ones(1, 1)).errors                # nothing moved, nothing is missed
    (0.0,)
    """
    check_module_is_callable(start)
    if not checkpoints:
        raise InputError("the list of checkpoints is empty", accepted="at least one", fix="Pass a list of modules")
    inputs = all_inputs(data, start)
    first = outputs_in_eval_mode(start, inputs).double()
    tangent, errors, moved = linearize(start), [], []
    for later in checkpoints:
        _copy(later, tangent.module)
        now = outputs_in_eval_mode(later, inputs).double()
        change = float((now - first).norm())
        missed = float((outputs_in_eval_mode(tangent, inputs).double() - now).norm())
        errors.append(missed / change if change > 0 else 0.0)  # (1)
        moved.append(change / max(float(first.norm()), 1e-300))
    return LinearizationError(tuple(errors), tuple(moved))


@add_call_to_errors
def step_linearity(module: nn.Module, data: Any, *, lr: float, loss: Loss | None = None) -> StepLinearity:
    """Compares the change of the outputs in one full-batch gradient step with its first-order prediction.

    See equation (2) of the module docstring.

    Args:
        module: read in eval mode and left as it was; a copy takes the step.
        data: as in `gnomon.train`.
        lr: the learning rate of the step.
        loss: as in `gnomon.train`.

    Hypotheses: a differentiable network. Reference: [jacot2018neural].
    Cost: a gradient, a Jacobian-vector product and two forward passes.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(net.weight)
    >>> step_linearity(net, (torch.tensor([[2.0]]), torch.zeros(1)), lr=0.1).predicted       # -lr x^2 f = -0.1 4 2
    tensor([[-0.8000]], dtype=torch.float64)
    """
    check_module_is_callable(module)
    rate = check_number("lr", lr, above=0)
    with preserve(module):
        objective = Objective.of(data, module, loss)
        gradient = loss_gradient(module, objective)[1]
        inputs = objective.data.whole().x
    stepped, tangent = copy_module(module), linearize(module)
    for copied in (stepped, tangent.module):
        leaves = [p for p in copied.parameters() if p.requires_grad]
        vector_to_parameters((parameters_to_vector(leaves).double() - rate * gradient).to(leaves[0].dtype), leaves)
    before, after, line = (outputs_in_eval_mode(m, inputs).double() for m in (module, stepped, tangent))
    predicted, observed = line - before, after - before  # (2)
    error = float((predicted - observed).norm() / observed.norm().clamp_min(1e-300))
    return StepLinearity(predicted, observed, error)


@torch.no_grad()
def _copy(source: nn.Module, target: nn.Module) -> None:
    try:
        for p, q in zip(target.parameters(), source.parameters(), strict=True):
            p.copy_(q)
    except (RuntimeError, ValueError) as error:
        fix = "Pass checkpoints of one network"
        raise InputError("the checkpoints have different shapes", accepted="one architecture", fix=fix) from error
