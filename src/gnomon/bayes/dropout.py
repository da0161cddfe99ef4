"""MC dropout: mean and spread of predictions over random dropout masks, compared with the network without dropout.

    p(y | x) = mean over masks b of p(y | x, w * b)                                                              (1)

Hypotheses: masks are drawn as in training. Reference: [srivastava2014dropout]; [gal2016dropout].

>>> import torch
>>> net = nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 1, bias=False))
>>> _ = nn.init.ones_(net[1].weight)
>>> found = dropout_predictive(net, torch.ones(1, 4), draws=4000)                     # 2 x a binomial of 4 and 1/2
>>> abs(float(found.mean[0, 0]) - 4) < 0.15, abs(float(found.variance[0, 0]) - 4) < 0.4
(True, True)
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_seed
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.layer_classes import DROPOUTS
from gnomon.core.modules.outputs import outputs_in_eval_mode, run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Plot, Result, Scatter

__all__ = ["DropoutPredictive", "dropout_predictive"]


@dataclass(frozen=True, slots=True, eq=False)
class DropoutPredictive(Result):
    """Result: mean and variance of predictions over random dropout masks, and the predictions without dropout."""

    mean: Float[Tensor, "n k"] = field(repr=False)
    variance: Float[Tensor, "n k"] = field(repr=False)
    plain: Float[Tensor, "n k"] = field(repr=False)
    draws: int

    @property
    def error(self) -> Float[Tensor, "n k"]:
        """Returns the standard error of the mean prediction over dropout masks."""
        return (self.variance / self.draws).sqrt()

    @property
    def verdict(self) -> str:
        """States how much predictions vary over dropout masks, and how far their mean is from the network without
        dropout.
        """
        apart = float((self.plain - self.mean).abs().mean())
        return (
            f"Over {self.draws} random dropout masks, outputs vary by {float(self.variance.mean().sqrt()):.3g}; the "
            f"network without "
            f"dropout differs from their mean by {apart:.3g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the mean prediction over dropout masks against the prediction without dropout."""
        points = Scatter("outputs", self.plain.flatten(), self.mean.flatten())
        return (Plot("Dropout as an ensemble", (points,), Axis("without dropout"), Axis("mean over masks")),)


@add_call_to_errors
def dropout_predictive(
    module: nn.Module, data: Any, *, draws: int = 100, probabilities: bool = False, seed: int = 0
) -> DropoutPredictive:
    """Returns the mean and variance of predictions over random dropout masks (MC dropout).

    See equation (1) of the module docstring.

    Args:
        module: a network with dropout layers, which alone run in training mode here; it is not changed.
        data: inputs.
        draws: number of masks.
        probabilities: if True, averages softmax probabilities instead of outputs.
        seed: random seed of the masks.

    Hypotheses: see the module. Reference: [gal2016dropout].
    Cost: a forward pass for each mask.

    >>> net = nn.Sequential(nn.Dropout(0.0), nn.Linear(2, 1))
    >>> bool(dropout_predictive(net, torch.ones(1, 2), draws=3).variance.abs().max() < 1e-12)       # nothing is dropped
    True
    """
    check_module_is_callable(module)
    m, seed = check_integer("draws", draws, least=2), check_seed(seed)
    parts = [part for part in module.modules() if isinstance(part, DROPOUTS)]
    if not parts:
        raise InputError("the module has no dropout layer", accepted="at least one dropout layer", fix="Add nn.Dropout")
    inputs = all_inputs(data, module)

    def as_output(f: Tensor) -> Tensor:
        return f.double().softmax(1) if probabilities else f.double()

    plain = as_output(outputs_in_eval_mode(module, inputs))
    total, squares = torch.zeros_like(plain), torch.zeros_like(plain)
    with preserve(module, seed=seed, grad=False):
        for part in parts:
            part.training = True
        for _ in range(m):
            f = as_output(run_to_rows(module, inputs)) - plain  # centered, against cancellation
            total, squares = total + f, squares + f.square()
    mean = total / m
    return DropoutPredictive(plain + mean, ((squares - m * mean.square()) / (m - 1)).clamp_min(0), plain, m)  # (1)
