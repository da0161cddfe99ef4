"""Implements time limits of calls: every loop that can show a progress bar checks the limit.

A public function states ``budget: float | None = None`` and has the decorator `limit_time`; nothing else changes in it.

>>> @limit_time
... def count(numbers, *, budget=None):
...     return [number for number in numbers if check_time("numbers", number, len(numbers)) is None]
>>> count(range(3)), count(range(3), budget=60.0)
([0, 1, 2], [0, 1, 2])
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from time import monotonic
from typing import Any, TypeVar

from gnomon.core.errors import TimeLimitError, out_of_range_error

__all__ = ["check_time", "limit_time", "time_limit"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _Deadline:
    """The time limit of a call in seconds, and when the call started."""

    seconds: float
    start: float

    @property
    def end(self) -> float:
        return self.start + self.seconds


DEADLINE: ContextVar[_Deadline | None] = ContextVar("gnomon_deadline", default=None)
"""The deadline of the present call, None without one. Each thread has its own."""


def limit_time(function: F) -> F:
    """Decorator for functions with the argument ``budget``: raises a `TimeLimitError` after this many seconds.

    The module of the user is left as it was, as after Ctrl-C. Without a budget nothing happens.

    Cost: a microsecond.

    >>> @limit_time
    ... def double(number, *, budget=None):
    ...     check_time("numbers", 1, 2)
    ...     return 2 * number
    >>> double(3), double(3, budget=60.0)
    (6, 6)
    """

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with time_limit(kwargs.get("budget")):
            return function(*args, **kwargs)

    limited: Any = wrapper
    return limited


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Context manager that raises a `TimeLimitError` if its block takes longer than ``seconds``; nested limits also
    apply.

    >>> with time_limit(None):
    ...     check_time("steps", 1, 10)
    """
    outer = DEADLINE.get()
    if seconds is None:
        yield
        return
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise out_of_range_error("budget", "a positive number of seconds, or None", seconds)
    limit = _Deadline(float(seconds), monotonic())
    token = DEADLINE.set(limit if outer is None or limit.end < outer.end else outer)
    try:
        yield
    finally:
        DEADLINE.reset(token)


def check_time(what: str | None, done: int, total: int | None) -> None:
    """Raises a `TimeLimitError` if the time limit has passed; the message says how much is done and how long the rest
    needs.

    Cost: a microsecond.

    >>> with time_limit(1e-9):
    ...     check_time("steps", 5, 10)
    Traceback (most recent call last):
        ...
    gnomon.core.errors.TimeLimitError: the budget of 1e-09 s was spent after 5 of 10 steps (these need about ...)...
    """
    limit = DEADLINE.get()
    if limit is None or (now := monotonic()) < limit.end:
        return
    name = what or "steps"
    part = f"{done:,} {name}" if total is None else f"{done:,} of {total:,} {name}"
    more = f" (these need about {limit.seconds * total / done:.2g} s in all)" if total and 0 < done < total else ""
    raise TimeLimitError(
        f"the budget of {limit.seconds:g} s was spent after {part}{more if now > limit.start else ''}",
        fix="Pass a larger budget, fewer examples or fewer steps",
    )
