"""Replaces attributes of torch while a script runs, and restores them at the end.

>>> import math
>>> patches = Patches()
>>> patches.put(math, "sqrt", lambda original: lambda x: original(x) + 1)
>>> math.sqrt(4)
3.0
>>> patches.undo()
>>> math.sqrt(4)
2.0
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Patches"]


@dataclass(slots=True)
class Patches:
    """Remembers attributes of torch that were replaced, with their original values."""

    replaced: list[tuple[Any, str, Any]] = field(default_factory=list)

    def put(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replaces an attribute of a class or module by ``make(original)``, and remembers the original."""
        original = vars(owner)[name]
        self.replaced.append((owner, name, original))
        setattr(owner, name, functools.wraps(original)(make(original)))

    def undo(self) -> None:
        """Restores all replaced attributes, the last one first."""
        for owner, name, original in reversed(self.replaced):
            setattr(owner, name, original)
        self.replaced.clear()
