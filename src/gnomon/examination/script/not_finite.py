"""Finds the first module whose output was NaN or infinite in the forward pass that led to the loss.

References to the outputs of a pass are kept until its backward pass, which keeps most of them anyway. Beyond a limit
only weak references are kept, so that memory does not grow.

>>> trail = ModuleCallTrail()
>>> trail.add(nn.ReLU(), torch.ones(3))
>>> trail.numbers
3
"""

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["ModuleCallTrail", "locate_first_not_finite"]

MAX_NUMBERS_KEPT = 16_000_000
"""Numbers in outputs that are kept by strong references, 64 MB in single precision."""
MAX_MODELS_KEPT = 4
"""Calls of models whose outputs are kept, if no backward pass follows."""


@dataclass(slots=True, eq=False)
class ModuleCallTrail:
    """Records the modules that were called since the last backward pass, with their outputs."""

    entries: list[tuple[nn.Module, Any]] = field(default_factory=list)
    numbers: int = 0
    models: int = 0
    inputs: Any = None

    def add(self, module: nn.Module, output: Any) -> None:
        """Records a call of a module and its output."""
        if isinstance(output, Tensor):
            self.numbers += output.numel()
            if self.numbers > MAX_NUMBERS_KEPT:
                output = weakref.ref(output)
        elif self.numbers > MAX_NUMBERS_KEPT:
            return
        self.entries.append((module, output))

    def end_of_model(self, inputs: Any) -> None:
        """Records that the call of a model ended; drops old calls if no backward pass follows."""
        self.models += 1
        if self.models > MAX_MODELS_KEPT:
            self.clear()
        elif self.models == 1:
            # Keeps only the inputs of the first model, because later inputs may be outputs of this model.
            self.inputs = inputs

    @property
    def ends_with_nan(self) -> bool:
        """Checks whether the last recorded output contains NaN; infinity alone may come from a mask."""
        output = self.entries[-1][1] if self.entries else None
        value = output() if isinstance(output, weakref.ref) else output
        return any(t.is_floating_point() and bool(t.detach().isnan().any()) for t in _tensors(value))

    def clear(self) -> None:
        """Forgets all recorded calls of modules."""
        self.entries.clear()
        self.numbers = self.models = 0
        self.inputs = None


def locate_first_not_finite(trail: ModuleCallTrail, name_of: Callable[[nn.Module], str]) -> tuple[str, str, str]:
    """Finds the first NaN or infinity in recorded calls of modules; returns the cause, and the module's name and class.

    >>> trail = ModuleCallTrail([(nn.ReLU(), torch.ones(2)), (nn.Tanh(), torch.tensor([1.0, float("nan")]))])
    >>> locate_first_not_finite(trail, lambda module: type(module).__name__)
    ('module', 'Tanh', 'Tanh')
    """
    if not trail.entries:
        return "", "", ""
    if any(not _finite(t) for t in _tensors(trail.inputs)):
        return "inputs", "inputs", ""
    for module, output in trail.entries:
        for parameter in module.parameters(recurse=False):
            if not _finite(parameter):
                return "weights", name_of(module), type(module).__name__
        value = output() if isinstance(output, weakref.ref) else output
        if any(not _finite(t) for t in _tensors(value)):
            return "module", name_of(module), type(module).__name__
    return "loss", "loss", ""


def _finite(value: Tensor) -> bool:
    with torch.no_grad():
        return not value.is_floating_point() or bool(torch.isfinite(value.detach()).all())


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _tensors(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _tensors(part)
