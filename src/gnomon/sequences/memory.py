"""Measures how far back a sequence network remembers: how sensitive its last output is to inputs at every lag.

    s(lag) = mean over examples of |dy_T / dx_{T - lag}|,    s(lag) ~ C exp(-lag / length)                 (1)

A network whose state has a recurrent matrix U and slopes at most alpha has s(lag) <= (alpha |U|)^lag times a constant.
Inputs many lengths back cannot be learned from, because their gradient is lost among the others.
Reference: [pascanu2013difficulty].
"""

from dataclasses import dataclass
from math import exp, inf, isfinite, log
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Finding, Line, Plot, Result, Scatter, Value
from gnomon.findings import structured as kinds
from gnomon.sequences.batch import first_examples, replace_argument, sequence_argument

__all__ = ["MemoryLength", "memory_length"]

MIN_RELATIVE_SENSITIVITY = 1e-3
"""Share of the largest sensitivity below which an input is learned a thousand times more slowly."""
ROUNDING_SHARE = 1e-12
"""Share of the largest sensitivity that counts as rounding and is excluded from the fit."""
RANDOM_DIRECTIONS = 4
"""Number of random directions of the output."""


@dataclass(frozen=True, slots=True)
class MemoryLength(Result):
    """Result: how sensitive the last output is to the input at each lag, and the fitted memory length in steps.

    See equation (1) of the module docstring.
    ``length`` is in steps, infinite if sensitivity does not fall. ``asked`` is the lag that the task needs, if given.

    >>> MemoryLength((1.0, 0.7, 0.5), 2 / log(2)).verdict
    'The influence of an input halves every 2 steps back in time and reaches 2 steps back.'
    """

    sensitivity: tuple[float, ...]
    length: float
    asked: int | None = None

    @property
    def reach(self) -> int:
        """Returns the largest lag at which the last output is still noticeably sensitive to the input."""
        top = max(self.sensitivity)
        return max(i for i, s in enumerate(self.sensitivity) if s >= MIN_RELATIVE_SENSITIVITY * top)

    @property
    def verdict(self) -> str:
        """Says how many steps back the network remembers."""
        if self.length == inf:
            return f"The outputs depend as much on inputs {len(self.sensitivity) - 1} steps back as on the last ones."
        half = self.length * log(2)
        return (
            f"The influence of an input halves every {half:.3g} steps back in time and reaches {self.reach} steps back."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the network does not remember the lag that the task needs."""
        if self.asked is None or self._at(self.asked) >= MIN_RELATIVE_SENSITIVITY * max(self.sensitivity):
            return ()
        ratio = self._at(self.asked) / max(self.sensitivity)

        evidence = (Value("sensitivity ratio", ratio), Value("memory length", self.length))
        return (Finding(kinds.MEMORY_TOO_SHORT, "", {"lag": self.asked, "ratio": ratio}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the sensitivity of the last output over the lag of the input, with the fitted decay."""
        lags = list(range(len(self.sensitivity)))
        marks: list[Line | Scatter] = [Scatter("measured", lags, list(self.sensitivity), 0)]
        if isfinite(self.length) and max(self.sensitivity) > 0:
            top = max(self.sensitivity)
            marks.append(Line("fit", lags, [top * exp(-lag / self.length) for lag in lags], color=0))
        return (Plot("Memory", tuple(marks), Axis("lag (steps)"), Axis("sensitivity", log=True), id="memory"),)

    def _at(self, lag: int) -> float:
        """Returns the sensitivity of the last output at a lag, extrapolated beyond the sequence length."""
        if lag < len(self.sensitivity):
            return self.sensitivity[lag]
        return self.sensitivity[-1] * (
            exp(-(lag - len(self.sensitivity) + 1) / self.length) if self.length < inf else 1
        )


@add_call_to_errors
def memory_length(module: nn.Module, data: Any, *, lag: int | None = None) -> MemoryLength:
    """Measures how sensitive the last output is to the input at each lag, and whether the lag of the task is in reach.

    Args:
        module: takes (n, times, features) or tokens (n, times) and returns (n, times, ...) or (n, ...).
        data: sequences of equal length, a dict of arguments, or a data set; a few are enough.
        lag: the number of steps back at which the answer lies.

    Hypotheses: inputs are real numbers, or tokens that the network embeds with ``nn.Embedding``; for tokens the
    derivative is with respect to their embeddings.
    Reference: [pascanu2013difficulty].
    Cost: one forward pass and `RANDOM_DIRECTIONS` backward passes.

    >>> class Leaky(nn.Module):
    ...     def forward(self, x):
    ...         return sum(0.5**k * x[:, -1 - k] for k in range(x.shape[1]))
    >>> round(memory_length(Leaky(), torch.ones(2, 12, 1, dtype=torch.float64)).length, 6) == round(1 / log(2), 6)
    True
    """
    check_module(module)
    asked = None if lag is None else check_integer("lag", lag)
    x = first_examples(data, module)
    place, given = sequence_argument(x)
    with preserve(module, seed=0):
        if given.is_floating_point():
            moved = [given.detach().clone().requires_grad_()]
            out = output_tensor(run_module(module, replace_argument(x, place, moved[0])))
        else:
            with _EmbeddingsOf(given) as embeddings:
                out = output_tensor(run_module(module, x))
            moved = embeddings.found
            if not moved:
                found = "forward looks up no embeddings of the tokens"
                raise InputError(
                    found,
                    accepted="a network with nn.Embedding",
                    fix="Pass a network that looks up tokens in nn.Embedding",
                )
        if out.dim() > 2 and out.shape[1] == given.shape[1]:
            out = out[:, -1]
        flat = out.reshape(len(given), -1)
        total = torch.zeros(given.shape[1], dtype=torch.float64)
        for _ in range(RANDOM_DIRECTIONS):
            direction = torch.randn_like(flat)
            grads = torch.autograd.grad((flat * direction).sum(), moved, retain_graph=True, allow_unused=True)
            for grad in grads:
                if grad is not None:
                    total += grad.detach().double().flatten(2).square().sum(2).mean(0).cpu()
    curve = tuple((total / RANDOM_DIRECTIONS).sqrt().flip(0).tolist())  # (1)
    if max(curve) == 0.0:
        raise InputError(
            "the output does not depend on the inputs", accepted="a network that uses its inputs", fix="Check forward"
        )
    return MemoryLength(curve, _length(curve), asked)


class _EmbeddingsOf(TorchFunctionMode):
    """Sees which embeddings a network looks up for some tokens; ``found`` are zeros that are added to them."""

    def __init__(self, tokens: Tensor) -> None:
        super().__init__()
        self.tokens, self.found = tokens, list[Tensor]()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is F.embedding and args[0].shape == self.tokens.shape and torch.equal(args[0], self.tokens):
            self.found.append(torch.zeros_like(result).requires_grad_())
            return result + self.found[-1]
        return result


def _length(curve: tuple[float, ...]) -> float:
    """Returns the memory length in steps, from an exponential fit to the sensitivity over lags."""
    start = max(range(len(curve)), key=curve.__getitem__)
    points = [(i, log(s)) for i, s in enumerate(curve) if i >= start and s > ROUNDING_SHARE * curve[start]]
    if start == len(curve) - 1:
        return inf  # The influence does not decay: the most distant input has the largest one.
    if len(points) < 2:
        return 1.0 / -log(ROUNDING_SHARE)
    mx, my = (sum(p[k] for p in points) / len(points) for k in (0, 1))
    slope = sum((i - mx) * (v - my) for i, v in points) / sum((i - mx) ** 2 for i, _ in points)
    return -1.0 / slope if slope < 0 else inf
