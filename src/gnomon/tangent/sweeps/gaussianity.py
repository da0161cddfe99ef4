"""Measures how close the outputs of random networks are to a Gaussian distribution, for several widths.

    excess(m) = E f^4 / (E f^2)^2 - 3  ~  c / m,    distance = sup_t |F(t / s) - Phi(t)|                        (1)

F is the distribution of the output over initializations, s its standard deviation, Phi the normal one.
Hypotheses: outputs are symmetric around zero over initializations. Reference: [lee2018deep]; [matthews2018gaussian].

>>> Gaussianity((8, 16, 32), (0.4, 0.2, 0.1), (0.05, 0.03, 0.02), 500).exponent
-1.0...
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import take_examples
from gnomon.core.inputs.checks import check_integer
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.tangent.sweeps.build import NetworkBuilder, build_network, checked_widths, log_log_slope

__all__ = ["Gaussianity", "output_gaussianity"]


@dataclass(frozen=True, slots=True)
class Gaussianity(Result):
    """How far the outputs of random networks are from Gaussian at each width: excess kurtosis and distribution
    distance.
    """

    widths: tuple[int, ...]
    excess: tuple[float, ...]
    distance: tuple[float, ...]
    draws: int

    @property
    def error(self) -> float:
        """The standard error of the excess kurtosis if the outputs are Gaussian, sqrt(24 / draws)."""
        return float((24 / self.draws) ** 0.5)

    @property
    def exponent(self) -> float:
        """The slope of log excess kurtosis over log width, in theory -1; NaN if an excess kurtosis is not positive."""
        return log_log_slope(self.widths, self.excess)

    @property
    def verdict(self) -> str:
        """A sentence that says whether the outputs of the widest network differ significantly from a Gaussian."""
        last = self.excess[-1]
        if abs(last) < 2 * self.error:
            return f"At width {self.widths[-1]} outputs of {self.draws} networks look Gaussian."
        return f"At width {self.widths[-1]} outputs have excess kurtosis {last:.2f}: not Gaussian yet."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the excess kurtosis of the outputs over the width."""
        line = Line("excess kurtosis", self.widths, self.excess)
        return (Plot("Gaussian outputs", (line,), Axis("width", log=True), Axis("excess kurtosis"), self.verdict),)


@add_call_to_errors
def output_gaussianity(
    build: NetworkBuilder, data: Any, *, widths: Sequence[int] = (8, 32, 128), draws: int = 400
) -> Gaussianity:
    """Measures, for several widths, how far one output of randomly initialized networks is from Gaussian.

    See equation (1) of the module docstring.

    Args:
        build: a function (width, seed) that returns a network.
        data: inputs, of which the first is used.
        widths: at least three, rising.
        draws: networks of each width.

    Hypotheses: see the module. Reference: [matthews2018gaussian].
    Cost: a forward pass of each network.

    >>> from torch import nn
    >>> def build(width, seed):
    ...     net = nn.Linear(1, 1, bias=False)
    ...     _ = nn.init.normal_(net.weight)
    ...     return net
    >>> result = output_gaussianity(build, torch.ones(1, 1), widths=(1, 2, 3), draws=300)
    >>> max(abs(e) for e in result.excess) < 4 * result.error                              # w is Gaussian
    True
    """
    from scipy.stats import kstest  # slow to import

    chosen, m = checked_widths(widths), check_integer("draws", draws, least=20)
    one = take_examples(all_inputs(data, build_network(build, chosen[0], 0)), slice(0, 1))
    excess, distance = [], []
    for width in chosen:
        nets = (build_network(build, width, seed) for seed in range(m))
        with torch.no_grad():  # The networks were built here, so their mode and state need not be restored.
            f = np.array([float(run_to_rows(net, one)[0, 0]) for net in nets])
        scale = float(np.sqrt((f**2).mean())) or 1.0
        excess.append(float(((f / scale) ** 4).mean()) - 3)  # (1)
        distance.append(float(kstest(f / scale, "norm").statistic))
    return Gaussianity(chosen, tuple(excess), tuple(distance), m)
