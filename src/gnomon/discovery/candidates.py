"""Builds the library of candidate terms, such as u, u^2 and u*u_x, from which an equation is chosen.

    {products of at most `degree` fields} x {1, all derivatives up to `order`}                                 (1)

and whatever the user adds. With ``products`` the library is every product of at most ``degree`` fields and
derivatives, such as u_x^2 and u_x*u_xx. Complex fields enter powers by their modulus, u*|u|^2, so that the equation
keeps its phase symmetry.
Hypotheses: the right-hand side is a sum of few of these terms.
Reference: [rudy2017data].

>>> [term.name for term in TermLibrary(degree=2, order=2).terms(("u",), "x")]
['1', 'u', 'u^2', 'u_x', 'u*u_x', 'u^2*u_x', 'u_xx', 'u*u_xx', 'u^2*u_xx']
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import check_integer
from gnomon.core.results.record import Record
from gnomon.discovery.term import Term, TermFactor, parse_term, product

__all__ = ["TermLibrary"]


@dataclass(frozen=True, slots=True)
class TermLibrary(Record):
    """The library of candidate terms of an equation, such as u, u^2 and u*u_x; users can add their own terms.

    ``extra`` are further terms as text, ``known`` functions of space and time by name, such as a potential, and
    ``functions`` functions of the fields by name, such as ``{"sin(u)": numpy.sin}``; both multiply every field.
    ``only`` replaces (1), and these products, by a list of terms. Terms that are ``tied`` share one coefficient, such
    as ``("u_xx", "u_yy")`` if all directions are equivalent.

    >>> [term.name for term in TermLibrary(degree=1, order=1, extra=("u_x^2",)).terms(("u",), "x")]
    ['1', 'u', 'u_x', 'u*u_x', 'u_x^2']
    """

    degree: int = 3
    order: int = 4
    products: bool = False
    extra: Sequence[str] = ()
    only: Sequence[str] = ()
    known: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    tied: Sequence[Sequence[str]] = ()

    def terms(self, fields: Sequence[str], space: str, *, modulus: bool = False) -> tuple[Term, ...]:
        """Returns all candidate terms of an equation for these fields and space directions."""
        if self.only:
            found = [parse_term(text) for text in self.only]
        else:
            degree = check_integer("degree", self.degree, least=0)
            order = check_integer("order", self.order, least=0) if space else 0
            found = (
                self._products(fields, space, degree, order)
                if self.products
                else self._table(fields, space, degree, order, modulus)
            )
        found += [parse_term(text) for text in self.extra]
        if not self.only:
            given = (*self.known, *self.functions)
            found += [product(TermFactor(name), TermFactor(f)) for f in fields for name in given]
            found += [] if modulus else [Term((TermFactor(name),)) for name in given]
        unique = tuple(dict.fromkeys(found))
        if not unique:
            raise InputError("the library has no terms", accepted="at least one term", fix="Raise degree or order")
        return unique

    def _table(self, fields: Sequence[str], space: str, degree: int, order: int, modulus: bool) -> list[Term]:
        powers: list[tuple[TermFactor, ...]]
        if modulus:  # Complex fields also get terms u |u|^q, in which one factor u carries the phase.
            powers = [
                tuple(map(TermFactor, c))
                for q in range(degree)
                for c in combinations_with_replacement([f"|{f}|" for f in fields], q)
            ]
            plain = [product(TermFactor(f), *p) for f in fields for p in powers]
        else:
            powers = [
                tuple(map(TermFactor, c)) for q in range(degree + 1) for c in combinations_with_replacement(fields, q)
            ]
            plain = [product(*p) for p in powers]
        return plain + [
            product(*p, TermFactor(f, by)) for f in fields for by in derivatives(space, order) for p in powers
        ]

    def _products(self, fields: Sequence[str], space: str, degree: int, order: int) -> list[Term]:
        pieces = [TermFactor(f, by) for by in ("", *derivatives(space, order)) for f in fields]
        return [product(*c) for q in range(degree + 1) for c in combinations_with_replacement(pieces, q)]


def derivatives(space: str, order: int) -> list[str]:
    """Returns the names of all derivatives up to an order in some directions, such as "x", "xx" and "xy".

    >>> derivatives("xy", 2)
    ['x', 'y', 'xx', 'xy', 'yy']
    """
    return ["".join(c) for k in range(1, order + 1) for c in combinations_with_replacement(space, k)]
