"""Possible fixes of the optimizer: learning rate, weight decay, eps, another optimizer, batch size, number of steps."""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from gnomon.checks.run.decay import weight_decay_of
from gnomon.checks.run.epsilon import epsilon_of
from gnomon.checks.run.step_size import scale_learning_rates
from gnomon.core.results import Finding
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject
from gnomon.training import SGD, Adam
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.plan import BatchPlan
from gnomon.training.schedule import ScheduledOptimizer
from gnomon.training.torch_optimizers import TorchOptimizer

__all__ = ["FIXES", "for_all_parameters", "optimizer_code"]

LOWER_FACTORS = (0.1, 0.01, 0.001)
"""Factors of the learning rate that are tried if it is too large."""
HIGHER_FACTORS = (10.0, 100.0, 1000.0, 10000.0)
"""Factors of the learning rate that are tried if it is too small."""
USUAL_DECAY = {True: 0.01, False: 1e-4}
"""Usual weight decay: decoupled from the gradient as in AdamW, or added to it."""
USUAL_EPSILON = 1e-8
"""Constant in the denominator of Adam's steps that is tried instead of a large one."""
USUAL_BATCH = 32
"""Batch size that is tried if the given one is too small."""
LARGE_BATCH_FACTOR = 8
"""Batches of this many times the usual size, or more, are called large."""
MAX_STEPS_OF_SMALL_BATCHES = 16
"""Steps with smaller batches, at most, as a multiple of the steps as given."""
USUAL_SGD_MOMENTUM = 0.9
"""Momentum of gradient descent that is tried instead of another one."""
MORE_STEPS = 4
"""Factor of the number of steps that is tried if training is too short."""
MIN_STEPS = 30
"""Fewest steps with a larger batch."""


def optimizer_code(optimizer: AbstractOptimizer) -> str:
    """Returns the line of Python code that creates an optimizer, to show it to the user.

    >>> optimizer_code(SGD(0.1, momentum=0.9))
    'torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)'
    """
    inner = optimizer.optimizer if isinstance(optimizer, ScheduledOptimizer) else optimizer
    decay, apart = weight_decay_of(inner)
    name = "SGD" if isinstance(inner, SGD) else "Adam" if isinstance(inner, Adam) else inner.name
    name = "AdamW" if name == "Adam" and decay and apart else name
    first = inner.groups[0] if isinstance(inner, TorchOptimizer) and inner.groups else {}
    momentum = inner.momentum if isinstance(inner, SGD) else float(first.get("momentum", 0.0) or 0.0)
    rest = (f", momentum={momentum:g}" if momentum else "") + (f", weight_decay={decay:g}" if decay else "")
    return f"torch.optim.{name}(model.parameters(), lr={inner.lr:.3g}{rest})"


def _with_optimizer(trial: TrialRun, optimizer: AbstractOptimizer, words: str) -> TrialChange:
    lines = (f"optimizer = {optimizer_code(rule)}" for rule in (trial.optimizer, optimizer))
    old = trial.optimizer
    made = replace(old, optimizer=optimizer) if isinstance(old, ScheduledOptimizer) else optimizer
    return TrialChange(replace(trial, optimizer=made), words, diff(*lines))


def _inner(trial: TrialRun) -> AbstractOptimizer:
    return trial.optimizer.optimizer if isinstance(trial.optimizer, ScheduledOptimizer) else trial.optimizer


def _rates(trial: TrialRun, factors: Sequence[float]) -> tuple[TrialChange, ...]:
    own = _inner(trial)
    return tuple(_with_optimizer(trial, scale_learning_rates(own, c), f"lr={own.lr * c:.3g}") for c in factors)


