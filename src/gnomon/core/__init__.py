"""Basic code that all other subpackages use: inputs, results, running modules, memory, threads.

Contains: inputs (data sources, batches, argument checks), modules (run, capture, preserve), results (values,
findings, plots), machine (threads, memory, clock, files), errors, losses, metrics.
Does not contain: anything that knows a theorem.
May import: no other subpackage.
"""

from gnomon.core.errors import (
    BudgetError,
    GnomonError,
    InputError,
    MissingExtraError,
    NoLimitError,
    NotConvergedError,
    NotFiniteError,
    TimeLimitError,
    UnsupportedModuleError,
    WorkersLostError,
    WriteError,
)

__all__ = [
    "BudgetError",
    "GnomonError",
    "InputError",
    "MissingExtraError",
    "NoLimitError",
    "NotConvergedError",
    "NotFiniteError",
    "UnsupportedModuleError",
    "TimeLimitError",
    "WorkersLostError",
    "WriteError",
]
