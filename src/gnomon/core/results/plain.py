"""Converts any result to values that JSON can store: numbers, strings, lists and dicts.

JSON has no infinity and no NaN, so numbers that are not finite become the strings "inf", "-inf" and "nan"; tensors and
arrays become nested lists, records dicts of their public fields, modules and functions their names.

>>> to_json_value({"times": (0.5, float("inf")), "kind": None})
{'times': [0.5, 'inf'], 'kind': None}
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import Any

__all__ = ["HIDDEN_IN_JSON", "to_json_value", "public_fields"]

HIDDEN_IN_JSON = {"json": False}
"""Metadata of a dataclass field that `to_json_value` leaves out, because it is large: ``field(metadata=HIDDEN)``."""


def to_json_value(value: Any) -> Any:
    """Converts a value to what JSON can store: numbers, strings, lists and dicts.

    Cost: one pass over the value.

    >>> import torch
    >>> to_json_value(torch.tensor([1.0, float("nan")]))
    [1.0, 'nan']
    """
    if value is None or isinstance(value, bool | int | str) and not isinstance(value, Enum):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, Mapping):
        return {str(key): to_json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_value(inner) for inner in value]
    if hasattr(value, "tolist"):  # Tensors, numpy arrays and numpy numbers have the method `tolist`.
        return to_json_value(value.detach().cpu().tolist() if hasattr(value, "detach") else value.tolist())
    if hasattr(value, "to_dict"):
        return to_json_value(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return public_fields(value)
    return getattr(value, "__name__", None) or type(value).__name__


def public_fields(record: Any) -> dict[str, Any]:
    """Returns the public fields of a dataclass as a dict of plain values; leaves out fields that are marked as hidden.

    Cost: one pass over the values.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: float
    ...     _seen: int = 0
    >>> public_fields(Point(1.5))
    {'x': 1.5}
    """
    shown = [f.name for f in fields(record) if f.metadata.get("json", True) and not f.name.startswith("_")]
    return {name: to_json_value(getattr(record, name)) for name in shown}