def lower_rate(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains with smaller learning rates, including the one that the problem report suggests."""
    named = float(finding.values.get("other", finding.values.get("half", 0.0)) or 0.0) / _inner(trial).lr
    return _rates(trial, sorted({*LOWER_FACTORS, *([named] if 1e-6 < named < 1 else [])}, reverse=True))


def higher_rate(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains with larger learning rates, including the one that the problem report suggests."""
    named = float(finding.values.get("other", 0.0) or 0.0) / _inner(trial).lr
    return _rates(trial, sorted({*HIGHER_FACTORS, *([named] if named > 1 else [])}))


def usual_decay(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains with a usual weight decay instead of a large one."""
    own = _inner(trial)
    decay, apart = weight_decay_of(own)
    wanted = USUAL_DECAY[apart]
    if decay <= wanted:
        return ()
    return (_with_optimizer(trial, with_decay(own, wanted), f"weight_decay={wanted:g}"),)


def use_adam(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains with Adam at its default learning rate instead of another optimizer."""
    own = _inner(trial)
    return () if own.name.startswith("Adam") else (_with_optimizer(trial, Adam(), "Adam"),)


def usual_epsilon(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains with Adam's default eps instead of a large one."""
    own = _inner(trial)
    if isinstance(own, Adam):
        made: AbstractOptimizer = replace(own, eps=USUAL_EPSILON)
    elif isinstance(own, TorchOptimizer):
        made = _with_option(own, "eps", USUAL_EPSILON)
    else:
        return ()
    line = f"torch.optim.{own.name}(..., eps="
    change = _with_optimizer(trial, made, f"eps={USUAL_EPSILON:g}")
    return (replace(change, diff=diff(f"{line}{epsilon_of(own):g})", f"{line}{USUAL_EPSILON:g})")),)


def constant_rate(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains with the same learning rate in all epochs instead of a schedule."""
    if not isinstance(trial.optimizer, ScheduledOptimizer):
        return ()
    made = replace(trial, optimizer=trial.optimizer.optimizer)
    return (TrialChange(made, f"lr={made.optimizer.lr:.3g} in all epochs", diff("scheduler.step()", "")),)


def no_augmentation(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains on the inputs without augmentation."""
    if trial.batches.augment is None:
        return ()
    made = replace(trial, batches=replace(trial.batches, augment=None))
    return (TrialChange(made, "no augmentation", diff("x = augment(x)", "")),)


def all_parameters(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: passes all parameters of the module to the optimizer."""
    made = for_all_parameters(_inner(trial))
    change = _with_optimizer(trial, made, "all parameters in the optimizer")
    return (replace(change, diff=diff("", f"optimizer = {optimizer_code(made)}")),)


def larger_batch(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains with batches of 32; the number of steps falls so that the network sees as many examples."""
    size = trial.batches.size or (1 if trial.batches.loader is None else len(next(trial.batches.loader.batches())))
    if size >= USUAL_BATCH:
        return ()
    steps = max(MIN_STEPS, trial.steps * size // USUAL_BATCH)
    changed = replace(trial, batches=BatchPlan(USUAL_BATCH, None, trial.batches.augment), steps=steps)
    return (TrialChange(changed, f"batches of {USUAL_BATCH}", diff(f"batch_size={size}", f"batch_size={USUAL_BATCH}")),)


def smaller_batch(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: uses batches of 32 instead of large ones, which makes more steps of the same number of epochs."""
    size = trial.batches.size or 0
    if size < LARGE_BATCH_FACTOR * USUAL_BATCH:
        return ()
    steps = min(MAX_STEPS_OF_SMALL_BATCHES * trial.steps, trial.steps * size // USUAL_BATCH)
    changed = replace(trial, batches=BatchPlan(USUAL_BATCH, None, trial.batches.augment), steps=steps)
    words = f"batches of {USUAL_BATCH} instead of {size}, and {steps:,} steps"
    return (TrialChange(changed, words, diff(f"batch_size={size}", f"batch_size={USUAL_BATCH}")),)


def usual_sgd_momentum(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Fix: uses momentum 0.9 instead of a larger one, or instead of none."""
    own = _inner(trial)
    if not isinstance(own, SGD) or own.momentum == USUAL_SGD_MOMENTUM:
        return ()
    made = replace(own, momentum=USUAL_SGD_MOMENTUM)
    return (_with_optimizer(trial, made, f"momentum {USUAL_SGD_MOMENTUM:g} instead of {own.momentum:g}"),)


def longer_training(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: trains for four times as many steps."""
    more = replace(trial, steps=MORE_STEPS * trial.steps)
    words = f"{more.steps:,} steps instead of {trial.steps:,}"
    return (TrialChange(more, words, diff(f"steps = {trial.steps}", f"steps = {more.steps}")),)


def with_decay(optimizer: AbstractOptimizer, decay: float) -> AbstractOptimizer:
    """Returns a copy of the optimizer with another weight decay.

    >>> with_decay(SGD(0.1, decay=1.0), 0.5)
    SGD(lr=0.1, momentum=0.0, decay=0.5)
    """
    if isinstance(optimizer, SGD | Adam):
        return replace(optimizer, decay=decay)
    return _with_option(optimizer, "weight_decay", decay) if isinstance(optimizer, TorchOptimizer) else optimizer


def _with_option(optimizer: TorchOptimizer, name: str, value: float) -> TorchOptimizer:
    """Returns a copy of a torch optimizer with another value of one option."""
    inner = optimizer.build

    def build(parameters: Sequence[Tensor]) -> Optimizer:
        made = inner(parameters)
        for group in made.param_groups:
            group[name] = value
        return made

    groups = tuple({**group, name: value} for group in optimizer.groups)
    return replace(optimizer, groups=groups, build=build)


def for_all_parameters(optimizer: AbstractOptimizer) -> AbstractOptimizer:
    """Returns an optimizer of the same class and options that accepts any parameters.

    >>> for_all_parameters(SGD(0.1))
    SGD(lr=0.1, momentum=0.0, decay=0.0)
    """
    if not isinstance(optimizer, TorchOptimizer):
        return optimizer
    kind: Any = getattr(torch.optim, optimizer.name, None)
    if kind is None:
        return Adam(optimizer.lr)
    known = inspect.signature(kind).parameters
    options = {name: value for name, value in dict(optimizer.groups[0]).items() if name in known}
    return replace(optimizer, build=lambda parameters: kind(list(parameters), **options))


FIXES = (
    Fix("lower-rate", lower_rate),
    Fix("higher-rate", higher_rate),
    Fix("usual-decay", usual_decay),
    Fix("use-adam", use_adam),
    Fix("usual-epsilon", usual_epsilon),
    Fix("constant-rate", constant_rate),
    Fix("no-augmentation", no_augmentation),
    Fix("all-parameters", all_parameters),
    Fix("larger-batch", larger_batch),
    Fix("smaller-batch", smaller_batch),
    Fix("usual-sgd-momentum", usual_sgd_momentum),
    Fix("longer-training", longer_training),
)
