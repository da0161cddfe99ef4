"""Converts rows with named columns, as in Hugging Face data sets, to the batches that modules take.

Columns of words are left out, as are those that the module's forward does not name: a tokenized data set keeps its
text next to the tokens. Pictures become bytes (n, c, h, w), lists of numbers become tensors.

>>> import torch
>>> batch = batch_from_columns({"pixels": [[1.0, 2.0], [3.0, 4.0]], "text": ["a", "b"], "label": [0, 1]}, None)
>>> list(batch), batch["x"].shape
(['x', 'label'], torch.Size([2, 2]))
"""

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.batch import TARGETS

__all__ = ["accepts_argument", "batch_from_columns", "target_column"]


def target_column(names: Any) -> str | None:
    """Returns the first column name that usually means targets, such as "labels"; None if there is none.

    >>> target_column(["text", "label"])
    'label'
    """
    return next((key for key in TARGETS if key in (names or ())), None)


def accepts_argument(module: nn.Module, name: str) -> bool:
    """Checks whether the module's ``forward`` takes an argument with this name.

    >>> accepts_argument(nn.Linear(1, 1), "input"), accepts_argument(nn.Linear(1, 1), "labels")
    (True, False)
    """
    named = _parameters(module)
    return named is None or name in named


def batch_from_columns(columns: Mapping[str, Any], module: nn.Module | None) -> dict[str, Tensor]:
    """Converts a table of columns to a batch for a module: a dict of input tensors by column name, and the targets.

    Cost: one pass over the rows.

    >>> batch_from_columns({"ids": [[1, 2], [3, 4]], "labels": [0, 1]}, None)["labels"].tolist()
    [0, 1]
    """
    target = target_column(columns)
    named = _parameters(module)
    read = {name: _column(name, list(values)) for name, values in columns.items()}
    kept = {name: column for name, column in read.items() if column is not None}
    inputs = {name: column for name, column in kept.items() if name != target}
    if named is not None and len(inputs) > 1 and named & inputs.keys():
        inputs = {name: column for name, column in inputs.items() if name in named}
    if not inputs:
        what = f"the columns {', '.join(columns)} contain neither numbers nor images that the module could take"
        fix = "Tokenize or encode them first, with data.map(...)"
        raise InputError(what, accepted="inputs as numbers", fix=fix)
    if len(inputs) == 1 and not (named is not None and named & inputs.keys()):
        inputs = {"x": next(iter(inputs.values()))}
    return inputs | ({target: kept[target]} if target in kept else {})


def _parameters(module: nn.Module | None) -> set[str] | None:
    """Returns the argument names of the module's ``forward``; None if ``forward`` accepts any name."""
    if module is None:
        return None
    found = signature(module.forward).parameters
    return None if any(p.kind is Parameter.VAR_KEYWORD for p in found.values()) else set(found)


def _column(name: str, values: list[Any]) -> Tensor | None:
    """Converts the values of one table column to a tensor; returns None if they are not numbers or images."""
    first = values[0]
    if isinstance(first, Tensor):
        parts = values
    elif hasattr(first, "convert") and hasattr(first, "getbands"):  # a Pillow image
        parts = [_picture(value) for value in values]
    elif isinstance(first, bool | int | float | list | np.ndarray | np.generic) and not _has_words(first):
        try:
            return torch.as_tensor(np.array(values))
        except (ValueError, TypeError):  # numpy cannot make an array of rows with different lengths, so torch tries.
            return _ragged_column_error(name)
    else:
        return None
    return torch.stack(parts) if len({part.shape for part in parts}) == 1 else _ragged_column_error(name)


def _picture(value: Any) -> Tensor:
    array = torch.as_tensor(np.array(value if value.mode in ("L", "RGB") else value.convert("RGB")))
    return array[None] if array.dim() == 2 else array.permute(2, 0, 1)


def _has_words(value: Any) -> bool:
    while isinstance(value, list):
        if not value:
            return False
        value = value[0]
    return isinstance(value, str | bytes | dict) or value is None


def _ragged_column_error(name: str) -> Tensor:
    what = f"the rows of column '{name}' have different shapes"
    raise InputError(what, accepted="rows of one shape", fix="Pad or resize them: padding='max_length' for tokens")
