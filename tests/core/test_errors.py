"""Errors have fields, compose one message from them, and name the call that the user made."""

import inspect
import pickle

import pytest

from gnomon.core import errors
from gnomon.core.errors import GnomonError, InputError, add_call_to_errors, out_of_range_error

BUILTIN = {
    errors.InputError: ValueError,
    errors.UnsupportedModuleError: ValueError,
    errors.NoLimitError: errors.UnsupportedModuleError,
    errors.BudgetError: MemoryError,
    errors.TimeLimitError: TimeoutError,
    errors.NotFiniteError: ArithmeticError,
    errors.MissingExtraError: ImportError,
    errors.NotConvergedError: RuntimeError,
    errors.WorkersLostError: RuntimeError,
    errors.WriteError: OSError,
}
FIELDS = ("call", "problem", "accepted", "reason", "fix")


@pytest.mark.parametrize(("kind", "builtin"), BUILTIN.items(), ids=lambda kind: kind.__name__)
def test_an_error_can_be_caught_as_the_builtin_and_as_ours(kind, builtin):
    for caught in (builtin, errors.GnomonError):
        with pytest.raises(caught, match="the message"):
            raise kind("the message")


def test_every_error_of_the_file_is_in_the_table():
    own = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__}
    assert own == BUILTIN.keys() | {errors.GnomonError}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "x contains NaN."),
        ({"accepted": "finite inputs"}, "x contains NaN (expected finite inputs)."),
        ({"fix": "Drop those rows"}, "x contains NaN. Drop those rows."),
        ({"fix": "Drop those rows."}, "x contains NaN. Drop those rows."),
        ({"accepted": "finite inputs", "fix": "Drop them"}, "x contains NaN (expected finite inputs). Drop them."),
        ({"reason": "inputs are finite"}, "x contains NaN; required: inputs are finite."),
        ({"accepted": "x"}, "x contains NaN."),  # the problem says it already
    ],
)
def test_a_message_is_composed_of_the_fields(fields, message):
    error = InputError("x contains NaN", **fields)
    assert str(error) == error.advice == message
    error.call = "ntk(module, x)"
    assert str(error) == f"ntk(module, x): {message}" and error.advice == message


def test_an_argument_out_of_range_is_one_sentence_with_fields():
    error = out_of_range_error("steps", "a whole number", 2.5)
    assert str(error) == "steps must be a whole number, but it is 2.5." and error.accepted == "a whole number"
    assert len(str(out_of_range_error("steps", "a whole number", "1" * 1000))) < 150


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.__name__)
def test_errors_are_pickled_with_all_fields(kind):
    error = kind("a", accepted="b", reason="c", fix="d")
    error.call = "f(x)"
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind and str(copy) == str(error)
    assert [getattr(copy, name) for name in FIELDS] == [getattr(error, name) for name in FIELDS]
    assert copy.args == error.args


def test_what_was_reached_is_pickled():
    assert pickle.loads(pickle.dumps(errors.NotConvergedError("a", reached=0.5))).reached == 0.5


@add_call_to_errors
def inner(x, *, option=1, needed):
    """Refuse everything."""
    raise InputError(f"x is {x}")


@add_call_to_errors
def outer(model, data=None):
    """Call the function that refuses everything."""
    inner(model, needed=1)


class Solver:
    """A class with decorated methods."""

    @add_call_to_errors
    def __init__(self, size, limit=3):
        if size < 0:
            raise InputError("size is negative")

    @add_call_to_errors
    def solve(self, kernel, y):
        """Refuse."""
        raise InputError("no")

    @add_call_to_errors("solver(...)(x)")
    def __call__(self, x):
        raise InputError("no")

    @classmethod
    @add_call_to_errors
    def read(cls, path):
        """Refuse."""
        raise InputError("no")


class Special(Solver):
    """A class that inherits decorated methods."""


@pytest.mark.parametrize(
    ("go", "call"),
    [
        (lambda: inner(3, needed=1), "inner(x)"),
        (lambda: outer(3), "outer(model)"),
        (lambda: Solver(-1), "Solver(size)"),
        (lambda: Special(-1), "Special(size)"),
        (lambda: Special(1).solve(1, 2), "Special.solve(kernel, y)"),
        (lambda: Solver(1)(2), "solver(...)(x)"),
        (lambda: Special.read("p"), "Special.read(path)"),
    ],
)
def test_the_outermost_public_call_is_named(go, call):
    with pytest.raises(InputError) as caught:
        go()
    assert caught.value.call == call and str(caught.value).startswith(f"{call}: ")


def test_other_errors_pass_unchanged_and_functions_stay_what_they_are():
    @add_call_to_errors
    def divide(a, b=0):
        """Divide."""
        return a / b

    with pytest.raises(ZeroDivisionError):
        divide(1)
    assert divide(4, b=2) == 2
    assert divide.__doc__ == "Divide." and str(inspect.signature(divide)) == "(a, b=0)"
    assert pickle.loads(pickle.dumps(outer)) is outer


def test_an_error_without_a_public_call_has_no_call():
    error = GnomonError("a file is missing")
    assert error.call is None and str(error) == "a file is missing."
