"""Defines gnomon's errors, whose messages have four parts: the call that failed, the problem, what is accepted, the
fix.

    <call>: <problem> (expected <what is accepted>). <fix>.

The classes inherit from the builtin that a caller would catch anyway, so ``except ValueError`` keeps working. Code that
finds a problem does not know which function the user called: `names_call` on public functions adds the call.

>>> raise InputError("x contains NaN", accepted="finite inputs", fix="Drop those rows")
Traceback (most recent call last):
    ...
gnomon.core.errors.InputError: x contains NaN (expected finite inputs). Drop those rows.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, overload

__all__ = [
    "BudgetError",
    "GnomonError",
    "InputError",
    "MissingExtraError",
    "NoLimitError",
    "NotConvergedError",
    "NotFiniteError",
    "ReadError",
    "TimeLimitError",
    "WorkersLostError",
    "WriteError",
    "names_call",
    "out_of_range",
]


F = TypeVar("F", bound=Callable[..., Any])


class GnomonError(Exception):
    """The base class of all errors that gnomon raises on purpose. ``str(error)`` composes one message from the fields.

    - ``call``: the public function that the user called, such as "ntk(module, data)"; `names_call` sets it,
    - ``problem``: what is wrong, with the value, the shape or the layer,
    - ``accepted``: what is accepted instead, or None,
    - ``reason``: the assumption of the theory that fails, or None,
    - ``fix``: what to do, or None.

    >>> error = GnomonError("'pool' is a MaxPool2d", reason="pooling is linear", fix="Use AvgPool2d")
    >>> error.call = "limit(module)"
    >>> print(error)
    limit(module): 'pool' is a MaxPool2d; required: pooling is linear. Use AvgPool2d.
    """

    def __init__(
        self, problem: str, *, accepted: str | None = None, reason: str | None = None, fix: str | None = None
    ) -> None:
        super().__init__(problem)
        self.call: str | None = None
        self.problem, self.accepted, self.reason, self.fix = problem, accepted, reason, fix

    def __str__(self) -> str:
        return f"{self.call}: {self.advice}" if self.call else self.advice

    @property
    def advice(self) -> str:
        """The error message without the call that failed: the problem, what is accepted, and the fix."""
        first = self.problem.removesuffix(".")
        if self.accepted and self.accepted not in first:
            first += f"; expected {self.accepted}" if first.endswith(")") else f" (expected {self.accepted})"
        if self.reason:
            first += f"; required: {self.reason}"
        return " ".join(s if s.endswith(".") else f"{s}." for s in (first, self.fix or "") if s)

    def __reduce__(self) -> tuple[Callable[..., "GnomonError"], tuple[Any, ...], dict[str, Any]]:
        # an error that comes from another process is pickled, and must keep its fields
        return _rebuild, (type(self), self.problem), vars(self)


def _rebuild(kind: type[GnomonError], problem: str) -> GnomonError:
    return kind(problem)


class InputError(GnomonError, ValueError):
    """The data or the options cannot be used as given."""


class ReadError(GnomonError, ValueError):
    """A module cannot be converted to a `gnomon.program`, because one of its operations or parameters is not
    supported."""


class NoLimitError(ReadError):
    """The module was understood, but theory says that it has no closed-form infinite-width limit."""


class BudgetError(GnomonError, MemoryError):
    """The result does not fit in memory, not even when it is computed in tiles of the smallest size."""


class TimeLimitError(GnomonError, TimeoutError):
    """The call did not end within its ``budget`` in seconds; the module is as it was before."""


class NotFiniteError(GnomonError, ArithmeticError):
    """A computation produced NaN or infinity."""


class NotConvergedError(GnomonError, RuntimeError):
    """An iteration stopped before it converged; ``reached`` is its result so far.

    >>> try:
    ...     raise NotConvergedError("100 iterations were not enough", reached=0.5)
    ... except RuntimeError as error:
    ...     print(error, error.reached)
    100 iterations were not enough. 0.5
    """

    def __init__(
        self,
        problem: str,
        *,
        accepted: str | None = None,
        reason: str | None = None,
        fix: str | None = None,
        reached: Any = None,
    ) -> None:
        super().__init__(problem, accepted=accepted, reason=reason, fix=fix)
        self.reached = reached


class WorkersLostError(GnomonError, RuntimeError):
    """Workers of a cluster died repeatedly or never started, or the cluster's scheduler is unreachable."""


class WriteError(GnomonError, OSError):
    """A file cannot be written, for example because the disk is full or the folder is read-only."""


class MissingExtraError(GnomonError, ImportError):
    """An optional dependency is needed and not installed."""


def out_of_range(name: str, accepted: str, value: Any) -> InputError:
    """Returns the error for an argument outside its accepted range, with the argument's name and value.

    >>> print(out_of_range("steps", "a whole number of at least 1", 2.5))
    steps must be a whole number of at least 1, but it is 2.5.
    """
    return InputError(f"{name} must be {accepted}, but it is {repr(value)[:80]}", accepted=accepted)


@overload
def names_call(given: str) -> Callable[[F], F]: ...


@overload
def names_call(given: F) -> F: ...


def names_call(given: Any) -> Any:
    """Decorates a public function so that errors raised inside it name the call: a `GnomonError` gets it as
    ``error.call``.

    The outermost decorated function sets it last, so an error names the call that the user made. The text is the name
    with the required arguments, or the text that is given: ``@names_call("limit(module).ntk(x)")``.

    >>> @names_call
    ... def ntk(module, data, *, memory=None):
    ...     raise InputError("data contains NaN")
    >>> ntk(None, None)
    Traceback (most recent call last):
        ...
    gnomon.core.errors.InputError: ntk(module, data): data contains NaN.
    """
    return _name_call(given, None) if callable(given) else lambda function: _name_call(function, given)


def _name_call(function: Callable[..., Any], text: str | None) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except GnomonError as error:
            error.call = text or _call_text(function, args)
            raise

    return wrapper


def _call_text(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Returns a call as text for error messages: the function's or class's name and its required positional
    arguments."""
    import inspect  # imported only when an error is raised

    name, parameters = function.__name__, list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        owner = args[0] if isinstance(args[0], type) else type(args[0])
        if name in ("__init__", "__post_init__"):
            name, parameters = owner.__name__, list(inspect.signature(owner).parameters.values())
        else:
            name, parameters = f"{owner.__name__}.{name}", parameters[1:]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p.name for p in parameters if p.default is p.empty and p.kind in positional]
    return f"{name}({', '.join(required)})"
