"""What is followed while a model is trained: loss, kernel and curvature on a few examples.

    drift = |Theta_t - Theta_0| / |Theta_0|,    rotation = 1 - cos(Theta_t, Theta_0),    alignment = cos(Theta_t, y y^T)

Theta_t is the tangent kernel of the examples now, Theta_0 the one of the first measurement; the alignment is centered.

>>> import torch
>>> from gnomon.examination.subject import subject
>>> network = subject(nn.Linear(2, 1), (torch.eye(2), torch.tensor([0.5, 1.0])), None, optimizer=None, seed=0)
>>> row = Tracker(network, network.probe, products=2).measure(network.module, lambda name, function: function())
>>> list(row) == list(NAMES), row["kernel drift"]
(True, 0.0)
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any, TypeVar

from torch import Tensor, nn

from gnomon.core.clock import Clock
from gnomon.core.errors import GnomonError
from gnomon.core.metrics import relative_change
from gnomon.examination.subject import Examples, Subject
from gnomon.landscape import sharpness
from gnomon.tangent import alignment, ntk, rotation
from gnomon.training.evaluate import Objective

__all__ = ["NAMES", "Attempt", "TimeSpent", "Tracker"]

NAMES = ("probe loss", "kernel drift", "kernel rotation", "alignment", "sharpness")
"""What a tracker measures, in this order."""
T = TypeVar("T")


Attempt = Callable[[str, Callable[[], Any]], Any]
"""Called with the name of a measurement and the function that makes it; gives its value, or None if it failed."""


@dataclass(slots=True)
class TimeSpent:
    """How long measurements took, and whether one more is below the limit, a share of the running time.

    >>> time = TimeSpent(lambda: 10.0, 0.1, spent=0.5, started=0.0, last=0.5)
    >>> time.share, time.affordable
    (0.05, True)
    """

    clock: Clock
    limit: float | None
    spent: float = 0.0
    skipped: int = 0
    started: float | None = None
    last: float | None = None

    def start(self) -> float:
        """The time now, which is the start if it is the first."""
        now = self.clock()
        self.started = now if self.started is None else self.started
        return now

    def stop(self, began: float) -> None:
        """A measurement that began then ends now."""
        self.last = self.clock() - began
        self.spent += self.last

    @property
    def share(self) -> float:
        """The share of the time since the start that was spent on measurements."""
        elapsed = 0.0 if self.started is None else self.clock() - self.started
        return self.spent / elapsed if elapsed > 0 else 0.0

    @property
    def affordable(self) -> bool:
        """Whether one more measurement like the last keeps the share below the limit; the first one always is."""
        if self.limit is None or self.last is None or self.started is None:
            return True
        return self.spent + self.last <= self.limit * (self.clock() - self.started + self.last)


class Tracker:
    """Measures a changing model on fixed examples; ``products`` is the number of Hessian products for the sharpness.

    ``time`` leaves measurements out, where it has a limit; `measure` itself asks nobody.
    """

    def __init__(self, subject: Subject, examples: Examples, *, products: int, time: TimeSpent | None = None) -> None:
        self.subject, self.examples, self.products, self.time = subject, examples, products, time
        self.first: Tensor | None = None

    def measure(self, model: nn.Module, attempt: Attempt) -> dict[str, float]:
        """All that can be measured now, by the names of `NAMES`; what fails is left out."""
        row: dict[str, float] = {}

        def take(name: str, function: Callable[[], float]) -> None:
            value = attempt(name, function)
            if value is not None:
                row[name] = value

        take("probe loss", lambda: self._loss(model))
        kernel = attempt("the kernel", lambda: ntk(model, self.examples.x).double())
        if kernel is not None:
            first = self.first = kernel if self.first is None else self.first
            y = self.subject.targets(self.examples.y).to(kernel)
            take("kernel drift", lambda: relative_change(first, kernel))
            take("kernel rotation", lambda: rotation(first, kernel))
            take("alignment", lambda: alignment(kernel, y))
        take("sharpness", lambda: self._sharpness(model))
        return row

    def watchers(self) -> dict[str, Callable[[int, nn.Module, float], float]]:
        """The measurements as functions that `gnomon.train` calls; NaN where the model has no such number."""
        latest: dict[int, dict[str, float]] = {}

        def reading(name: str) -> Callable[[int, nn.Module, float], float]:
            def watch(step: int, model: nn.Module, loss: float) -> float:
                if step not in latest:
                    latest.clear()
                    latest[step] = self._measured(model)
                return latest[step].get(name, nan)

            return watch

        return {name: reading(name) for name in NAMES}

    def _measured(self, model: nn.Module) -> dict[str, float]:
        """What can be measured and afforded."""
        if self.time is None:
            return self.measure(model, _or_none)
        began = self.time.start()
        if not self.time.affordable:
            self.time.skipped += 1
            return {}
        row = self.measure(model, _or_none)
        self.time.stop(began)
        return row

    def _loss(self, model: nn.Module) -> float:
        subject, examples = self.subject, self.examples
        y = subject.loss_targets(examples.y)
        return Objective.of(examples.x, y, model, subject.loss, subject.call).measure(model, None)[0]

    def _sharpness(self, model: nn.Module) -> float:
        subject, examples = self.subject, self.examples
        y = subject.loss_targets(examples.y)
        return sharpness(model, examples.x, y, loss=subject.loss, steps=self.products).value


def _or_none(name: str, function: Callable[[], T]) -> T | None:
    """None where the model has no such number, as when its weights have become infinite."""
    try:
        return function()
    except GnomonError:
        return None
