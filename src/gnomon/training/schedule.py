"""Changes the learning rate during training with any torch scheduler.

    w_{s+1} = w_s - lr_s g(w_s),    lr_s as the scheduler says after s steps                              (1)

The scheduler is built by a function of an optimizer, ``lambda o: CosineAnnealingLR(o, 20)``. As in torch's own loops it
moves once per epoch, and once per step for those that torch wants moved per step (`OneCycleLR`, `CyclicLR`).

Reference: [loshchilov2019decoupled] for schedules with Adam.

>>> import torch
>>> from gnomon.training.optimizers import SGD
>>> halved = ScheduledOptimizer(SGD(1.0), lambda o: torch.optim.lr_scheduler.StepLR(o, 1, gamma=0.5), epoch=1)
>>> w, memory = torch.zeros(1), halved.memory([torch.zeros(1)])
>>> for step in (1, 2, 3):
...     halved.move([w], lambda: (w.sum(), [torch.ones(1)]), memory, step)
>>> float(w)                                                                  # -(1 + 1/2 + 1/4)
-1.75
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import CyclicLR, LRScheduler, OneCycleLR

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.training.optimizers import SGD, AbstractOptimizer, Adam, Slope

__all__ = ["Schedule", "ScheduledOptimizer"]

Schedule = Callable[[Optimizer], LRScheduler]
"""A function that builds a torch scheduler for an optimizer."""
SMALLEST_RATE = 1e-30
"""Replaces a learning rate of zero, with which some schedules end."""


@dataclass(frozen=True, slots=True, eq=False)
class ScheduledOptimizer(AbstractOptimizer):
    """An optimizer whose learning rate a torch scheduler sets; ``epoch`` is the number of steps per pass over the
    data.
    """

    optimizer: AbstractOptimizer
    schedule: Schedule = field(repr=False, metadata=HIDDEN_IN_JSON)
    epoch: int

    @property
    def name(self) -> str:  # type: ignore[override]  # noqa: D102
        return self.optimizer.name

    @property
    def lr(self) -> float:  # type: ignore[override]
        """Returns the learning rate at the first step."""
        return self.optimizer.lr

    @add_call_to_errors("train(module, data)")
    def memory(self, parameters: Sequence[Tensor]) -> Any:
        """Returns the optimizer's state, and the scheduler with the torch optimizer whose learning rate it changes."""
        own = self.optimizer.memory(parameters)
        moved = own if isinstance(own, Optimizer) else torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=self.lr)
        made = self.schedule(moved)
        if not isinstance(made, LRScheduler):
            fix = "Pass schedule=lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 20)"
            raise InputError(
                f"the schedule returned an object of type {type(made).__name__}", accepted="a torch scheduler", fix=fix
            )
        return own, moved, made

    def move(self, parameters: Sequence[Tensor], slope: Slope, memory: Any, count: int) -> None:
        """Takes one step at the current learning rate; then advances the scheduler if a change is due."""
        own, moved, scheduler = memory
        rule = self.optimizer
        if isinstance(rule, SGD | Adam):
            lr = float(moved.param_groups[0]["lr"])
            rule = replace(rule, lr=max(lr, SMALLEST_RATE))
        rule.move(parameters, slope, own, count)  # (1)
        if isinstance(scheduler, OneCycleLR | CyclicLR) or count % self.epoch == 0:
            with warnings.catch_warnings():
                # Hides torch's warning that the optimizer took no steps: the schedule is only read, not used to train.
                warnings.simplefilter("ignore", UserWarning)
                scheduler.step()
