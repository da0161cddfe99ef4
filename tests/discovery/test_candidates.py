import pytest

from gnomon.core import InputError
from gnomon.discovery import Library
from gnomon.discovery.term import parse, parse_sum


def names(library, fields=("u",), space="x", **options):
    return [term.name for term in library.terms(fields, space, **options)]


def test_the_dictionary_of_products_is_the_published_one():
    found = set(names(Library(degree=2, order=2, products=True)))
    assert found == {"1", "u", "u^2", "u_x", "u_x^2", "u*u_x", "u_xx", "u_xx^2", "u*u_xx", "u_x*u_xx"}


def test_several_fields_directions_and_the_users_own_terms():
    found = names(Library(degree=1, order=1, extra=("u_x*v_y",), known={"V": [0.0]}), ("u", "v"), "xy")
    assert {"u*v_y", "v*u_x", "u_x*v_y", "V*u", "V"} <= set(found) and len(found) == len(set(found))


def test_complex_fields_keep_one_factor_with_phase():
    assert names(Library(degree=3, order=1), modulus=True) == ["u", "u*|u|", "u*|u|^2", "u_x", "u_x*|u|", "u_x*|u|^2"]


def test_terms_and_equations_are_read_as_people_write_them():
    assert parse("u_xx * u**2").name == "u^2*u_xx"
    assert [(c, t.name) for c, t in parse_sum("u_t = -6*u*u_x - u_xxx + 1e-3")] == [
        (1.0, "u_t"), (6.0, "u*u_x"), (1.0, "u_xxx"), (-1e-3, "1")]  # fmt: skip
    with pytest.raises(InputError, match="the term 'u_q' cannot be read at 'u_q'"):
        parse("u_q")
