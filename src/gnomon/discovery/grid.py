"""Reads measured fields on a uniform grid: their names, grid steps and values.

Arrays have one axis for each direction of space, x, y, z in this order, and time last.

>>> import numpy as np
>>> data = read(np.zeros((5, 4)), 0.1, np.linspace(0, 3, 4))
>>> data.letters, data.steps
('xt', {'x': 0.1, 't': 1.0})
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError, out_of_range_error
from gnomon.core.results.record import Record

__all__ = ["GridData"]

MAX_STEP_VARIATION = 1e-3
"""Largest relative difference between steps of a grid: stored coordinates are rounded."""


@dataclass(frozen=True, slots=True, eq=False)
class GridData(Record):
    """Measured fields and known functions by name on a uniform grid, with the grid step of each axis.

    >>> GridData({"u": np.ones((2, 3))}, {"x": 1.0, "t": 1.0}).value("|u|").shape
    (2, 3)
    """

    fields: dict[str, np.ndarray]
    steps: dict[str, float]
    known: dict[str, np.ndarray] = field(default_factory=dict)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)

    @property
    def letters(self) -> str:
        """Returns one letter for each axis of the array, such as "xyt"; time is last."""
        return "".join(self.steps)

    @property
    def shape(self) -> tuple[int, ...]:
        """Returns the number of points along each axis."""
        return next(iter(self.fields.values())).shape

    @property
    def is_complex(self) -> bool:
        """Returns whether any field has complex values."""
        return any(np.iscomplexobj(values) for values in self.fields.values())

    def value(self, symbol: str) -> np.ndarray:
        """Returns the values of a symbol in a term: a field, its modulus, a known function, or a function of the
        fields.
        """
        if symbol in self.fields:
            return self.fields[symbol]
        if symbol.strip("|") in self.fields:
            return np.abs(self.fields[symbol.strip("|")])
        if symbol in self.known:
            return self.known[symbol]
        if symbol in self.functions:
            return np.asarray(self.functions[symbol](*self.fields.values()))
        names = ", ".join([*self.fields, *self.known, *self.functions])
        fix = f"Use the symbols {names}, or give '{symbol}' in TermLibrary(known=...) or TermLibrary(functions=...)"
        raise InputError(f"the symbol '{symbol}' is not known", accepted="terms of known symbols", fix=fix)


def read(
    u: Any, dx: Any, dt: Any, *, known: Mapping[str, Any] | None = None,
    functions: Mapping[str, Any] | None = None
) -> GridData:  # fmt: skip
    """Checks fields and grid (finite numbers, equal shapes, uniform steps) and returns them as `GridData`."""
    given = u if isinstance(u, Mapping) else {"u": u}
    fields = {name: _array(values, name) for name, values in given.items()}
    shapes = {values.shape for values in fields.values()}
    if len(shapes) != 1:
        found = f"the fields have the shapes {sorted(shapes)}"
        raise InputError(found, accepted="all fields on one grid", fix="Give every field the same shape")
    shape = shapes.pop()
    space = len(shape) - 1
    if not 0 <= space <= 3:
        fix = "Pass an array with the axes (x, time), (x, y, time) or (x, y, z, time)"
        raise InputError(f"u has {len(shape)} axes", accepted="one to three axes of space, and time last", fix=fix)
    gaps = dx if isinstance(dx, tuple | list) else (dx,) * space
    if len(gaps) != space:
        fix = f"Pass dx as a tuple of {space} steps"
        raise InputError(
            f"dx has {len(gaps)} steps and u {space} axes of space", accepted="a step for each axis of space", fix=fix
        )
    letters = "xyz"[:space]
    steps = {letter: step(gap, n, f"d{letter}") for letter, gap, n in zip(letters, gaps, shape, strict=False)}
    steps["t"] = step(dt, shape[-1], "dt")
    taken = {name: np.broadcast_to(_align(_array(v, name), shape, name), shape) for name, v in (known or {}).items()}
    return GridData(fields, steps, taken, dict(functions or {}))


def step(gap: Any, n: int, name: str) -> float:
    """Returns the step of a uniform grid from the step itself or from the coordinates of the n points."""
    values = np.asarray(gap.detach().cpu() if isinstance(gap, Tensor) else gap)
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise out_of_range_error(name, "a number above 0, or the coordinates of the grid", gap)
    if values.size > 1:
        values = values.ravel().astype(float)
        if len(values) != n:
            found = f"{name} has {len(values)} coordinates and u {n} points along that axis"
            raise InputError(found, accepted="a coordinate for each point", fix="Pass one coordinate for each point")
        gaps = np.diff(values)
        if np.abs(gaps - gaps.mean()).max() > MAX_STEP_VARIATION * abs(gaps.mean()):
            found = f"the steps of {name} go from {gaps.min():.4g} to {gaps.max():.4g}"
            fix = "Interpolate u to equal steps first, for instance with scipy.interpolate.make_interp_spline"
            raise InputError(found, accepted="a uniform grid", fix=fix)
        values = gaps.mean()
    found_step = float(values.reshape(-1)[0]) if values.ndim else float(values)
    if not found_step > 0:
        raise out_of_range_error(name, "a number above 0, or rising coordinates", gap)
    return found_step


def _array(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values.detach().cpu() if isinstance(values, Tensor) else values)
    if array.dtype.kind not in "biufc":
        raise InputError(
            f"'{name}' holds no numbers ({array.dtype})", accepted="fields of numbers", fix="Pass an array"
        )
    if not array.size:
        raise InputError(
            f"'{name}' is empty", accepted="a field with points", fix="Pass an array with at least one value"
        )
    bad = ~np.isfinite(array)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        found = f"{int(bad.sum())} values of '{name}' are NaN or infinite, the first at {place}"
        raise NotFiniteError(found, accepted="finite data", fix="Remove these times, or fill the gaps")
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def _align(values: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Expands a known function to the shape of the grid, from values on the grid, on the space axes, or along x."""
    spread = (
        values if values.ndim in (0, len(shape)) else values.reshape(values.shape + (1,) * (len(shape) - values.ndim))
    )
    try:
        np.broadcast_to(spread, shape)
    except ValueError as reason:
        found = f"'{name}' has the shape {values.shape} and the fields {shape}"
        fix = "Pass its values at all points, or at all points of space"
        raise InputError(found, accepted="a value at each point", fix=fix) from reason
    return spread
