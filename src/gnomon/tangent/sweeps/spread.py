"""Measures how much tangent kernels, or trained outputs, differ between initializations of one width.

    spread(m) = sqrt( sum var_seeds(q) / sum mean_seeds(q)^2 )  ~  m^-1/2                                       (1)

for q the entries of the kernel (its limit is one matrix for all seeds), or the outputs of trained networks, whose
variance an average over networks takes out of the error.
Hypotheses: NTK parametrization for the rate -1/2. Reference: [jacot2018neural]; [geiger2020scaling] for outputs.

>>> WidthSpread((8, 16, 32), (0.4, 0.283, 0.2), 5, "kernel").exponent
-0.5...
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.inputs.source import all_inputs, data_source
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Line, Plot, Result, Scatter
from gnomon.tangent.empirical import ntk
from gnomon.tangent.sweeps.build import NetworkBuilder, build_network, checked_widths, log_log_slope
from gnomon.training import train
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["WidthSpread", "kernel_spread", "output_spread"]


@dataclass(frozen=True, slots=True)
class WidthSpread(Result):
    """The relative difference between random seeds at each width, for tangent kernels or for trained outputs."""

    widths: tuple[int, ...]
    spread: tuple[float, ...]
    seeds: int
    quantity: str

    @property
    def exponent(self) -> float:
        """The slope of log spread between seeds over log width, which is -1/2 in theory."""
        return log_log_slope(self.widths, self.spread)

    @property
    def verdict(self) -> str:
        """A sentence that says how the differences between seeds depend on the width, and what averaging networks
        gains.
        """
        gain = f", and averaging the networks divides its square by {self.seeds}"
        end = gain if self.quantity == "trained outputs" else ""
        return (
            f"The {self.quantity} differ between seeds by {self.spread[-1]:.1%} at width {self.widths[-1]}{end}; the "
            f"difference falls as width^{self.exponent:.2f} (theory: -0.5)."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the differences between seeds over the width, with the theoretical slope."""
        line = [self.spread[0] * (w / self.widths[0]) ** -0.5 for w in self.widths]
        marks = (Scatter("measured", self.widths, self.spread, 0), Line("slope -1/2", self.widths, line, color=0))
        axes = Axis("width", log=True), Axis("relative spread over seeds", log=True)
        return (Plot(f"Spread of the {self.quantity}", marks, *axes, self.verdict),)


@add_call_to_errors
@limit_time
def kernel_spread(
    build: NetworkBuilder,
    x: Any,
    *,
    widths: Sequence[int] = (32, 64, 128, 256),
    seeds: int = 6,
    budget: float | None = None,
) -> WidthSpread:
    """Measures how much the tangent kernel differs between initializations, at several widths.

    See equation (1) of the module docstring.

    Args:
        build: a function (width, seed) that returns a network.
        x: inputs.
        widths: at least three, rising.
        seeds: networks of each width.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: see the module. Reference: [jacot2018neural].
    Cost: an empirical kernel for each network.

    >>> result = kernel_spread(lambda width, seed: nn.Linear(3, 1), torch.eye(3), widths=(1, 2, 3), seeds=2)
    >>> result.spread                                                              # linear: one kernel for all
    (0.0, 0.0, 0.0)
    """
    chosen, m = checked_widths(widths), check_integer("seeds", seeds, least=2)
    inputs = all_inputs(x, build_network(build, chosen[0], 0))
    networks = with_progress_bar([(width, seed) for width in chosen for seed in range(m)], "kernels")
    kernels = [ntk(build_network(build, width, seed), inputs) for width, seed in networks]
    found = [_spread(kernels[m * i : m * (i + 1)]) for i in range(len(chosen))]
    return WidthSpread(chosen, tuple(found), m, "kernels")


@add_call_to_errors
def output_spread(
    build: NetworkBuilder,
    data: Any,
    *,
    widths: Sequence[int] = (32, 64, 128, 256),
    draws: int = 6,
    steps: int = 200,
    optimizer: OptimizerChoice | None = None,
) -> WidthSpread:
    """Measures how much the outputs of trained networks differ between initializations, at several widths.

    See equation (1) of the module docstring.

    Args:
        build: a function (width, seed) that returns a network.
        data: (inputs, targets) or other data; outputs are compared on them.
        widths: at least three, rising.
        draws: networks of each width.
        steps: number of steps of training, full batch.
        optimizer: as in `gnomon.train`.

    Hypotheses: see the module. Reference: [geiger2020scaling].
    Cost: a training run for each network.

    >>> x = torch.eye(2)
    >>> result = output_spread(lambda w, s: nn.Linear(2, 1), (x, torch.ones(2)), widths=(1, 2, 3), draws=2, steps=1)
    >>> len(result.spread)
    3
    """
    chosen, m = checked_widths(widths), check_integer("draws", draws, least=2)
    x, y = data_source(data, module=build_network(build, chosen[0], 0)).pair()

    def train_outputs(width: int, seed: int) -> Tensor:
        net: nn.Module = build_network(build, width, seed)
        run = train(net, (x, y), optimizer=optimizer, steps=steps, record=[steps], seed=seed, mode="eval")
        return outputs_in_eval_mode(run.raise_if_interrupted().model, x)

    return WidthSpread(
        chosen, tuple(_spread([train_outputs(w, s) for s in range(m)]) for w in chosen), m, "trained outputs"
    )


def _spread(values: list[Tensor]) -> float:
    q = torch.stack([v.double() for v in values])
    size = float(q.mean(0).square().sum())
    return float((q.var(0).sum() / size).sqrt()) if size > 0 else 0.0  # (1)
