"""Implements the training loop that all of gnomon uses.

    w_{s+1} = w_s - lr g(w_s),    g = gradient of the mean loss over a batch                             (1)

A run is reproducible from its seed, and global random states are as they were. Steps are taken in training mode;
what is recorded is measured in eval mode, on all examples.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, TimeLimitError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_module
from gnomon.core.machine.clock import Clock
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.copies import copy_to_train
from gnomon.core.modules.preserve import random_state, set_mode
from gnomon.training.adversary import Adversary
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.log import Log, Watcher
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.plan import BatchPlan, RecordingPlan, TrainingPlan, deadline
from gnomon.training.recorder import Recorder
from gnomon.training.run import TrainingRun
from gnomon.training.torch_optimizers import OptimizerChoice, resolve_optimizer


@add_call_to_errors
def train(
    module: nn.Module,
    data: Any,
    *,
    test: Any = None,
    loss: Loss | None = None,
    optimizer: OptimizerChoice | None = None,
    steps: int = 1000,
    batch: int | BatchPlan | None = None,
    record: int | Sequence[int] | RecordingPlan | None = None,
    outputs: bool = False,
    watch: Mapping[str, Watcher] | None = None,
    budget: float | None = None,
    mode: str = "train",
    seed: int = 0,
    in_place: bool = False,
    adversary: Adversary | None = None,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock = perf_counter,
) -> TrainingRun:
    """Trains a copy of a module by gradient steps on batches; returns the trained copy and measurements of the run.

        L = (1 / n) sum_i l(f(x_i), y_i),    time = lr x number of steps                                   (1)

    The module stays as it was; the trained copy is ``run.model``. With ``in_place=True`` the module itself is trained,
    and nothing of it but parameters and buffers is changed. Only parameters that require gradients move. If the
    loss is no longer finite, or Ctrl-C is pressed, the run ends, says so, and has the model of its last recorded step.

    Args:
        module: any module from inputs to one tensor (or a record with ``logits``).
        data: a pair (inputs, targets), a ``Dataset``, a ``DataLoader`` or batches. Inputs are a tensor, a tuple of
            arguments or a dict of named ones; targets are numbers (n,) or (n, k), or integer classes (n,), which are
            one-hot rows for the squared loss.
        test: further examples with targets, in the same forms; they are measured and never trained on.
        loss: `Squared`, `CrossEntropy`, ... or a function (outputs, targets) -> mean loss. By default cross-entropy
            for integer targets and squared loss for real ones.
        optimizer: ``Adam(lr)``, the default, or ``SGD(lr, momentum=...)``; "adam", "adamw", "sgd"; a class of
            torch.optim, ``lambda p: torch.optim.SGD(p, lr=0.1)``, or one of the module, which is copied with its state.
        steps: to take.
        batch: examples in a batch, drawn by the seed, each once in n / batch steps (a stream is read into memory for
            that), or `BatchPlan`, of a loader or with augmentation; by default, all examples at every step.
        record: measure every ``record`` steps, or at a list of steps; by default at 60, closer together early on.
            The first state and the last are always recorded. `RecordingPlan` limits the sample and the time.
        outputs: keep the outputs on all examples at recorded steps.
        watch: functions of (step, model, loss) by name, called at recorded steps; ``run.watched`` is what they return.
        budget: seconds; the run ends with the first step beyond it.
        mode: of the module during steps. "eval" turns dropout off and leaves batch statistics as they are.
        seed: of the batches and of dropout.
        in_place: train the module itself, not a copy.
        adversary: moves the inputs of every step to increase the loss, `Adversary`; records are made without.
        progress: called with (steps done, steps) after each step.
        clock: what ``budget`` is measured with, once per step.

    Hypotheses: none. Reference: [robbins1951stochastic].
    Cost: a forward and a backward pass for each step, a forward pass on all examples for each record.

    >>> from gnomon.training import SGD
    >>> net, x, y = nn.Linear(2, 1, bias=False), torch.eye(2), torch.tensor([1.0, -1.0])
    >>> run = train(net, (x, y), optimizer=SGD(0.5), steps=60)         # each weight's error shrinks by 1 - 0.5 / 2
    >>> torch.allclose(run.model.weight, torch.tensor([[1.0, -1.0]]), atol=1e-6)
    True
    """
    _check(module, mode)
    start = clock()
    plan = TrainingPlan.of(steps, batch, record, seed, deadline(clock, start, budget))
    with torch.inference_mode(False), torch.enable_grad(), random_state(plan.seed):
        model = module if in_place else copy_to_train(module)
        whole = Objective.of(data, model, loss)
        objective = whole.indexable() if plan.draws_examples else whole
        held_out = None if test is None else Objective.of(test, model, objective.loss)
        rule, shown = resolve_optimizer(optimizer, module), objective.sample(plan.records.examples, plan.seed)
        tested = None if held_out is None else held_out.sample(plan.records.examples, plan.seed)
        log = Log(model, shown, tested, plan.batch, watch or {}, outputs, [], [])
        recorder = Recorder(log, plan, start, budget, clock)
        with set_mode(model, "train" if mode == "train" else "eval"):
            seen, stopped = _take_steps(model, objective, rule, plan, recorder, progress, adversary)
    return log.run(rule, stopped, clock() - start, seen / len(objective))


def _take_steps(
    model: nn.Module,
    objective: Objective,
    optimizer: AbstractOptimizer,
    plan: TrainingPlan,
    recorder: Recorder,
    progress: Callable[[int, int], None] | None,
    adversary: Adversary | None,
) -> tuple[int, str]:
    """Takes all training steps; returns the number of examples used and the reason why training ended."""
    moved = [p for p in model.parameters() if p.requires_grad]
    memory, feed, seen = optimizer.memory(moved), plan.feed(objective), 0
    shown = with_progress_bar(range(1, plan.steps + 1), "training steps")
    try:
        for step in shown:
            pair = next(feed)
            at = None if adversary is None else (adversary, step)
            optimizer.move(moved, partial(_gradient, model, objective, pair, moved, at), memory, step)  # (1)
            seen += len(objective) if pair is None else len(pair[1])
            late = recorder.late()
            if not recorder.after(step, last=late or step == plan.steps):
                recorder.log.restore()
                return seen, "diverged"
            if progress is not None:
                progress(step, plan.steps)
            if late:
                return seen, "time"
    except _Diverged:
        recorder.log.restore()
        return seen, "diverged"
    except KeyboardInterrupt:
        recorder.log.restore()
        return seen, "interrupted"
    except TimeLimitError:
        recorder.log.restore()
        raise
    finally:
        shown.close()
    return seen, "finished"


class _Diverged(Exception):
    """Raised if the loss becomes infinite or NaN within a training step."""


@torch.enable_grad()
def _gradient(
    model: nn.Module,
    objective: Objective,
    pair: tuple[Inputs, Tensor] | None,
    moved: list[nn.Parameter],
    adversary: tuple[Adversary, int] | None,
) -> tuple[Tensor, Sequence[Tensor | None]]:
    """Computes the mean loss of some or all examples and its gradients, accumulated over batches."""
    n = len(objective) if pair is None else len(pair[1])
    total: Tensor = torch.zeros(())
    sums: list[Tensor | None] = [None] * len(moved)
    for x, y in objective.batches() if pair is None else [pair]:
        if adversary is not None:
            x = adversary[0].moved_inputs(model, objective, x, y, adversary[1])
        value, gradients = _of_batch(model, objective, x, y, moved)
        if len(y) == n:
            return value, gradients
        share = len(y) / n
        total = total.to(value) + share * value
        sums = [s if g is None else share * g if s is None else s + share * g
                for s, g in zip(sums, gradients, strict=True)]  # fmt: skip
    return total, sums


def _of_batch(
    model: nn.Module, objective: Objective, x: Inputs, y: Tensor, moved: list[nn.Parameter]
) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    value = objective.value(model, x, y)
    if not isfinite(float(value.detach())):
        raise _Diverged
    return value.detach(), torch.autograd.grad(value, moved, allow_unused=True)


def _check(module: nn.Module, mode: str) -> None:
    check_module(module)
    if not any(p.requires_grad for p in module.parameters()):
        fix = "Call requires_grad_() on the parameters to train"
        raise InputError("no parameter requires a gradient", accepted="at least one trainable parameter", fix=fix)
    if mode not in ("train", "eval"):
        raise out_of_range_error("mode", '"train" or "eval"', mode)
