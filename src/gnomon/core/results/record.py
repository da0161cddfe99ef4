"""Prints any record (a dataclass with measured values) on one readable screen.

A class that inherits from `Record` shows its fields by name, tensors by dtype, shape and range, long texts and
collections by their beginnings and sizes; never more than `MAX_LINES` lines and `MAX_CHARACTERS` characters.

>>> import torch
>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, slots=True)
... class Found(Record):
...     values: torch.Tensor
...     rank: int
>>> Found(torch.arange(300.0), 3)
Found(values=<float32 (300,), 0 to 299>, rank=3)
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

__all__ = ["Record"]

MAX_LINES = 25
"""Maximum number of lines of a printed record."""
MAX_CHARACTERS = 2000
"""Maximum number of characters of a printed record."""
MAX_LINE_CHARACTERS = 100
"""Maximum number of characters of a one-line record and of one field."""
SHOWN_NUMBERS = 6
"""Maximum number of numbers that are printed one by one."""


class Record:
    """Base class of dataclasses whose printed form shows all fields on one screen."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        # Set before the dataclass decorator runs, which adds a __repr__ only if the class has none.
        if "__repr__" not in vars(cls):
            cls.__repr__ = screen  # type: ignore[method-assign]


def screen(record: Any) -> str:
    """Formats a record as text: on one line if it fits, otherwise one line per field.

    Cost: one pass over its tensors.

    >>> from gnomon.training import SGD
    >>> screen(SGD(0.1))
    'SGD(lr=0.1, momentum=0.0, decay=0.0)'
    """
    name = type(record).__name__
    shown = [f"{f.name}={summary(getattr(record, f.name))}" for f in fields(record) if f.repr]
    line = f"{name}({', '.join(shown)})"
    if len(line) <= MAX_LINE_CHARACTERS and "\n" not in line:
        return line
    rows, used = [], len(name) + 10
    for i, text in enumerate(shown):
        used += len(text) + 6
        if used > MAX_CHARACTERS - 40 or i >= MAX_LINES - 3:
            rows.append(f"    ... and {len(shown) - i} more")
            break
        rows.append(f"    {text},")
    return "\n".join([f"{name}(", *rows, ")"])


def summary(value: Any) -> str:
    """Formats the value of a record's field as one line of text, shortened if needed.

    Cost: one pass over a tensor; none otherwise.

    >>> summary(torch.tensor([[1.0, float("nan")]] * 10)), summary({"a": 1, "b": 2})
    ('<float32 (10, 2), 1 to 1, 10 not finite>', "{'a': 1, 'b': 2}")
    """
    if isinstance(value, Tensor | np.ndarray):
        return _numbers(value)
    if isinstance(value, nn.Module):
        return f"<{type(value).__name__}, {sum(p.numel() for p in value.parameters())} parameters>"
    if isinstance(value, str):
        return (
            repr(value)
            if len(value) < MAX_LINE_CHARACTERS
            else f"{value[: MAX_LINE_CHARACTERS - 20]!r}... ({len(value)} characters)"
        )
    if isinstance(value, Mapping):
        return _whole(value) or f"<{len(value)} entries: {_begin([str(key) for key in value])}>"
    if isinstance(value, Sequence | Set):
        kinds = sorted({type(item).__name__ for item in value})
        return _whole(value) or f"<{len(value)} {' or '.join(kinds[:3])}>"
    text = " ".join(repr(value).split())
    return text if len(text) <= MAX_LINE_CHARACTERS else f"{text[: MAX_LINE_CHARACTERS - 3]}..."


def _whole(value: Any) -> str:
    """Formats a small collection of numbers and strings as text; returns an empty string for large collections."""
    items = [part for pair in value.items() for part in pair] if isinstance(value, Mapping) else list(value)
    if len(items) > 2 * SHOWN_NUMBERS or not all(isinstance(item, bool | int | float | str | None) for item in items):
        return ""
    text = repr(value)
    return text if len(text) <= MAX_LINE_CHARACTERS and "\n" not in text else ""


def _begin(names: list[str]) -> str:
    shown = ", ".join(names[:SHOWN_NUMBERS])[: MAX_LINE_CHARACTERS - 30]
    return shown if len(names) <= SHOWN_NUMBERS else f"{shown}, ..."


def _numbers(values: Tensor | np.ndarray) -> str:
    kind, shape = str(values.dtype).removeprefix("torch."), tuple(values.shape)
    numbers = values.detach() if isinstance(values, Tensor) else values
    if numbers.ndim == 1 and len(numbers) <= SHOWN_NUMBERS and kind != "object":
        return f"<{kind} [{', '.join(_number(v) for v in numbers.tolist())}]>"
    head = f"<{kind} {shape}"
    if not isinstance(numbers, Tensor):
        if numbers.dtype.kind not in "biuf":
            return f"{head}>"
        numbers = torch.from_numpy(np.array(numbers, dtype=np.float64))
    if numbers.numel() == 0 or numbers.is_complex() or numbers.is_meta or numbers.layout != torch.strided:
        return f"{head}>"
    real = numbers.double() if numbers.device.type != "mps" else numbers.float()
    finite = real[real.isfinite()]
    lost = real.numel() - finite.numel()
    span = f", {_number(float(finite.min()))} to {_number(float(finite.max()))}" if finite.numel() else ""
    return f"{head}{span}{f', {lost} not finite' if lost else ''}>"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
