import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core import errors

BUILTIN = {
    errors.InputError: ValueError,
    errors.ReadError: ValueError,
    errors.NoLimitError: errors.ReadError,
    errors.BudgetError: MemoryError,
    errors.NotFiniteError: ArithmeticError,
    errors.MissingExtraError: ImportError,
    errors.NotConvergedError: RuntimeError,
    errors.WorkersLostError: RuntimeError,
    errors.WriteError: OSError,
}


@pytest.mark.parametrize(("kind", "builtin"), BUILTIN.items(), ids=lambda kind: kind.__name__)
def test_an_error_can_be_caught_as_the_builtin_and_as_ours(kind, builtin):
    for caught in (builtin, errors.GnomonError):
        with pytest.raises(caught, match="the message"):
            raise kind("the message")


def test_every_error_of_the_file_is_in_the_table():
    own = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__}
    assert own == BUILTIN.keys() | {errors.GnomonError}


@given(st.lists(st.text(), min_size=4, max_size=4))
def test_a_lesson_holds_its_four_parts_in_order(parts):
    call, found, hypothesis, cure = parts
    message, end = errors.lesson(call, found, hypothesis, cure), 0
    for piece in (call, ": ", found, " [H: ", hypothesis, "]. ", cure, "."):
        assert message.startswith(piece, end)
        end += len(piece)
    assert end == len(message)
