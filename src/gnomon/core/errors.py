"""Errors that teach. Where a premise of the theory is broken, the message has four parts in one order (`lesson`); where
an argument is simply out of range, it is one ordinary sentence with the accepted range (`out_of_range`).

    <call>: <what was found, and where> [H: <hypothesis it breaks>]. <cure>.
    <call>: <argument> must be <accepted values>, but it is <value>.

The classes inherit from the builtin that a caller would catch anyway, so ``except ValueError`` keeps working.

>>> print(lesson("limit(net)", "'pool' is a MaxPool2d", "sums of many units", "Use AvgPool2d"))
limit(net): 'pool' is a MaxPool2d [H: sums of many units]. Use AvgPool2d.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
    "called",
    "lesson",
    "out_of_range",
]


class GnomonError(Exception):
    """Root of all errors that gnomon raises on purpose."""


class InputError(GnomonError, ValueError):
    """The data or the options cannot be used as given."""


class ReadError(GnomonError, ValueError):
    """The module cannot be read as a program: some node or parameter is not understood."""


class NoLimitError(ReadError):
    """The module was understood, and theory says that it has no closed-form infinite-width limit."""


class BudgetError(GnomonError, MemoryError):
    """The result, or the smallest tile of it, does not fit in memory."""


class NotFiniteError(GnomonError, ArithmeticError):
    """The computation left the range of floating-point numbers."""


class NotConvergedError(GnomonError, RuntimeError):
    """An iteration ended before it arrived; ``reached`` is the record of what it had by then.

    >>> try:
    ...     raise NotConvergedError("stopped", reached=0.5)
    ... except RuntimeError as error:
    ...     print(error, error.reached)
    stopped 0.5
    """

    def __init__(self, message: str, reached: Any = None) -> None:
        super().__init__(message)
        self.reached = reached

    def __reduce__(self) -> tuple[type["NotConvergedError"], tuple[str, Any]]:
        return type(self), (str(self), self.reached)  # errors travel between processes with all they carry


class WorkersLostError(GnomonError, RuntimeError):
    """Workers of a cluster died again and again, or never came, or its scheduler is gone."""


class WriteError(GnomonError, OSError):
    """A file cannot be written: the disk is full, the folder is read-only, or the like."""


class MissingExtraError(GnomonError, ImportError):
    """An optional dependency is needed and absent."""


def lesson(call: str, found: str, hypothesis: str, cure: str) -> str:
    """Compose a message from its four parts: the call, what was found, the hypothesis it breaks, the cure.

    >>> lesson("f(x)", "x holds NaN", "finite inputs", "Drop those rows")
    'f(x): x holds NaN [H: finite inputs]. Drop those rows.'
    """
    return f"{call}: {found} [H: {hypothesis}]. {cure}."


def out_of_range(call: str, name: str, accepted: str, value: Any) -> str:
    """One sentence on an argument that cannot be used: its name, what is accepted, and what it is.

    >>> out_of_range("train(module, x, y)", "steps", "a whole number of at least 1", 2.5)
    'train(module, x, y): steps must be a whole number of at least 1, but it is 2.5.'
    """
    return f"{call}: {name} must be {accepted}, but it is {repr(value)[:80]}."


@contextmanager
def called(call: str) -> Iterator[None]:
    """Errors raised inside begin with this call, the one that the user made, whatever it calls in turn.

    >>> try:
    ...     with called("predict(module, x, y)"):
    ...         raise InputError(lesson("ntk(module, x)", "x holds NaN", "finite inputs", "Drop those rows"))
    ... except InputError as error:
    ...     print(error)
    predict(module, x, y): x holds NaN [H: finite inputs]. Drop those rows.
    """
    try:
        yield
    except GnomonError as error:
        _, colon, rest = str(error).partition(": ")
        error.args = (f"{call}: {rest}" if colon else str(error), *error.args[1:])
        raise
