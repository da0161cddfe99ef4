"""Detects training data that the script changes in place, so that each epoch sees more of the change.

Inputs that are slices of a larger tensor share its memory. A slice is recognized by its address, and torch counts the
changes of each memory. A buffer that is filled with other data in each step also changes, so the old and the new
numbers are compared: noise and masks leave most of them similar.

>>> import torch
>>> data, inputs = torch.arange(512.0), ChangedInputs()
>>> for epoch in range(5):
...     inputs.note_input(data[64:192])
...     data += 0.01 * torch.ones(512)
>>> inputs.seen, inputs.changed
(4, 4)
"""

from dataclasses import dataclass, field
from statistics import correlation, pstdev

from torch import Tensor

from gnomon.examination.script.batches import fingerprint

__all__ = ["ChangedInputs"]

MAX_SLICES = 64
"""Slices that are remembered."""
MAX_COMPARED = 500
"""Comparisons after which nothing is read any more."""
MIN_CORRELATION = 0.9
"""Correlation of old and new numbers above which they are the same data with noise or another scale."""
MIN_EQUAL = 0.5
"""Share of equal integers above which they are the same data with some of them replaced."""
MIN_DIFFERENT_NUMBERS = 4
"""Different numbers that a comparison needs: an empty part of an image says nothing."""


@dataclass(slots=True, eq=False)
class ChangedInputs:
    """Compares inputs that were changed in place with the same inputs before; ``changed`` of ``seen`` are similar."""

    known: dict[tuple[int, int], tuple[int, tuple[float, ...]]] = field(default_factory=dict)
    seen: int = 0
    changed: int = 0

    def note_input(self, tensor: Tensor | None) -> None:
        """Records an input of the model; reads only inputs whose memory was changed in place."""
        if tensor is None or self.seen >= MAX_COMPARED or tensor.is_inference():
            return
        version = tensor._version
        key = (tensor.data_ptr(), tensor.numel())
        if key not in self.known and len(self.known) >= MAX_SLICES:
            return
        old = self.known.get(key)
        if old is not None and version <= old[0]:
            if version < old[0]:
                del self.known[key]  # Another tensor at the same address.
            return
        numbers = fingerprint(tensor)
        if numbers is None:
            return
        if old is not None:
            self.seen += 1
            self.changed += _are_similar(old[1], numbers, whole=not tensor.is_floating_point())
        self.known[key] = (version, numbers)


def _are_similar(old: tuple[float, ...], new: tuple[float, ...], *, whole: bool) -> bool:
    """Checks whether numbers are the old ones with noise, with another scale, or with some of them replaced."""
    if old == new or len(old) != len(new) or len(set(old)) < MIN_DIFFERENT_NUMBERS:
        return False
    if whole:
        return sum(a == b for a, b in zip(old, new, strict=True)) > MIN_EQUAL * len(old)
    return pstdev(new) > 0 and correlation(old, new) > MIN_CORRELATION
