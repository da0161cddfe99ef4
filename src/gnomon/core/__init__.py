"""Cellar: what every floor stands on.

Lives here: the alphabet of shapes, errors, memory budgets and tiles, inputs and outputs of modules, modules as pure
functions, losses, clocks, compiled loops and threads (machine).
Does not live here: anything that knows a theorem.
May import: torch, numpy, the standard library; numba in machine alone, by the first computation.
"""

from gnomon.core.errors import (
    BudgetError,
    GnomonError,
    InputError,
    MissingExtraError,
    NoLimitError,
    NotConvergedError,
    NotFiniteError,
    ReadError,
    WorkersLostError,
    WriteError,
    lesson,
)

__all__ = [
    "BudgetError",
    "GnomonError",
    "InputError",
    "MissingExtraError",
    "NoLimitError",
    "NotConvergedError",
    "NotFiniteError",
    "ReadError",
    "WorkersLostError",
    "WriteError",
    "lesson",
]
