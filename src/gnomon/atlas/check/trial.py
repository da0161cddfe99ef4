"""Trains a user's network for a short time; all statements of the theory are then checked on this run.

>>> import torch
>>> from torch import nn
>>> x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
>>> told = train_trial(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)), (x, (x[:, 0] > 0).long()), steps=20)
>>> told.lr <= 2 / told.sharpness, len(told.margins) == len(told.run.steps)
(True, True)
"""

from dataclasses import dataclass
from math import isfinite
from time import perf_counter
from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.machine.clock import Clock
from gnomon.core.metrics import class_margins
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results.record import Record
from gnomon.examination.subject import build_subject
from gnomon.examination.task import Examples, Task
from gnomon.landscape import sharpness
from gnomon.training import SGD, TrainingRun, train

__all__ = ["MAX_KERNEL_EXAMPLES", "TrainingTrial", "train_trial"]

MAX_KERNEL_EXAMPLES = 64
"""Examples on which kernels are computed, at most."""
MAX_TRAIN_EXAMPLES = 512
"""Training examples, at most."""
MAX_RATE_ATTEMPTS = 4
"""Runs, at most, if no learning rate is given."""
FALLEN_LOSS_SHARE = 0.98
"""Share of its start below which the loss has fallen."""
ROUNDING_SHARE = 1e-5
"""Relative change of the loss that counts as rounding of float32 sums."""
LONG_RUN_STEPS = 100
"""Steps of a long run."""
MAX_SECONDS = 120.0
"""Seconds of the training run, at most; a run that is cut short says so."""
CURVATURE_PASSES = 100
"""Forward passes that the curvature takes."""
TIMED_EXAMPLES = 16
"""Examples on which a pass is timed."""
MIN_EXAMPLES = 32
"""Examples that are always kept."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingTrial(Record):
    """A network before and after a short run of full-batch gradient descent on some of the data.

    ``sharpness`` is the largest curvature of the loss before the run, ``margins`` the smallest margin at each recorded
    step (empty without classes), each with the norm of all parameters then.
    """

    before: nn.Module
    run: TrainingRun
    examples: Examples
    task: Task
    lr: float
    sharpness: float
    margins: tuple[tuple[float, float], ...]

    @property
    def after(self) -> nn.Module:
        """Returns the network after the short training run."""
        return self.run.model

    @property
    def few(self) -> Examples:
        """Returns the small subset of examples on which tangent kernels are computed."""
        return self.examples.some(MAX_KERNEL_EXAMPLES)

    @add_call_to_errors("check_network(network, data)")
    def table(self, y: Tensor) -> Tensor:
        """Returns the targets as a matrix of numbers, one row per example."""
        return self.task.table(y)


@add_call_to_errors
def train_trial(
    network: Any,
    data: Any,
    *,
    lr: float | None = None,
    steps: int = 300,
    seconds: float = MAX_SECONDS,
    seed: int = 0,
    clock: Clock = perf_counter,
) -> TrainingTrial:
    """Trains a copy of a network for a short time by full-batch gradient descent on at most 512 of its examples.

        w' = w - lr grad L(w),    lr = 1 / lambda_1(H) at the start if none is given                          (1)

    If the loss has not fallen in the end, although it rose on its way or took many steps, and no rate is given, a
    quarter of it is tried, three times at most. If the curvature on all examples would take more than half of
    ``seconds``, fewer are taken.

    Hypotheses: the network gives one tensor with a row for each example.
    Reference: [cohen2021gradient], for the curvature.
    Cost: about 25 Hessian-vector products, and as many forward and backward passes as steps.

    >>> import torch
    >>> x = torch.eye(2)
    >>> round(train_trial(nn.Linear(2, 1, bias=False), (x, torch.ones(2)), steps=3).lr, 3)      # H = 1/2
    2.0
    """
    whole = build_subject(network, data, None, optimizer=None, seed=seed, probe=MAX_TRAIN_EXAMPLES)
    deadline = clock() + seconds
    examples, task = _affordable(whole.module, whole.probe, seconds, clock), whole.task
    if not any(p.requires_grad for p in whole.module.parameters()):
        fix = "Call module.requires_grad_(True) first"
        raise InputError("no parameter requires a gradient", accepted="a network that can be trained", fix=fix)
    y = task.loss_targets(examples.y)
    curvature = sharpness(whole.module, (examples.x, y), loss=task.loss, seed=seed).value
    if lr is not None and not (isfinite(lr) and lr > 0):
        raise out_of_range_error("lr", "a positive number", lr)
    rate = lr if lr is not None else 1 / max(curvature, 1e-3)  # (1)
    watch = {"margin": lambda _, model, __: _margin(model, examples.x, examples.y)} if task.classes > 1 else {}
    watch["norm"] = lambda _, model, __: _norm(model)
    for attempt in range(1 if lr is not None else MAX_RATE_ATTEMPTS):
        rate = rate / 4 if attempt else rate
        run = train(
            whole.module, (examples.x, y), loss=task.loss, optimizer=SGD(rate), steps=steps, watch=watch, seed=seed,
            budget=max(deadline - clock(), 1.0), record=max(1, steps // 20), clock=clock,
        )  # fmt: skip
        first = float(run.loss[0])
        rose = run.stopped == "diverged" or float(run.loss.max()) > (1 + ROUNDING_SHARE) * first
        if float(run.loss[-1]) < FALLEN_LOSS_SHARE * first or not (rose or steps >= LONG_RUN_STEPS):
            break
    margins = tuple(zip(map(float, run.watched.get("margin", ())), map(float, run.watched["norm"]), strict=False))
    return TrainingTrial(whole.module, run, examples, task, rate, float(curvature), margins)


def _affordable(module: nn.Module, examples: Examples, seconds: float, clock: Clock) -> Examples:
    """Chooses how many examples to use, so that computing the curvature fits the time limit; times one forward pass for
    this.
    """
    few = examples.some(TIMED_EXAMPLES)
    outputs_in_eval_mode(module, few.x)
    start = clock()
    outputs_in_eval_mode(module, few.x)
    each = (clock() - start) / len(few)
    return examples if each <= 0 else examples.some(max(MIN_EXAMPLES, int(seconds / 2 / CURVATURE_PASSES / each)))


def _norm(model: nn.Module) -> float:
    return sum(float((p.detach().double() ** 2).sum()) for p in model.parameters() if p.requires_grad) ** 0.5


def _margin(model: nn.Module, x: Inputs, y: Tensor) -> float:
    """Returns the smallest margin over examples: output of the correct class minus the largest other output."""
    return float(class_margins(outputs_in_eval_mode(model, x).double(), y).min())
