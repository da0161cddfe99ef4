"""Measures which frequencies along a path of inputs a network learns first, in training or by its tangent kernel.

On a closed path x(t), 0 <= t < 1, with v_k the unit vector of cos(2 pi k t + phase) at n places,

    rate_k = v_k^T K v_k / n                       what the kernel says: the rate of frequency k                  (1)
    amplitude_k(step) = |<f, exp(2 pi i k t)>| / |<target, exp(2 pi i k t)>|                                      (2)

Usual networks have rates that fall with k: low frequencies come first (spectral bias).
Hypotheses: a closed path; (1) for squared loss and a kernel that does not move.
Reference: [rahaman2019spectral] for (2); [basri2019convergence] for (1).

>>> FrequencyCurve((1, 4), (0, 100), ((0.0, 0.0), (1.0, 0.3))).order
(1, 4)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_seed
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.tangent.empirical import ntk
from gnomon.training import train
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["FrequencyCurve", "KernelFrequencies", "circular_path", "frequency_curve", "kernel_frequencies"]

Path = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class KernelFrequencies(Result):
    """The rate at which training learns each frequency along a path of inputs, predicted by the tangent kernel."""

    frequencies: tuple[int, ...]
    rates: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """A sentence that says how much more slowly the highest frequency is learned than the lowest."""
        ratio = self.rates[0] / max(self.rates[-1], 1e-300)
        return (
            f"Frequency {self.frequencies[-1]} is learned {ratio:.3g} times more slowly than {self.frequencies[0]} by "
            "the network's current kernel."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the rate at which each frequency is learned."""
        line = Line("rate", self.frequencies, self.rates)
        return (Plot("Rates of frequencies", (line,), Axis("frequency"), Axis("rate", log=True), self.verdict),)


