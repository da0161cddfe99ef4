"""Tracks loss, kernel and curvature of a model on a few examples while the model is trained.

    drift = |Theta_t - Theta_0| / |Theta_0|,    rotation = 1 - cos(Theta_t, Theta_0),    alignment = cos(Theta_t, y y^T)

Theta_t is the tangent kernel of the examples now, Theta_0 the one of the first measurement; the alignment is centered.

>>> import torch
>>> from time import perf_counter
>>> from gnomon.examination.subject import build_subject
>>> network = build_subject(nn.Linear(2, 1), (torch.eye(2), torch.tensor([0.5, 1.0])), None, optimizer=None, seed=0)
>>> tracker = ModelTracker(network, network.probe, products=2, time=TimeSpent(perf_counter, None))
>>> row = tracker.measure(network.module, lambda name, function: function())
>>> list(row) == list(MEASUREMENT_NAMES), row["kernel drift"]
(True, 0.0)
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import nan
from typing import Any, TypeVar

from torch import Tensor, nn

from gnomon.core.errors import GnomonError
from gnomon.core.machine.clock import Clock
from gnomon.core.metrics import relative_change
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.landscape import sharpness
from gnomon.linalg.alignment import kernel_rotation
from gnomon.tangent import alignment, ntk
from gnomon.tangent.projection import random_combination
from gnomon.training.evaluate import Objective

__all__ = ["OVERHEAD_TIMER_NAME", "KERNEL_TIMER_NAME", "MEASUREMENT_NAMES", "SafeCall", "TimeSpent", "ModelTracker"]

MEASUREMENT_NAMES = ("probe loss", "kernel drift", "kernel rotation", "alignment", "sharpness")
"""Names of the measurements of a tracker, in order."""
T = TypeVar("T")


SafeCall = Callable[[str, Callable[[], Any]], Any]
"""Called with the name of a measurement and the function that makes it; gives its value, or None if it failed."""


KERNEL_TIMER_NAME = "kernel"
"""Key of the time for loss and kernel of the probe examples."""
SHARPNESS = "sharpness"
"""Key of the time for the curvature."""
OVERHEAD_TIMER_NAME = "around"
"""Key of the time for everything else."""
INITIAL_CURVATURE_COST = 8
"""Cost of the curvature relative to the kernel, before it was measured."""
MAX_KERNEL_OUTPUTS = 32
"""With more outputs, one random combination is used: each output costs a backward pass."""


@dataclass(slots=True)
class TimeSpent:
    """Counts the time that measurements take, and keeps it below a fraction of the running time.

    Kernel and sharpness have half of the limit each, so that the cheaper one, taken often, leaves time for the other.
    One more is taken to cost what those before did on average. The limit is a share of the time without measurements.

    >>> time = TimeSpent(lambda: 10.0, 0.1, spent={KERNEL_TIMER_NAME: 0.2}, counts={KERNEL_TIMER_NAME: 1}, started=0.0)
    >>> time.share, time.affordable(KERNEL_TIMER_NAME), time.affordable(SHARPNESS)               # 0.4 and 1.6 of 0.49 s
    (0.02, True, False)
    """

    clock: Clock
    limit: float | None
    spent: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    skipped: int = 0
    started: float | None = None

    def start(self) -> float:
        """Returns the current time; the first call also starts the counting of time."""
        now = self.clock()
        self.started = now if self.started is None else self.started
        return now

    @contextmanager
    def on(self, kind: str) -> Iterator[None]:
        """Context manager that adds the time of its block to one kind of measurement, without the time of inner
        blocks.
        """
        began, before = self.start(), self.total
        try:
            yield
        finally:
            cost = self.clock() - began - (self.total - before)
            self.spent[kind] = self.spent.get(kind, 0.0) + cost
            self.counts[kind] = self.counts.get(kind, 0) + 1

    @property
    def total(self) -> float:
        """Returns the seconds that all measurements have taken."""
        return sum(self.spent.values())

    @property
    def share(self) -> float:
        """Returns the fraction of the running time that measurements have taken."""
        elapsed = 0.0 if self.started is None else self.clock() - self.started
        return self.total / elapsed if elapsed > 0 else 0.0

    def affordable(self, kind: str) -> bool:
        """Checks whether there is time for one more measurement of this kind; the first one is always allowed."""
        if self.limit is None or not self.counts or self.started is None:
            return True
        known = kind if kind in self.counts else KERNEL_TIMER_NAME
        cost = self.spent[known] / self.counts[known] * (1 if known == kind else INITIAL_CURVATURE_COST)
        allowed = self.limit * (self.clock() - self.started - self.total)
        return self.spent.get(kind, 0.0) + cost <= allowed / 2 and self.total + cost <= allowed


class ModelTracker:
    """Measures loss, kernel and curvature of a model on fixed examples during training, within a time limit.

    ``time`` is the time that tracking takes. For more than 32 outputs the kernel is measured for one random combination
    of outputs.
    """

    def __init__(self, subject: Subject, examples: Examples, *, products: int, time: TimeSpent) -> None:
        self.subject, self.examples, self.products, self.time = subject, examples, products, time
        self.first: Tensor | None = None

    def measure(self, model: nn.Module, attempt: SafeCall, *, limited: bool = False) -> dict[str, float]:
        """Measures the model as it is now; returns the measurements by name, without those that fail.

        ``limited`` skips the sharpness if the time limit does not allow it.
        """
        with self.time.on(KERNEL_TIMER_NAME):
            row = self._kernel(model, attempt)
        if not limited or self.time.affordable(SHARPNESS):
            with self.time.on(SHARPNESS):
                value = attempt("sharpness", lambda: self._sharpness(model))
            row |= {} if value is None else {"sharpness": value}
        return row

    def _kernel(self, model: nn.Module, attempt: SafeCall) -> dict[str, float]:
        """Measures the loss, and how far the tangent kernel has changed in size, direction and alignment with the
        targets.
        """
        row: dict[str, float] = {}

        def take(name: str, function: Callable[[], float]) -> None:
            value = attempt(name, function)
            if value is not None:
                row[name] = value

        take("probe loss", lambda: self._loss(model))
        outputs = self.subject.task.outputs
        seen = model if outputs <= MAX_KERNEL_OUTPUTS else random_combination(model, outputs, seed=0)
        kernel = attempt("the kernel", lambda: ntk(seen, self.examples.x).double())
        if kernel is not None:
            first = self.first = kernel if self.first is None else self.first
            y = self.subject.targets(self.examples.y).to(kernel)
            take("kernel drift", lambda: relative_change(first, kernel))
            take("kernel rotation", lambda: kernel_rotation(first, kernel))
            if self.subject.reads_targets:
                take("alignment", lambda: alignment(kernel, y))
        return row

    def watchers(self) -> dict[str, Callable[[int, nn.Module, float], float]]:
        """Returns the measurements as functions to pass to `gnomon.train`; they return NaN if a measurement fails."""
        latest: dict[int, dict[str, float]] = {}

        def reading(name: str) -> Callable[[int, nn.Module, float], float]:
            def watch(step: int, model: nn.Module, loss: float) -> float:
                if step not in latest:
                    latest.clear()
                    latest[step] = self._measure_if_affordable(model)
                return latest[step].get(name, nan)

            return watch

        return {name: reading(name) for name in MEASUREMENT_NAMES}

    def _measure_if_affordable(self, model: nn.Module) -> dict[str, float]:
        """Measures the model if the time limit allows; otherwise returns an empty dict."""
        self.time.start()
        if self.time.affordable(KERNEL_TIMER_NAME):
            return self.measure(model, _or_none, limited=True)
        self.time.skipped += 1
        return {}

    def _loss(self, model: nn.Module) -> float:
        subject, examples = self.subject, self.examples
        y = subject.loss_targets(examples.y)
        return Objective.of((examples.x, y), model, subject.loss).measure(model, None)[0]

    def _sharpness(self, model: nn.Module) -> float:
        subject, examples = self.subject, self.examples
        y = subject.loss_targets(examples.y)
        return sharpness(model, (examples.x, y), loss=subject.loss, iterations=self.products).value


def _or_none(name: str, function: Callable[[], T]) -> T | None:
    """Returns the result of a function; None if it raises one of gnomon's errors, for example for infinite weights."""
    try:
        return function()
    except GnomonError:
        return None
