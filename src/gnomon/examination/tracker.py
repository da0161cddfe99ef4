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
from math import nan
from typing import Any, TypeVar

from torch import Tensor, nn

from gnomon.core.errors import GnomonError
from gnomon.core.metrics import relative_change
from gnomon.examination.subject import Examples, Subject
from gnomon.landscape import sharpness
from gnomon.tangent import alignment, ntk, rotation

__all__ = ["NAMES", "Attempt", "Tracker"]

NAMES = ("probe loss", "kernel drift", "kernel rotation", "alignment", "sharpness")
"""What a tracker measures, in this order."""
T = TypeVar("T")


Attempt = Callable[[str, Callable[[], Any]], Any]
"""Called with the name of a measurement and the function that makes it; gives its value, or None if it failed."""


class Tracker:
    """Measures a changing model on fixed examples; ``products`` is the number of Hessian products for the sharpness."""

    def __init__(self, subject: Subject, examples: Examples, *, products: int) -> None:
        self.subject, self.examples, self.products = subject, examples, products
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
                    latest[step] = self.measure(model, _or_none)
                return latest[step].get(name, nan)

            return watch

        return {name: reading(name) for name in NAMES}

    def _loss(self, model: nn.Module) -> float:
        f = self.subject.outputs(self.examples.x, model)
        return float(self.subject.task.loss.value(f, self.subject.targets(self.examples.y).to(f)))

    def _sharpness(self, model: nn.Module) -> float:
        task, examples = self.subject.task, self.examples
        y = task.loss_targets(examples.y)
        return sharpness(model, examples.x, y, loss=task.loss, steps=self.products).value


def _or_none(name: str, function: Callable[[], T]) -> T | None:
    """None where the model has no such number, as when its weights have become infinite."""
    try:
        return function()
    except GnomonError:
        return None
