"""Computes numbers of a training run: time to half the loss, early stopping, effective learning rate.

    t_half: the first time at which the loss is half of its start                                                (1)
    patience p: stop at the first record whose best test loss is p records old; keep the best                     (2)
    constant gradients move heavy-ball momentum by  lr / (1 - momentum)  a step                                   (3)

Hypotheses: (2) losses on examples that are not trained on.
Reference: [geiger2020disentangling] for (1); [prechelt1998early] for (2); [polyak1964some] for (3).

>>> effective_lr(SGD(0.1, momentum=0.9))
1.0...
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.training.optimizers import SGD
from gnomon.training.run import TrainingRun
from gnomon.training.torch_optimizers import OptimizerChoice, TorchOptimizer, resolve_optimizer

__all__ = ["EarlyStopping", "effective_lr", "half_loss_time", "stop_by_patience"]


@dataclass(frozen=True, slots=True)
class EarlyStopping(Result):
    """Result: the recorded step at which early stopping ends training, the best recorded step, and all test losses."""

    stop: int
    best: int
    losses: tuple[float, ...]
    checks: int

    @property
    def stops(self) -> bool:
        """Checks whether early stopping ends training before the last recorded step."""
        return self.stop < len(self.losses) - 1

    @property
    def verdict(self) -> str:
        """Says in one sentence when early stopping ends training and which loss it keeps."""
        kept, last = self.losses[self.best], self.losses[-1]
        if not self.stops:
            return (
                f"Early stopping with a patience of {self.checks} records never stops; the best loss, {kept:.4g}, "
                f"is at record {self.best}."
            )
        head = (
            f"Early stopping with a patience of {self.checks} records stops at record {self.stop} and keeps the "
            f"loss {kept:.4g}"
        )
        return f"{head}; the last loss is {last:.4g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the test losses, and marks the end by early stopping and the best step."""
        marks = (Line("test loss", range(len(self.losses)), self.losses), Reference("stop", float(self.stop), True),
                 Reference("best", float(self.best), True))  # fmt: skip
        return (Plot("Patience", marks, Axis("record"), Axis("loss"), self.verdict),)


@add_call_to_errors
def half_loss_time(run: TrainingRun) -> float:
    """Returns the time (learning rate times steps) until the training loss is half its initial value.

    See equation (1) of the module docstring.
    Between two records the time is interpolated linearly; infinite if the loss never halves.
    Hypotheses: see the module. Reference: [geiger2020disentangling].

    >>> import torch
    >>> from torch import nn
    >>> from gnomon.training import train
    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(net.weight)
    >>> run = train(net, (torch.ones(1, 1), torch.zeros(1)), optimizer=SGD(0.01), steps=100, record=1)
    >>> abs(half_loss_time(run) - 0.3466) < 0.01                                    # exp(-2 t) = 1/2 at log(2) / 2
    True
    """
    times, losses = run.times.tolist(), run.loss.tolist()
    goal = losses[0] / 2
    for (t0, a), (t1, b) in zip(zip(times, losses, strict=True), zip(times[1:], losses[1:], strict=True), strict=False):
        if b <= goal:
            return float(t0 + (a - goal) / (a - b) * (t1 - t0))  # (1)
    return inf


@add_call_to_errors
def stop_by_patience(run: TrainingRun | Sequence[float], *, checks: int) -> EarlyStopping:
    """Finds the recorded step at which early stopping would end training, from the test losses of a run.

    See equation (2) of the module docstring.

    Args:
        run: of `gnomon.train` with test examples, or the losses themselves.
        checks: records without a new best after which training stops.

    Hypotheses: see the module. Reference: [prechelt1998early].

    >>> found = stop_by_patience([3.0, 2.0, 1.0, 1.5, 1.2, 1.4, 0.5], checks=3)
    >>> found.stop, found.best                                               # 0.5 comes too late
    (5, 2)
    """
    p = check_integer("checks", checks)
    found: Any = run.test_loss if isinstance(run, TrainingRun) else run
    if found is None or len(found) == 0:
        fix = "Train with test=..., or pass losses"
        raise InputError("the run has no test losses", accepted="losses on held-out examples", fix=fix)
    losses = tuple(float(v) for v in found)
    best = 0
    for i, value in enumerate(losses):
        if value < losses[best]:
            best = i
        if i - best >= p:
            return EarlyStopping(i, best, losses, p)  # (2)
    return EarlyStopping(len(losses) - 1, best, losses, p)


@add_call_to_errors
def effective_lr(optimizer: OptimizerChoice) -> float:
    """Returns how far a constant gradient of size one moves the parameters per step in the long run.

    See equation (3) of the module docstring.

    Args:
        optimizer: of `gnomon.training` or torch.optim: SGD with or without momentum.

    Hypotheses: see the module; heavy-ball or Nesterov momentum without dampening. Reference: [polyak1964some].

    >>> import torch
    >>> round(effective_lr(lambda p: torch.optim.SGD(p, lr=0.2, momentum=0.5)), 6)
    0.4
    """
    rule = resolve_optimizer(optimizer, None)
    if isinstance(rule, SGD):
        return rule.lr / (1 - rule.momentum)  # (3)
    if isinstance(rule, TorchOptimizer) and rule.name == "SGD":
        group = rule.groups[0]
        return float(group["lr"]) * (1 - float(group.get("dampening", 0))) / (1 - float(group["momentum"]))
    fix = "Use lr itself: Adam divides by the size of gradients"
    raise InputError(f"the optimizer is {rule.name}", accepted="gradient descent with momentum", fix=fix)
