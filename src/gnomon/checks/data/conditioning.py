"""Computes the condition number of least squares before and after standardizing the inputs.

    kappa = lambda_max / lambda_min of  X^T X / n  (with a column of ones);  steps by a factor e ~ kappa / 2        (1)

Hypotheses: a linear model on the inputs; for deeper networks it is their first layer's problem.
Reference: [lecun1998efficient], section 4.3; [nesterov2018lectures] for the rate.

>>> import torch
>>> x = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 10.0], [0.0, -10.0]])
>>> round(input_conditioning(x).before, 3), round(input_conditioning(x).after, 3)
(100.0, 1.0)
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers
from gnomon.core.inputs.source import data_source
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["InputConditioning", "input_conditioning"]


@dataclass(frozen=True, slots=True)
class InputConditioning(Result):
    """Result: condition numbers of least squares for the original and the standardized inputs, which set the training
    time.
    """

    before: float
    after: float
    columns: int
    constant: int

    @property
    def speedup(self) -> float:
        """Returns the factor by which standardizing reduces the number of gradient descent steps."""
        return self.before / self.after

    @property
    def verdict(self) -> str:
        """Says in one sentence whether standardizing the inputs would speed up training."""
        if self.speedup < 2:
            return (
                f"Standardizing the inputs would hardly help: the condition number of the inputs is only "
                f"{self.before:.3g}."
            )
        return f"Standardize the inputs: gradient descent then needs about {self.speedup:.3g} times fewer steps."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the condition number of least squares before and after standardizing the inputs."""
        bars = Bars("condition number", ("original", "standardized"), (self.before, self.after))
        return (Plot("Conditioning of the inputs", (bars,), Axis("condition number", log=True), caption=self.verdict),)


@add_call_to_errors
def input_conditioning(data: Any) -> InputConditioning:
    """Computes the condition number of least squares for some inputs, before and after standardizing them.

    See equation (1) of the module docstring.

    Args:
        data: inputs, or data, a row for each example; images are flattened.

    Hypotheses: see the module; more examples than columns. Reference: [lecun1998efficient].
    Cost: n d^2 and d^3.

    >>> input_conditioning(torch.tensor([[0.0], [1.0], [2.0], [3.0]])).constant
    0
    """
    rows = as_numbers(data_source(data).whole().x, "x").detach().flatten(1).double()
    if len(rows) < 2:
        raise InputError(f"there are {len(rows)} examples", accepted="at least two", fix="Pass more rows")
    deviation = rows.std(0, correction=0)
    moving = deviation > 1e-12 * rows.abs().amax(0).clamp_min(1e-300)
    if not bool(moving.any()):
        raise InputError(
            "all columns are constant", accepted="inputs that vary", fix="Pass inputs with columns that vary"
        )
    kept = rows[:, moving]
    standard = (kept - kept.mean(0)) / deviation[moving]
    return InputConditioning(_condition(kept), _condition(standard), rows.shape[1], int((~moving).sum()))


def _condition(x: Tensor) -> float:
    full = torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], 1)
    values = torch.linalg.svdvals(full).square()
    kept = values[values > 1e-14 * values[0]]  # Leaves out directions in which the data do not vary.
    return float(kept[0] / kept[-1])  # (1)
