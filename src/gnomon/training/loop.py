"""The one training loop.

    w_{s+1} = w_s - lr g(w_s),    g = gradient of the mean loss over a batch                             (1)

A run is reproducible from its seed, and global random states are as they were. Steps are taken in training mode;
what is recorded is measured in eval mode, on all points.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.arrays import Array
from gnomon.core.checks import check_module, check_seed, integer, number
from gnomon.core.clock import Clock
from gnomon.core.errors import InputError, NotFiniteError, lesson
from gnomon.core.inputs import Inputs
from gnomon.core.losses import AbstractLoss
from gnomon.core.pure import evaluating, random_state, twin, undisturbed
from gnomon.training.evaluate import Loss, Points, by_targets
from gnomon.training.native import Choice, named
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.run import Run

CALL = "train(module, x, y)"
RECORDS = 60
"""Recorded steps, about, where the caller names none."""

Watcher = Callable[[int, nn.Module, float], Any]
"""Called at each recorded step with its number, the model in eval mode, and the training loss."""


def train(
    module: nn.Module,
    x: Inputs,
    y: Array,
    *,
    x_test: Inputs | None = None,
    y_test: Array | None = None,
    loss: Loss | None = None,
    optimizer: Choice | None = None,
    steps: int = 1000,
    batch: int | None = None,
    record: int | Sequence[int] | None = None,
    outputs: bool = False,
    watch: Mapping[str, Watcher] | None = None,
    seconds: float | None = None,
    mode: str = "train",
    seed: int = 0,
    in_place: bool = False,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock = perf_counter,
) -> Run:
    """Train a copy of a module on data by steps (1), and return what happened.

        L = (1 / n) sum_i l(f(x_i), y_i),    time = lr x number of steps                                   (1)

    The module that was given stays as it was; the trained one is ``run.model``. With ``in_place=True`` the given one
    is trained instead, and nothing of it but parameters and buffers is changed. Only parameters that require
    gradients move. Where the loss leaves the floats, or Ctrl-C is pressed, the run ends, says so, and has the model of
    its last recorded step.

    Args:
        module: any module from inputs to one tensor (or a record with ``logits``).
        x: a tensor, a tuple of arguments, or a dict of named ones; the first axis counts examples.
        y: numbers (n,) or (n, k), or integer classes (n,), which are one-hot rows for the squared loss.
        x_test: further points, measured and never trained on; needs ``y_test``.
        y_test: their targets.
        loss: `Squared`, `CrossEntropy`, ... or a function (outputs, targets) -> mean loss. By default cross-entropy
            for integer targets and squared loss for real ones.
        optimizer: ``Adam(lr)``, the default, or ``SGD(lr, momentum=...)``; "adam", "adamw", "sgd"; a class of
            torch.optim, ``lambda p: torch.optim.SGD(p, lr=0.1)``, or an optimizer of the module, which is copied with
            its state.
        steps: to take.
        batch: points in a batch, each point once in n / batch steps; all points at every step where left out.
        record: measure at every so many steps, or at these steps; by default at 60, closer together at the beginning.
            The first state and the last are always recorded.
        outputs: keep the outputs on all points at recorded steps.
        watch: functions of (step, model, loss) by name, called at recorded steps, whose answers are ``run.watched``.
        seconds: time budget; the run ends with the first step beyond it.
        mode: of the module during steps. "eval" turns dropout off and leaves batch statistics as they are.
        seed: of the batches and of dropout.
        in_place: train the given module itself.
        progress: called with (steps done, steps) after each step.
        clock: what ``seconds`` is read from, once per step.

    Hypotheses: none.
    Reference: [robbins1951stochastic].
    Cost: a forward and a backward pass for each step, a forward pass on all points for each record.

    >>> from gnomon.training import SGD
    >>> net = nn.Linear(2, 1, bias=False)
    >>> x, y = torch.eye(2), torch.tensor([1.0, -1.0])
    >>> run = train(net, x, y, optimizer=SGD(0.5), steps=60)         # each weight's error shrinks by 1 - 0.5 / 2
    >>> torch.allclose(run.model.weight, torch.tensor([[1.0, -1.0]]), atol=1e-6)
    True
    """
    _check(module, x_test, y_test, mode)
    start = clock()
    plan = _plan(steps, batch, record, seed, _late(clock, start, seconds))
    with torch.inference_mode(False), torch.enable_grad(), random_state(plan.seed):
        model = module if in_place else twin(module, call=CALL)
        loss = by_targets(y, call=CALL) if loss is None else loss
        points = Points.of(x, y, model, loss, CALL)
        test = None if x_test is None or y_test is None else Points.of(x_test, y_test, model, loss, CALL)
        rule = named(optimizer, module, CALL)
        log = _Log(model, points, test, plan.batch, watch or {}, outputs, [], [])
        log.record(0)
        with evaluating(model, training=mode == "train"):
            stopped = _walk(model, points, rule, plan, log, progress)
    name = loss.name if isinstance(loss, AbstractLoss) else getattr(loss, "__name__", type(loss).__name__)
    return log.run(name, rule, stopped, clock() - start)


@dataclass(frozen=True, slots=True)
class _Plan:
    steps: int
    batch: int | None
    moments: frozenset[int]
    seed: int
    late: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class _Log:
    """Rows of what was measured, and the state of the model at the last one."""

    model: nn.Module
    points: Points
    test: Points | None
    batch: int | None
    watch: Mapping[str, Watcher]
    outputs: bool
    rows: list[dict[str, Any]]
    state: list[Tensor]

    def record(self, step: int) -> bool:
        """Measure and keep; False, and nothing kept, where a loss is not finite."""
        if self.rows and self.rows[-1]["step"] == step:
            return True
        value, right, f = self.points.measure(self.model, self.batch)
        row: dict[str, Any] = {"step": step, "loss": value, "accuracy": right, "train": f if self.outputs else None}
        if self.test is not None:
            row["test_loss"], row["test_accuracy"], f = self.test.measure(self.model, self.batch)
            row["test"] = f if self.outputs else None
        if not isfinite(value) or not isfinite(row.get("test_loss", 0.0)):
            if step == 0:
                cure = "Look for NaN in the weights, or lower the scale of the weights or of the inputs"
                raise NotFiniteError(lesson(CALL, "the loss is not finite before the first step", "a loss", cure))
            return False
        with undisturbed(self.model), evaluating(self.model):
            row["watched"] = {name: see(step, self.model, value) for name, see in self.watch.items()}
        self.state[:] = [t.detach().clone() for t in _tensors(self.model)]
        self.rows.append(row)
        return True

    @torch.no_grad()
    def back(self) -> None:
        """The model as it was at the last row."""
        for now, then in zip(_tensors(self.model), self.state, strict=True):
            now.copy_(then)

    def run(self, name: str, optimizer: AbstractOptimizer, stopped: str, seconds: float) -> Run:
        steps = torch.tensor([row["step"] for row in self.rows])
        loss = torch.tensor([row["loss"] for row in self.rows], dtype=torch.float64)
        return Run(
            model=self.model,
            steps=steps,
            times=steps.double() * optimizer.lr,
            loss=loss,
            test_loss=_column(self.rows, "test_loss"),
            accuracy=_column(self.rows, "accuracy"),
            test_accuracy=_column(self.rows, "test_accuracy"),
            train=_stack(self.rows, "train"),
            test=_stack(self.rows, "test"),
            watched={key: [row["watched"][key] for row in self.rows] for key in self.watch},
            loss_name=name,
            optimizer=optimizer,
            stopped=stopped,
            seconds=seconds,
        )


def _walk(
    model: nn.Module,
    points: Points,
    optimizer: AbstractOptimizer,
    plan: _Plan,
    log: _Log,
    progress: Callable[[int, int], None] | None,
) -> str:
    """Take the steps; the reason for which they ended."""
    moved = [p for p in model.parameters() if p.requires_grad]
    memory, batches = optimizer.memory(moved), _batches(points.n, plan.batch, plan.seed)
    try:
        for step in range(1, plan.steps + 1):
            index = next(batches)
            batch = (points.x, points.targets) if index is None else points.some(index)
            optimizer.move(moved, partial(_slope, model, points, batch, moved), memory, step)  # (1)
            late = plan.late()
            if (step in plan.moments or late) and not log.record(step):
                log.back()
                return "diverged"
            if progress is not None:
                progress(step, plan.steps)
            if late:
                return "time"
    except _Diverged:
        log.back()
        return "diverged"
    except KeyboardInterrupt:
        log.back()
        return "interrupted"
    return "finished"


class _Diverged(Exception):
    """The loss left the floats within a step."""


@torch.enable_grad()
def _slope(
    model: nn.Module, points: Points, batch: tuple[Inputs, Tensor], moved: list[nn.Parameter]
) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """The loss of a batch and its gradients, where the model stands now."""
    value = points.value(model, *batch)
    if not isfinite(float(value.detach())):
        raise _Diverged
    return value.detach(), torch.autograd.grad(value, moved, allow_unused=True)


def _batches(n: int, size: int | None, seed: int) -> Iterator[Tensor | None]:
    """Indices without end, all of one size, each point once in every n; None stands for all points in their order."""
    if size is None or size >= n:
        while True:
            yield None
    generator, left = torch.Generator().manual_seed(seed), torch.empty(0, dtype=torch.long)
    while True:
        while len(left) < size:
            left = torch.cat([left, torch.randperm(n, generator=generator)])
        yield left[:size]
        left = left[size:]


def _plan(steps: int, batch: int | None, record: Any, seed: int, late: Callable[[], bool]) -> _Plan:
    """The options that are numbers, checked."""
    steps = integer("steps", steps, call=CALL, least=0)
    batch = None if batch is None else integer("batch", batch, call=CALL)
    return _Plan(steps, batch, _moments(record, steps), check_seed(seed, call=CALL), late)


def _late(clock: Clock, start: float, seconds: float | None) -> Callable[[], bool]:
    """Whether the time budget is spent, whenever it is asked."""
    deadline = inf if seconds is None or seconds == inf else start + number("seconds", seconds, call=CALL)
    return lambda: clock() > deadline


def _moments(record: int | Sequence[int] | None, steps: int) -> frozenset[int]:
    if record is None:
        spread = torch.linspace(0, 1, RECORDS, dtype=torch.float64)
        return frozenset({*((steps + 1.0) ** spread - 1).round().long().tolist(), steps})
    if isinstance(record, Iterable) and not isinstance(record, str):
        return frozenset({*(integer("record", one, call=CALL, least=0) for one in record), steps})
    return frozenset({*range(0, steps + 1, integer("record", record, call=CALL)), steps})


def _tensors(model: nn.Module) -> list[Tensor]:
    return [*model.parameters(), *model.buffers()]


def _column(rows: list[dict[str, Any]], key: str) -> Tensor | None:
    values = [row.get(key) for row in rows]
    return None if values[0] is None else torch.tensor(values, dtype=torch.float64)


def _stack(rows: list[dict[str, Any]], key: str) -> Tensor | None:
    return None if rows[0].get(key) is None else torch.stack([row[key] for row in rows])


def _check(module: nn.Module, x_test: object, y_test: object, mode: str) -> None:
    check_module(module, call=CALL)
    if not any(p.requires_grad for p in module.parameters()):
        cure = "Call requires_grad_() on what is to be trained"
        raise InputError(lesson(CALL, "no parameter requires a gradient", "something to train", cure))
    if (x_test is None) != (y_test is None):
        given, missing = ("x_test", "y_test") if y_test is None else ("y_test", "x_test")
        found = f"{given} is given and {missing} is not"
        raise InputError(lesson(CALL, found, "test points with their targets", f"Pass {missing} as well"))
    if mode not in ("train", "eval"):
        raise InputError(lesson(CALL, f"mode is {mode!r}", "a known mode", 'Pass "train" or "eval"'))
