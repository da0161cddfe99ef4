"""Recognizes examples of one loader among the batches of another, even if they belong to different data sets.

>>> first, second = ExampleKeys(), ExampleKeys()
>>> first.note_batch(torch.eye(12))
>>> second.note_batch(torch.eye(12)[4:8])
>>> second.share_in(first)
1.0
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

__all__ = ["ExampleKeys"]

BYTES_READ = 256
"""Bytes of each example that are read, spread over the example."""
MIN_BYTES = 32
"""Bytes of an example below which different examples are often equal."""
MAX_EXAMPLES = 20_000
"""Examples of a loader that are remembered."""
BYTES_PER_WORD = 8
"""Bytes that are read as one number."""
KEY_MULTIPLIER = 6364136223846793005
"""An odd number with mixed bits, from Knuth's linear congruential generator."""


@dataclass(slots=True, eq=False)
class ExampleKeys:
    """Stores a number for each example of a loader; equal examples have equal numbers."""

    keys: set[int] = field(default_factory=set)

    def note_batch(self, tensor: Tensor | None) -> None:
        """Adds the examples of a batch on the CPU."""
        if tensor is not None and len(self.keys) < MAX_EXAMPLES:
            self.keys.update(_keys(tensor))

    def share_in(self, other: "ExampleKeys") -> float:
        """Returns the share of the examples that the other loader has too."""
        return len(self.keys & other.keys) / len(self.keys) if self.keys else 0.0


def _keys(tensor: Tensor) -> list[int]:
    """Returns a number for each example; an empty list if the examples are too short or cannot be read."""
    if tensor.device.type != "cpu" or tensor.layout != torch.strided or tensor.dim() < 2 or not tensor.numel():
        return []
    rows = tensor.detach().reshape(len(tensor), -1)
    size = rows.element_size()
    if rows.shape[1] * size < MIN_BYTES or rows.is_complex():
        return []
    part = rows[:, :: max(1, rows.shape[1] * size // BYTES_READ)]
    whole = part.shape[1] - part.shape[1] % (BYTES_PER_WORD // min(BYTES_PER_WORD, size))
    words = part[:, :whole].contiguous().view(torch.uint8).view(torch.int64)
    weights = torch.arange(1, words.shape[1] + 1) * KEY_MULTIPLIER
    mixed = (words ^ (words >> 29)) * (weights | 1)
    return (mixed ^ (mixed >> 32)).sum(1).tolist()
