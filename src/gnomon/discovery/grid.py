"""Measured fields on a uniform grid: what they are called, how far apart the points lie, and the values of symbols.

Arrays have one axis for each direction of space, x, y, z in this order, and time last.

>>> import numpy as np
>>> data = read(np.zeros((5, 4)), 0.1, np.linspace(0, 3, 4), call="discover(u, dx, dt)")
>>> data.letters, data.steps
('xt', {'x': 0.1, 't': 1.0})
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from gnomon.core.errors import InputError, NotFiniteError, lesson, out_of_range
from gnomon.core.results.record import Record

__all__ = ["GridData"]

UNIFORM = 1e-3
"""Steps of a grid may differ by this share: stored coordinates are rounded."""


@dataclass(frozen=True, slots=True, eq=False)
class GridData(Record):
    """Fields by name, known functions of space and time by name, and the steps of the grid by letter.

    >>> GridData({"u": np.ones((2, 3))}, {"x": 1.0, "t": 1.0}).value("|u|").shape
    (2, 3)
    """

    fields: dict[str, np.ndarray]
    steps: dict[str, float]
    known: dict[str, np.ndarray] = field(default_factory=dict)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)

    @property
    def letters(self) -> str:
        """The axes of the arrays, time last."""
        return "".join(self.steps)

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return next(iter(self.fields.values())).shape

    @property
    def is_complex(self) -> bool:
        """Whether some field has complex values."""
        return any(np.iscomplexobj(values) for values in self.fields.values())

    def value(self, symbol: str, *, call: str = "discover(u, dx, dt)") -> np.ndarray:
        """The values of a symbol: a field, the modulus of one, a known function, or a function of the fields."""
        if symbol in self.fields:
            return self.fields[symbol]
        if symbol.strip("|") in self.fields:
            return np.abs(self.fields[symbol.strip("|")])
        if symbol in self.known:
            return self.known[symbol]
        if symbol in self.functions:
            return np.asarray(self.functions[symbol](*self.fields.values()))
        names = ", ".join([*self.fields, *self.known, *self.functions])
        cure = f"Use the symbols {names}, or give '{symbol}' in Library(known=...) or Library(functions=...)"
        raise InputError(lesson(call, f"the symbol '{symbol}' is not known", "terms of known symbols", cure))


def read(
    u: Any, dx: Any, dt: Any, *, known: Mapping[str, Any] | None = None,
    functions: Mapping[str, Any] | None = None, call: str,
) -> GridData:  # fmt: skip
    """Check fields and grid once: finite numbers, one shape, uniform steps."""
    given = u if isinstance(u, Mapping) else {"u": u}
    fields = {name: _array(values, name, call) for name, values in given.items()}
    shapes = {values.shape for values in fields.values()}
    if len(shapes) != 1:
        found = f"the fields have the shapes {sorted(shapes)}"
        raise InputError(lesson(call, found, "all fields on one grid", "Give every field the same shape"))
    shape = shapes.pop()
    space = len(shape) - 1
    if not 0 <= space <= 3:
        cure = "Pass an array with the axes (x, time), (x, y, time) or (x, y, z, time)"
        raise InputError(lesson(call, f"u has {len(shape)} axes", "one to three axes of space, and time last", cure))
    gaps = dx if isinstance(dx, tuple | list) else (dx,) * space
    if len(gaps) != space:
        cure = f"Pass dx as a tuple of {space} steps"
        raise InputError(lesson(call, f"dx has {len(gaps)} steps and u {space} axes of space", "a step for each", cure))
    letters = "xyz"[:space]
    steps = {letter: step(gap, n, f"d{letter}", call) for letter, gap, n in zip(letters, gaps, shape, strict=False)}
    steps["t"] = step(dt, shape[-1], "dt", call)
    taken = {
        name: np.broadcast_to(_aligned(_array(v, name, call), shape, name, call), shape)
        for name, v in (known or {}).items()
    }
    return GridData(fields, steps, taken, dict(functions or {}))


def step(gap: Any, n: int, name: str, call: str) -> float:
    """The step of a uniform grid, from the step itself or from the coordinates of its n points."""
    values = np.asarray(gap.detach().cpu() if isinstance(gap, Tensor) else gap)
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise InputError(out_of_range(call, name, "a number above 0, or the coordinates of the grid", gap))
    if values.size > 1:
        values = values.ravel().astype(float)
        if len(values) != n:
            found = f"{name} has {len(values)} coordinates and u {n} points along that axis"
            raise InputError(lesson(call, found, "a coordinate for each point", "Pass one coordinate for each point"))
        gaps = np.diff(values)
        if np.abs(gaps - gaps.mean()).max() > UNIFORM * abs(gaps.mean()):
            found = f"the steps of {name} go from {gaps.min():.4g} to {gaps.max():.4g}"
            cure = "Interpolate u to equal steps first, for instance with scipy.interpolate.make_interp_spline"
            raise InputError(lesson(call, found, "a uniform grid", cure))
        values = gaps.mean()
    found_step = float(values.reshape(-1)[0]) if values.ndim else float(values)
    if not found_step > 0:
        raise InputError(out_of_range(call, name, "a number above 0, or rising coordinates", gap))
    return found_step


def _array(values: Any, name: str, call: str) -> np.ndarray:
    array = np.asarray(values.detach().cpu() if isinstance(values, Tensor) else values)
    if array.dtype.kind not in "biufc":
        raise InputError(
            lesson(call, f"'{name}' holds no numbers ({array.dtype})", "fields of numbers", "Pass an array")
        )
    if not array.size:
        raise InputError(lesson(call, f"'{name}' is empty", "a field with points", "Pass an array with values"))
    bad = ~np.isfinite(array)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        found = f"{int(bad.sum())} values of '{name}' are NaN or infinite, the first at {place}"
        raise NotFiniteError(lesson(call, found, "finite data", "Cut those times out, or fill the gaps"))
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def _aligned(values: np.ndarray, shape: tuple[int, ...], name: str, call: str) -> np.ndarray:
    """A known function on the whole grid: given there, at the points of space alone, or along x alone."""
    spread = (
        values if values.ndim in (0, len(shape)) else values.reshape(values.shape + (1,) * (len(shape) - values.ndim))
    )
    try:
        np.broadcast_to(spread, shape)
    except ValueError as reason:
        found = f"'{name}' has the shape {values.shape} and the fields {shape}"
        cure = "Give it at all points, or at all points of space"
        raise InputError(lesson(call, found, "a value at each point", cure)) from reason
    return spread
