"""Defines gnomon's exceptions; each message names the failed call, the problem, what is accepted, and the fix.

    <call>: <problem> (expected <what is accepted>). <fix>.

The classes inherit from the builtin that a caller would catch anyway, so ``except ValueError`` keeps working. Code that
finds a problem does not know which function the user called: `add_call_to_errors` on public functions adds the call.

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
    "UnsupportedModuleError",
    "TimeLimitError",
    "WorkersLostError",
    "WriteError",
    "add_call_to_errors",
    "out_of_range_error",
]


F = TypeVar("F", bound=Callable[..., Any])


class GnomonError(Exception):
    """Base class of all errors that gnomon raises on purpose; ``str(error)`` joins problem, accepted values and fix.

    - ``call``: the public function that the user called, such as "ntk(module, data)"; `add_call_to_errors` sets it,
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
        """Returns the error message without the name of the failed call: the problem, what is accepted, and the fix."""
        first = self.problem.removesuffix(".")
        if self.accepted and self.accepted not in first:
            first += f"; expected {self.accepted}" if first.endswith(")") else f" (expected {self.accepted})"
        if self.reason:
            first += f"; required: {self.reason}"
        return " ".join(s if s.endswith(".") else f"{s}." for s in (first, self.fix or "") if s)

    def __reduce__(self) -> tuple[Callable[..., "GnomonError"], tuple[Any, ...], dict[str, Any]]:
        # Pickling keeps all fields of the error, because errors may come from another process.
        return _rebuild, (type(self), self.problem), vars(self)


def _rebuild(kind: type[GnomonError], problem: str) -> GnomonError:
    return kind(problem)


class InputError(GnomonError, ValueError):
    """Raised if the user's data or options cannot be used."""


class UnsupportedModuleError(GnomonError, ValueError):
    """Raised if gnomon does not support one of a module's operations or parameters."""


class NoLimitError(UnsupportedModuleError):
    """Raised for a module whose infinitely wide limit has no closed form in theory."""


class BudgetError(GnomonError, MemoryError):
    """Raised if a result does not fit into memory, even if it is computed in the smallest possible blocks."""


class TimeLimitError(GnomonError, TimeoutError):
    """Raised if a call takes longer than its ``budget`` in seconds; the module is left unchanged."""


class NotFiniteError(GnomonError, ArithmeticError):
    """Raised if a computation produces NaN or infinity."""


class NotConvergedError(GnomonError, RuntimeError):
    """Raised if an iteration stops before it converges; the attribute ``reached`` is the result so far.

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
    """Raised if workers of a cluster die repeatedly or never start, or if the cluster's scheduler is unreachable."""


class WriteError(GnomonError, OSError):
    """Raised if a file cannot be written, for example because the disk is full or the folder is read-only."""


class MissingExtraError(GnomonError, ImportError):
    """Raised if an optional dependency is needed but not installed."""


def out_of_range_error(name: str, accepted: str, value: Any) -> InputError:
    """Creates (but does not raise) the error for an argument outside its accepted range, with its name and value.

    >>> print(out_of_range_error("steps", "a whole number of at least 1", 2.5))
    steps must be a whole number of at least 1, but it is 2.5.
    """
    return InputError(f"{name} must be {accepted}, but it is {repr(value)[:80]}", accepted=accepted)


@overload
def add_call_to_errors(given: str) -> Callable[[F], F]: ...


@overload
def add_call_to_errors(given: F) -> F: ...


def add_call_to_errors(given: Any) -> Any:
    """Decorator for public functions: errors raised inside the function name the user's call.

    The outermost decorated function sets it last, so an error names the call that the user made. The text is the name
    with the required arguments, or the text that is given: ``@add_call_to_errors("limit(module).ntk(x)")``.

    >>> @add_call_to_errors
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
    """Returns a call as text for error messages: the name of the function or class and its required positional
    arguments.
    """
    import inspect  # Imported here, because it is needed only if an error is raised.

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
