"""Measures how the gradient of each parameter scales with the width, to check a network's parametrization.

    rms(dL / dw_l) ~ width^(e_l),    rms(lr dL / dw_l) / rms(w_l) the relative step of layer l                  (1)

In the NTK parametrization hidden weights have e = -1 and outer ones -1/2; a parametrization in which learning rates
carry over between widths keeps the relative change of every layer's outputs the same.
Hypotheses: parameters keep their names when the width changes. Reference: [geiger2020scaling]; [yang2019tensor].

>>> GradientExponents((8, 16, 32), {"w": (1.0, 0.5, 0.25)}).exponents
{'w': -1.0}
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.tangent.sweeps.build import NetworkBuilder, build_network, checked_widths, log_log_slope
from gnomon.training.evaluate import Loss, Objective

__all__ = ["GradientExponents", "gradient_exponents"]


@dataclass(frozen=True, slots=True)
class GradientExponents(Result):
    """The size (root mean square) of each parameter's gradient at each width of the network."""

    widths: tuple[int, ...]
    sizes: dict[str, tuple[float, ...]]

    @property
    def exponents(self) -> dict[str, float]:
        """The exponent with which each parameter's gradient grows with the width: gradient ~ width^exponent."""
        return {name: round(log_log_slope(self.widths, sizes), 12) for name, sizes in self.sizes.items()}

    @property
    def verdict(self) -> str:
        """A sentence with the smallest and the largest exponent with which gradients grow with the width."""
        found = self.exponents
        low, high = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
        return (
            f"Gradients scale with the width from width^{found[low]:.2f} ('{low}') to width^{found[high]:.2f} "
            f"('{high}')."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the size of each parameter's gradient over the width."""
        marks = tuple(Line(name, self.widths, sizes) for name, sizes in self.sizes.items())
        axes = Axis("width", log=True), Axis("root mean square gradient", log=True)
        return (Plot("Gradients and width", marks, *axes, self.verdict),)


@add_call_to_errors
def gradient_exponents(
    build: NetworkBuilder,
    data: Any,
    *,
    widths: Sequence[int] = (32, 64, 128, 256),
    draws: int = 4,
    loss: Loss | None = None,
) -> GradientExponents:
    """Fits how each parameter's gradient scales with the width at the start of training.

    See equation (1) of the module docstring.

    Args:
        build: a function (width, seed) that returns a network.
        data: as in `gnomon.train`.
        widths: at least three, rising.
        draws: networks of each width, whose mean squares are averaged.
        loss: as in `gnomon.train`.

    Hypotheses: see the module. Reference: [geiger2020scaling].
    Cost: a gradient for each network.

    >>> from torch import nn
    >>> def build(width, seed):                                 # f = sum of m weights over sqrt(m): gradient m^-1/2
    ...     class Net(nn.Module):
    ...         def __init__(self):
    ...             super().__init__()
    ...             self.w = nn.Parameter(torch.zeros(width))
    ...         def forward(self, x):
    ...             return x * self.w.sum() / width**0.5
    ...     return Net()
    >>> gradient_exponents(build, (torch.ones(1, 1), torch.ones(1)), widths=(4, 16, 64), draws=1).exponents
    {'w': -0.5}
    """
    chosen, m = checked_widths(widths), check_integer("draws", draws)
    squares: dict[str, list[float]] = {}
    for width in chosen:
        rows = [_squares(build, width, seed, data, loss) for seed in range(m)]
        if squares and set(squares) != set(rows[0]):
            fix = "Keep the names of parameters when the width changes"
            raise InputError("parameter names change with the width", accepted="one architecture", fix=fix)
        for name in rows[0]:
            squares.setdefault(name, []).append(sum(row[name] for row in rows) / m)
    return GradientExponents(chosen, {name: tuple(v**0.5 for v in values) for name, values in squares.items()})


def _squares(build: NetworkBuilder, width: int, seed: int, data: Any, loss: Loss | None) -> dict[str, float]:
    """Returns the mean square of each parameter's gradient at a width, by parameter name."""
    net = build_network(build, width, seed)
    named = {name: p for name, p in net.named_parameters() if p.requires_grad}
    sums = {name: torch.zeros_like(p) for name, p in named.items()}
    with preserve(net):
        objective = Objective.of(data, net, loss)
        for inputs, targets in objective.batches(512):
            value = objective.value(net, inputs, targets) * (len(targets) / len(objective))
            parts = torch.autograd.grad(value, list(named.values()), allow_unused=True, materialize_grads=True)
            for total, part in zip(sums.values(), parts, strict=True):
                total += part
    return {name: float(total.double().square().mean()) for name, total in sums.items()}
