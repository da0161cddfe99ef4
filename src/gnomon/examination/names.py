"""Checks the names of columns and classes that the user passed."""

from collections.abc import Sequence

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, tensors

__all__ = ["check_class_names", "column_names"]


def column_names(names: Sequence[str], x: Inputs) -> tuple[str, ...]:
    """Checks the column names: one for each number of an example, or none."""
    count = sum(t[0].numel() for t in tensors(x))
    if names and (isinstance(names, str) or len(names) != count):
        given = f"the text {names!r}" if isinstance(names, str) else f"{len(names)} names"
        what = f"columns is {given}, and an example has {count} numbers"
        raise InputError(what, accepted="one name for each column", fix="Pass list(frame.columns) without the target")
    return tuple(names)


def check_class_names(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Checks the names of the classes: one for each class, or none."""
    if names and (isinstance(names, str) or len(names) < count):
        given = f"the text {names!r}" if isinstance(names, str) else f"{len(names)} names"
        what = f"class_names is {given}, and there are {count} classes"
        raise InputError(what, accepted="one name for each class", fix="Pass the names in the order of the labels")
    return tuple(map(str, names))