@dataclass(frozen=True, slots=True)
class FrequencyCurve(Result):
    """The amplitude of each frequency in the network's outputs, with one row for each recorded training step."""

    frequencies: tuple[int, ...]
    steps: tuple[int, ...]
    amplitudes: tuple[tuple[float, ...], ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The frequencies in the order in which their amplitude first passes one half; frequencies that never pass come
        last.
        """

        def arrival(i: int) -> float:
            return next((s for s, row in zip(self.steps, self.amplitudes, strict=True) if row[i] >= 0.5), float("inf"))

        return tuple(f for _, f in sorted((arrival(i), f) for i, f in enumerate(self.frequencies)))

    @property
    def verdict(self) -> str:
        """A sentence with the order in which the frequencies were learned."""
        rising = list(self.order) == sorted(self.order)
        words = "Low frequencies were learned first" if rising else "Low frequencies were not learned first"
        return f"{words}: {', '.join(map(str, self.order))}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the amplitude of each frequency in the outputs over the training steps."""
        rows = tuple(zip(*self.amplitudes, strict=True))
        lines = tuple(Line(f"frequency {f}", self.steps, row) for f, row in zip(self.frequencies, rows, strict=True))
        return (Plot("Learning of frequencies", lines, Axis("step"), Axis("amplitude"), self.verdict),)


def circular_path(inputs: int) -> Path:
    """Returns a path of inputs: a function from [0, 1) to a circle in the first two inputs, or to an interval for one
    input.

    >>> circular_path(2)(torch.tensor([0.0]))
    tensor([[1., 0.]])
    """

    def path(t: Tensor) -> Tensor:
        if inputs == 1:
            return (2 * t - 1)[:, None]
        x = torch.zeros(len(t), inputs, dtype=t.dtype)
        x[:, 0], x[:, 1] = torch.cos(2 * pi * t), torch.sin(2 * pi * t)
        return x

    return path


@add_call_to_errors
def kernel_frequencies(
    module: nn.Module, path: Path, *, frequencies: Sequence[int] = (1, 2, 4, 8), points: int = 64
) -> KernelFrequencies:
    """Predicts from the tangent kernel how fast a network learns each frequency along a closed path of inputs.

    See equation (1) of the module docstring.

    Args:
        module: a network with one output, or whose mean kernel over outputs is meant.
        path: a function of places t in [0, 1) that gives inputs, such as ``circular_path(2)``.
        frequencies: whole numbers below half the number of points.
        points: number of points on the path.

    Hypotheses: see the module. Reference: [basri2019convergence].
    Cost: one empirical kernel of ``points`` inputs.

    >>> linear = nn.Linear(2, 1, bias=False)                              # x . x' = cos of the angle: frequency 1 alone
    >>> [abs(round(r, 4)) for r in kernel_frequencies(linear, circular_path(2), frequencies=(1, 2)).rates]
    [0.5, 0.0]
    """
    check_module_is_callable(module)
    chosen, n = _frequencies(frequencies, points)
    t = torch.arange(n) / n
    k = ntk(module, path(t)).double()
    rates = []
    for f in chosen:
        waves = torch.stack([torch.cos(2 * pi * f * t), torch.sin(2 * pi * f * t)]).double()
        waves = waves / waves.norm(dim=1, keepdim=True)
        rates.append(float(torch.einsum("an,nm,am->", waves, k, waves)) / 2 / n)  # (1)
    return KernelFrequencies(chosen, tuple(rates))


@add_call_to_errors
def frequency_curve(
    module: nn.Module,
    path: Path,
    *,
    frequencies: Sequence[int] = (1, 2, 4, 8),
    points: int = 64,
    steps: int = 1000,
    optimizer: OptimizerChoice | None = None,
    seed: int = 0,
) -> FrequencyCurve:
    """Trains a copy of a network on a sum of waves along a path of inputs, and records when each wave is learned.

    See equation (2) of the module docstring.

    Args:
        module: a network with one output; it is left as it was.
        path: a function of places t in [0, 1) that gives inputs, such as ``circular_path(2)``.
        frequencies: of the waves, all of amplitude one, with phases by the seed.
        points: number of points on the path.
        steps: number of steps of full-batch training; ``optimizer`` as in `gnomon.train`.
        optimizer: see ``steps``.
        seed: random seed for the phases.

    Hypotheses: see the module. Reference: [rahaman2019spectral].
    Cost: a training run on ``points`` examples.

    >>> net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    >>> len(frequency_curve(net, circular_path(2), frequencies=(1, 2), steps=5).amplitudes[0])
    2
    """
    check_module_is_callable(module)
    chosen, n = _frequencies(frequencies, points)
    generator = torch.Generator().manual_seed(check_seed(seed))
    t = torch.arange(n) / n
    phases = torch.rand(len(chosen), generator=generator)
    y = sum(torch.cos(2 * pi * (f * t + p)) for f, p in zip(chosen, phases, strict=True))
    waves = torch.stack([torch.exp(2j * pi * f * t) for f in chosen]).to(torch.complex128)
    x = path(t)

    def heights(_: int, model: nn.Module, __: float) -> Tensor:
        f = outputs_in_eval_mode(model, x)[:, 0].to(waves)
        return (waves @ f).abs() / (n / 2)  # a wave of amplitude one and length n has the product n / 2 with itself

    run = train(
        module, (x, torch.as_tensor(y)), optimizer=optimizer, steps=steps, watch={"heights": heights}, seed=seed
    )
    rows: list[Any] = run.raise_if_interrupted().watched["heights"]
    return FrequencyCurve(chosen, tuple(run.steps.tolist()), tuple(tuple(row.tolist()) for row in rows))


def _frequencies(frequencies: Sequence[int], points: int) -> tuple[tuple[int, ...], int]:
    n = check_integer("points", points, least=4)
    chosen = tuple(check_integer("frequencies", f) for f in frequencies)
    if not chosen or max(chosen) >= n / 2:
        found = f"frequencies {list(frequencies)} on {n} points"
        raise InputError(found, accepted="frequencies below half the number of points", fix="Take more points")
    return chosen, n
