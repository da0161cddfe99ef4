"""Finds learning rates and initialization scales at which training is stable.

    learning rates: one run whose rate grows geometrically, lr_s = low (high / low)^(s / steps), until it diverges  (1)
    scales: for each c, training from c w_0; the range of c whose final loss is within a factor of the best          (2)

Hypotheses: (1) the loss reacts within a few steps. Reference: [smith2017cyclical] for (1); [zhang2019fixup] for (2).

>>> LrRange((1e-3, 1e-2, 0.1), (1.0, 0.8, 0.9), "diverged").steepest
0.01
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, nan
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number, check_seed
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import random_state, set_mode
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.training import SGD, Adam, train
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import trainable_parameters
from gnomon.training.torch_optimizers import OptimizerChoice, resolve_optimizer

__all__ = ["LrRange", "InitializationScaleRange", "lr_range", "initialization_scale_range"]

DIVERGED_LOSS_FACTOR = 4.0
"""Multiple of the initial loss above which a run counts as diverged."""
TRAINABLE_LOSS_FACTOR = 2.0
"""Multiple of the best final loss up to which an initialization counts as trainable."""


@dataclass(frozen=True, slots=True)
class LrRange(Result):
    """Learning rates that one run tried in growing order, the batch loss at each, and how the run ended."""

    lrs: tuple[float, ...]
    losses: tuple[float, ...]
    stopped: str

    @property
    def steepest(self) -> float:
        """The learning rate at which the loss falls fastest per factor of ten, a good choice for training.

        Compares means over a tenth of the steps on both sides, which averages out the noise of batches.
        """
        n = len(self.losses)
        w = max(1, n // 10)
        falls = [sum(self.losses[i - w : i]) / w - sum(self.losses[i : i + w]) / w for i in range(w, n - w + 1)]
        return self.lrs[w + falls.index(max(falls))]

    @property
    def largest(self) -> float:
        """The learning rate with the smallest smoothed loss; training gets worse with larger learning rates."""
        smooth = _smooth(self.losses)
        return self.lrs[smooth.index(min(smooth))]

    @property
    def verdict(self) -> str:
        """A sentence that says which learning rates to use."""
        end = "diverges" if self.stopped == "diverged" else "stops improving"
        return f"The loss falls fastest near lr = {self.steepest:.2g} and {end} beyond {self.largest:.2g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the batch loss over the learning rate."""
        marks = (Line("loss of the batch", self.lrs, self.losses), Line("smoothed", self.lrs, _smooth(self.losses)),
                 Reference("steepest", self.steepest, vertical=True))  # fmt: skip
        return (Plot("Range of learning rates", marks, Axis("learning rate", log=True), Axis("loss"), self.verdict),)


@dataclass(frozen=True, slots=True)
class InitializationScaleRange(Result):
    """Factors by which initial weights were multiplied, and the final loss for each factor; NaN if training
    diverged.
    """

    scales: tuple[float, ...]
    losses: tuple[float, ...]

    @property
    def trainable(self) -> tuple[float, ...]:
        """The factors of the initial weights whose final loss is within a factor of 2 of the best."""
        known = [v for v in self.losses if isfinite(v)]
        best = min(known) if known else nan
        return tuple(
            s
            for s, v in zip(self.scales, self.losses, strict=True)
            if isfinite(v) and v <= TRAINABLE_LOSS_FACTOR * best
        )

    @property
    def verdict(self) -> str:
        """A sentence with the range of factors of the initial weights from which training works."""
        if not self.trainable:
            return "Training diverged from every scale of the initial weights."
        low, high = self.trainable[0], self.trainable[-1]
        return f"Training works from initial weights scaled by {low:g} to {high:g}, a factor {high / low:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the final loss over the factor of the initial weights."""
        known = [(s, v) for s, v in zip(self.scales, self.losses, strict=True) if isfinite(v)]
        line = Line("final loss", [s for s, _ in known], [v for _, v in known])
        return (Plot("Scale of the initial weights", (line,), Axis("scale", log=True), Axis("loss"), self.verdict),)


