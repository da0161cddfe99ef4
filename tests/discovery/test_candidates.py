import pytest

from gnomon.core import InputError
from gnomon.discovery import TermLibrary
from gnomon.discovery.term import parse_equation_side, parse_term


def names(library, fields=("u",), space="x", **options):
    return [term.name for term in library.terms(fields, space, **options)]


def test_the_dictionary_of_products_is_the_published_one():
    found = set(names(TermLibrary(degree=2, order=2, products=True)))
    assert found == {"1", "u", "u^2", "u_x", "u_x^2", "u*u_x", "u_xx", "u_xx^2", "u*u_xx", "u_x*u_xx"}


def test_several_fields_directions_and_the_users_own_terms():
    found = names(TermLibrary(degree=1, order=1, extra=("u_x*v_y",), known={"V": [0.0]}), ("u", "v"), "xy")
    assert {"u*v_y", "v*u_x", "u_x*v_y", "V*u", "V"} <= set(found) and len(found) == len(set(found))


def test_complex_fields_keep_one_factor_with_phase():
    assert names(TermLibrary(degree=3, order=1), modulus=True) == [
        "u",
        "u*|u|",
        "u*|u|^2",
        "u_x",
        "u_x*|u|",
        "u_x*|u|^2",
    ]


def test_terms_and_equations_are_read_as_people_write_them():
    assert parse_term("u_xx * u**2").name == "u^2*u_xx"
    assert [(c, t.name) for c, t in parse_equation_side("u_t = -6*u*u_x - u_xxx + 1e-3")] == [
        (1.0, "u_t"), (6.0, "u*u_x"), (1.0, "u_xxx"), (-1e-3, "1")]  # fmt: skip
    with pytest.raises(InputError, match="the term 'u_q' cannot be read at 'u_q'"):
        parse_term("u_q")


def test_defaults_reach_cubes_and_fourth_derivatives():
    found = names(TermLibrary())
    assert len(found) == 4 * 5 and {"1", "u^3", "u_xxxx", "u^3*u_xxxx"} <= set(found)
    assert names(TermLibrary(degree=0, order=0)) == ["1"] and names(TermLibrary(degree=2), space="") == [
        "1",
        "u",
        "u^2",
    ]


def test_two_complex_fields_have_moduli_below_the_degree():
    found = names(TermLibrary(degree=2, order=1), ("u", "v"), modulus=True)
    plain = {"u", "v", "u*|u|", "u*|v|", "v*|u|", "v*|v|"}
    assert set(found) == plain | {"u_x", "v_x", "u_x*|u|", "u_x*|v|", "v_x*|u|", "v_x*|v|"}


def test_sums_are_read_with_signs_exponents_and_constants():
    found = [(c, t.name) for c, t in parse_equation_side("2*u*3 - 1e-2*u_x = -v + 4 - 0*u")]
    assert found == [(6.0, "u"), (-0.01, "u_x"), (1.0, "v"), (-4.0, "1")]
    assert parse_term("u*u^2*u_yx*u_xy").name == "u^3*u_xy^2"
