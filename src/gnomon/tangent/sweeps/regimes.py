"""Maps at which widths and output scales networks learn features, and at which training is lazy.

    drift(m, alpha) = |K_end - K_0| / |K_0|,    boundary alpha*(m): drift = level,    alpha* ~ m^e              (1)

In the NTK parametrization e = -1/2: curves at several widths fall onto one over sqrt(m) alpha.
Hypotheses: as for `scale_sweep`. Reference: [geiger2020disentangling].

>>> RegimeMap((4, 16, 64), (0.1, 1.0), ((1.0, 0.1), (1.0, 0.1), (1.0, 0.1)), 0.3).boundary[0]
0.33...
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, nan
from typing import Any

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_number
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import relative_change
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.tangent.empirical import ntk
from gnomon.tangent.linear import scale_output
from gnomon.tangent.sweeps.build import NetworkBuilder, build_network, checked_widths, log_log_slope
from gnomon.training import SGD, train

__all__ = ["RegimeMap", "regime_map"]


@dataclass(frozen=True, slots=True)
class RegimeMap(Result):
    """The relative change of the tangent kernel in training for each width (rows) and output scale alpha (columns)."""

    widths: tuple[int, ...]
    alphas: tuple[float, ...]
    drift: tuple[tuple[float, ...], ...]
    level: float

    @property
    def boundary(self) -> tuple[float, ...]:
        """The output scale at each width above which training is lazy; NaN if the change does not cross the level."""
        return tuple(_crossing(self.alphas, row, self.level) for row in self.drift)

    @property
    def exponent(self) -> float:
        """The slope of the log of the lazy-training boundary over log width; -1/2 in theory for the NTK
        parametrization.
        """
        known = [(w, a) for w, a in zip(self.widths, self.boundary, strict=True) if a == a]
        return log_log_slope([w for w, _ in known], [a for _, a in known]) if len(known) >= 2 else nan

    @property
    def verdict(self) -> str:
        """A sentence that says below which output scale the network learns features."""
        if self.exponent != self.exponent:
            return (
                f"The change of the kernel does not cross the level {self.level:.0%} at these output scales: try "
                f"other scales."
            )
        return (
            f"Below alpha = {self.boundary[-1]:.3g} at width {self.widths[-1]} the network learns features, above it "
            f"is lazy; the boundary moves as width^{self.exponent:.2f}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the change of the tangent kernel over the output scale for each width."""
        lines = tuple(Line(f"width {w}", self.alphas, row) for w, row in zip(self.widths, self.drift, strict=True))
        axes = Axis("alpha", log=True), Axis("change of the kernel", log=True)
        return (Plot("Regimes", (*lines, Reference("boundary", self.level)), *axes, self.verdict),)


@add_call_to_errors
def regime_map(
    build: NetworkBuilder,
    data: Any,
    *,
    widths: Sequence[int] = (32, 64, 128),
    alphas: Sequence[float] = (0.01, 0.1, 1.0, 10.0),
    lr: float,
    steps: int = 200,
    level: float = 0.1,
) -> RegimeMap:
    """Measures how much training changes the tangent kernel, at several widths and output scales.

    See equation (1) of the module docstring.

    Args:
        build: a function (width, seed) that returns a network.
        data: (inputs, targets) or other data; the kernel is computed on all their inputs.
        widths: at least three, rising.
        alphas: scales of the output, rising.
        lr: learning rate at alpha = 1; at alpha it is lr / alpha^2 of the plain loss.
        steps: number of steps of full-batch descent.
        level: the change that separates the regimes.

    Hypotheses: see the module. Reference: [geiger2020disentangling].
    Cost: a training run and two kernels for each width and alpha.

    >>> import torch
    >>> from torch import nn
    >>> x = torch.linspace(-1, 1, 4)[:, None]
    >>> def build(width, seed):
    ...     return nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))
    >>> result = regime_map(build, (x, x[:, 0]), widths=(2, 4, 8), alphas=(1.0, 100.0), lr=0.1, steps=20)
    >>> all(row[1] < row[0] for row in result.drift)
    True
    """
    chosen = checked_widths(widths)
    scales = tuple(check_number("alphas", alpha, above=0) for alpha in alphas)
    rate, edge = check_number("lr", lr, above=0), check_number("level", level, above=0)
    x, y = data_source(data, module=build_network(build, chosen[0], 0)).pair()
    rows = []
    for width in chosen:
        net = build_network(build, width, 0)
        first, row = ntk(net, x), []
        for alpha in scales:
            run = train(scale_output(net, alpha), (x, y), optimizer=SGD(rate / alpha**2), steps=steps, record=[steps],
                        mode="eval")  # fmt: skip
            end: Any = run.raise_if_interrupted().model
            row.append(relative_change(first, ntk(end.module, x)))  # (1)
        rows.append(tuple(row))
    return RegimeMap(chosen, scales, tuple(rows), edge)


def _crossing(alphas: Sequence[float], drift: Sequence[float], level: float) -> float:
    """Returns the output scale alpha at which a falling curve passes a level, interpolated in logarithms; NaN if
    none.
    """
    for a, b, high, low in zip(alphas, alphas[1:], drift, drift[1:], strict=False):
        if high >= level > low > 0:
            share = (log(high) - log(level)) / (log(high) - log(low))
            return exp(log(a) + share * (log(b) - log(a)))
    return nan