@add_call_to_errors
@limit_time
def lr_range(
    module: nn.Module,
    data: Any,
    *,
    low: float = 1e-5,
    high: float = 10.0,
    steps: int = 100,
    batch: int = 64,
    optimizer: OptimizerChoice | None = None,
    loss: Loss | None = None,
    seed: int = 0,
    budget: float | None = None,
) -> LrRange:
    """Finds the usable learning rates from one run whose learning rate grows until training diverges.

    See equation (1) of the module docstring.

    Args:
        module: left as it was; a copy is trained, in training mode.
        data: as in `gnomon.train`.
        low: the first learning rate.
        high: the last.
        steps: number of steps of the run.
        batch: examples in a batch.
        optimizer: as in `gnomon.train`, whose own learning rate is not used; by default plain descent.
        loss: as in `gnomon.train`.
        seed: random seed for the batches.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: see the module. Reference: [smith2017cyclical].
    Cost: a gradient for each step.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(net.weight)
    >>> result = lr_range(net, (torch.ones(8, 1), torch.zeros(8)), low=0.01, high=100.0, steps=80)      # H = 1: limit 2
    >>> result.stopped, 0.1 < result.largest < 10
    ('diverged', True)
    """
    check_module_is_callable(module)
    first, last = check_number("low", low, above=0), check_number("high", high, above=0)
    count, size, seed = check_integer("steps", steps, least=3), check_integer("batch", batch), check_seed(
        seed)  # fmt: skip
    if not first < last:
        raise InputError(f"low must be below high, but they are {first:g} and {last:g}")
    rates = [first * (last / first) ** (s / (count - 1)) for s in range(count)]  # (1)
    model, stopped = copy_module(module), "finished"
    losses: list[float] = []
    rule = SGD(first) if optimizer is None else resolve_optimizer(optimizer, module)
    with random_state(seed), torch.inference_mode(False), torch.enable_grad():
        objective = Objective.of(data, model, loss).indexable()
        moved = trainable_parameters(model)
        memory = rule.memory(moved)
        with set_mode(model, "train"):
            for step, rate in enumerate(with_progress_bar(rates, "steps"), 1):
                index = torch.randperm(len(objective))[:size]
                value = objective.value(model, *objective.at(index))
                now = float(value.detach())
                if not isfinite(now) or (losses and now > DIVERGED_LOSS_FACTOR * losses[0]):
                    stopped = "diverged"
                    break
                losses.append(now)
                slopes = torch.autograd.grad(value, moved, allow_unused=True)
                if isinstance(memory, torch.optim.Optimizer):
                    for group in memory.param_groups:
                        group["lr"] = rate
                elif isinstance(rule, SGD | Adam):
                    rule = replace(rule, lr=rate)
                rule.move(moved, partial(_lookup, value.detach(), slopes), memory, step)
    if len(losses) < 3:
        raise InputError(f"the loss diverged at the first learning rate, {first:g}. Pass a smaller low")
    return LrRange(tuple(rates[: len(losses)]), tuple(losses), stopped)


@add_call_to_errors
def initialization_scale_range(
    module: nn.Module,
    data: Any,
    *,
    scales: Sequence[float] = (0.1, 0.3, 1.0, 3.0, 10.0),
    steps: int = 200,
    optimizer: OptimizerChoice | None = None,
    batch: int | None = None,
    loss: Loss | None = None,
    seed: int = 0,
) -> InitializationScaleRange:
    """Trains copies of a network with initial weights (not biases) multiplied by several factors, and compares losses.

    Args:
        module: an untrained network; left as it was.
        data: as in `gnomon.train`.
        scales: factors in increasing order.
        steps: number of steps of each run; ``optimizer``, ``batch``, ``loss`` and ``seed`` as in `gnomon.train`.
        optimizer: see ``steps``.
        batch: see ``steps``.
        loss: see ``steps``.
        seed: see ``steps``.

    Hypotheses: none. Reference: [zhang2019fixup].
    Cost: a training run for each scale.

    >>> data = torch.eye(2), torch.ones(2)
    >>> result = initialization_scale_range(nn.Linear(2, 1), data, scales=(0.5, 1.0), steps=300)
    >>> len(result.losses)
    2
    """
    check_module_is_callable(module)
    factors = tuple(check_number("scales", c, above=0) for c in scales)
    losses = []
    for c in factors:
        scaled = copy_module(module)
        with torch.no_grad():
            for p in scaled.parameters():
                if p.dim() > 1:
                    p.mul_(c)
        run = train(scaled, data, loss=loss, optimizer=optimizer, steps=steps, batch=batch, seed=seed, record=[steps])
        losses.append(nan if run.raise_if_interrupted().stopped == "diverged" else float(run.loss[-1]))  # (2)
    return InitializationScaleRange(factors, tuple(losses))


def _lookup(value: Tensor, slopes: Sequence[Tensor | None]) -> tuple[Tensor, Sequence[Tensor | None]]:
    return value, slopes


def _smooth(values: Sequence[float], width: int = 5) -> list[float]:
    """Returns the running means of a list of numbers, over a few neighbors on both sides."""
    half = width // 2
    return [sum(part) / len(part) for i in range(len(values)) if (part := values[max(0, i - half) : i + half + 1])]
