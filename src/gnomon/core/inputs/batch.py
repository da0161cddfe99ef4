"""Defines a batch (inputs and targets), and converts what data loaders yield to batches.

>>> import torch
>>> batch = to_batch((torch.zeros(3, 2), torch.tensor([0, 1, 1])))
>>> len(batch), batch[:2].y.tolist()
(3, [0, 1])
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors, take_examples
from gnomon.core.inputs.checks import as_numbers, is_array, to_dense_tensors

__all__ = ["Batch", "to_batch", "join_batches", "read_examples"]

TARGETS = ("labels", "label", "target", "targets", "y")
"""Keys of the targets in a batch that is a dict; the first key that is present is used."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """A batch of examples: inputs in the form that the module takes, and targets (None if the data have no targets)."""

    x: Inputs
    y: Tensor | None

    def __len__(self) -> int:
        return count_examples(self.x)

    def __getitem__(self, index: Tensor | slice) -> "Batch":
        return Batch(take_examples(self.x, index), None if self.y is None else self.y[index])

    @property
    def bytes(self) -> int:
        """Returns the memory of all tensors in the batch, in bytes."""
        targets = () if self.y is None else (self.y,)
        return sum(t.numel() * t.element_size() for t in (*input_tensors(self.x), *targets))


def to_batch(raw: Any) -> Batch:
    """Converts what a data loader yields to a `Batch`: a pair (x, y), a dict that contains targets, or inputs alone.

    >>> to_batch({"ids": torch.zeros(2, 3), "labels": torch.tensor([0, 1])}).y.tolist()
    [0, 1]
    """
    if isinstance(raw, Batch):
        return raw
    if isinstance(raw, Mapping):
        key = next((key for key in TARGETS if key in raw), None)
        rest = {name: value for name, value in raw.items() if name != key}
        x = rest["x"] if set(rest) == {"x"} else rest
        return Batch(to_dense_tensors(x), None if key is None else as_numbers(raw[key], "y"))
    if isinstance(raw, tuple | list) and len(raw) > 1:
        x = raw[0] if len(raw) == 2 else tuple(raw[:-1])
        return Batch(to_dense_tensors(x), None if raw[-1] is None else as_numbers(raw[-1], "y"))
    if isinstance(raw, Tensor) or is_array(raw):
        return Batch(to_dense_tensors(raw), None)
    if isinstance(raw, tuple | list) and len(raw) == 1:
        return to_batch(raw[0])
    fix = "Let the loader yield (inputs, targets) or a dict with the key 'labels'"
    raise InputError(f"a batch has the type {type(raw).__name__}", accepted="inputs and targets", fix=fix)


def read_examples(dataset: Any, index: Sequence[int], collate: Callable[[list[Any]], Any]) -> Any:
    """Reads some examples of a data set and joins them to a batch; an error in the data set names the example.

    Cost: reading the examples.

    >>> read_examples([torch.zeros(2), torch.ones(2)], [1], torch.stack)
    tensor([[1., 1.]])
    """
    examples = []
    for i in index:
        try:
            examples.append(dataset[i])
        except Exception as reason:  # The user's data set may raise any error for an index.
            what = f"reading example {i} of the data set raised {type(reason).__name__}: {reason}"[:200]
            raise InputError(
                what, accepted="examples that can be read", fix=f"Run dataset[{i}] alone to see the error"
            ) from reason
    try:
        return collate(examples)
    except Exception as reason:
        words = " ".join(str(reason).split())
        some = f"examples {index[0]} to {index[-1]}" if len(index) > 1 else f"example {index[0]}"
        what = f"{some} cannot be combined into one batch ({words[:160]})"
        fix = "Return tensors of one shape, or a DataLoader whose collate_fn pads them"
        raise InputError(what, accepted="examples of one shape", fix=fix) from reason


def join_batches(batches: Sequence[Batch]) -> Batch:
    """Concatenates several batches of examples into one batch.

    Cost: a copy of the examples.

    >>> len(join_batches([Batch(torch.zeros(2, 1), None), Batch(torch.zeros(3, 1), None)]))
    5
    """
    if len(batches) == 1:
        return batches[0]
    y = None if any(b.y is None for b in batches) else torch.cat([b.y for b in batches if b.y is not None])
    return Batch(_join([b.x for b in batches]), y)


def _join(parts: list[Any]) -> Any:
    first = parts[0]
    if isinstance(first, Tensor):
        if len({part.shape[1:] for part in parts}) > 1:
            shapes = " and ".join(sorted({str(tuple(part.shape[1:])) for part in parts})[:2])
            fix = "Pad all batches to the same length"
            raise InputError(f"batches hold examples of shapes {shapes}", accepted="one shape", fix=fix)
        return torch.cat(parts)
    if isinstance(first, Mapping):
        return {key: _join([part[key] for part in parts]) for key in first}
    if isinstance(first, tuple | list):
        return tuple(_join(list(column)) for column in zip(*parts, strict=True))
    return first
