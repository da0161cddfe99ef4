"""Represents the terms of an equation as products of fields, their derivatives and known functions.

A term is written as people write it: ``1``, ``u``, ``u^2``, ``u_x``, ``u*u_xx``, ``u*|u|^2``, ``V*u``.

>>> parse_term("u^2*u_xx").latex
'u^{2} u_{xx}'
>>> parse_term("u_x*u").name, parse_term("u*u").name
('u*u_x', 'u^2')
"""

import re
from collections import Counter
from dataclasses import dataclass

from gnomon.core.errors import InputError
from gnomon.core.results.record import Record

__all__ = ["TermFactor", "Term", "parse_term", "parse_equation_side"]

FACTOR = re.compile(r"(?P<symbol>\|\w+\||[^\W_]+(?:\([^()]*\))?)(?:_(?P<derivative>[xyzt]+))?(?:\^(?P<power>\d+))?")


@dataclass(frozen=True, slots=True, order=True)
class TermFactor(Record):
    """One factor of an equation's term: a field or function, the directions of its derivative, and its power.

    >>> TermFactor("u", "xx", 2).name
    'u_xx^2'
    """

    symbol: str
    derivative: str = ""
    power: int = 1

    @property
    def name(self) -> str:
        """Returns the factor as plain text, such as "u_x^2"."""
        below = f"_{self.derivative}" if self.derivative else ""
        return f"{self.symbol}{below}" + (f"^{self.power}" if self.power > 1 else "")

    @property
    def latex(self) -> str:
        """Returns the factor as LaTeX code."""
        below = f"_{{{self.derivative}}}" if self.derivative else ""
        return f"{self.symbol}{below}" + (f"^{{{self.power}}}" if self.power > 1 else "")


@dataclass(frozen=True, slots=True, order=True)
class Term(Record):
    """A term of an equation: a product of factors, such as u^2 * u_x; the empty product is the constant 1.

    >>> Term(()).name, Term((TermFactor("u"), TermFactor("u", "x"))).name
    ('1', 'u*u_x')
    """

    factors: tuple[TermFactor, ...]

    @property
    def name(self) -> str:
        """Returns the term as plain text, such as "u*u_xx"."""
        return "*".join(factor.name for factor in self.factors) or "1"

    @property
    def latex(self) -> str:
        """Returns the term as LaTeX code."""
        return " ".join(factor.latex for factor in self.factors) or "1"

    @property
    def derived(self) -> tuple[TermFactor, ...]:
        """Returns the factors of the term that contain a derivative."""
        return tuple(factor for factor in self.factors if factor.derivative)


def product(*factors: TermFactor) -> Term:
    """Returns the product of factors as a term of an equation; equal factors become powers."""
    powers: Counter[tuple[str, str]] = Counter()
    for factor in factors:
        powers[factor.symbol, factor.derivative] += factor.power
    gathered = [TermFactor(symbol, by, power) for (symbol, by), power in powers.items()]
    return Term(tuple(sorted(gathered, key=lambda f: (f.symbol.startswith("|"), len(f.derivative), f))))


def parse_term(text: str) -> Term:
    """Parses a term of an equation from text such as "u*u_xx".

    >>> [factor.name for factor in parse_term("u_x^2*v").factors]
    ['v', 'u_x^2']
    """
    if text.strip() == "1":
        return Term(())
    found = []
    for part in re.split(r"\*(?![^()]*\))", text.replace(" ", "").replace("**", "^")):
        match = FACTOR.fullmatch(part)
        if match is None:
            fix = "Write products such as 'u^2*u_xx', with '_' before the letters of a derivative"
            raise InputError(f"the term {text!r} cannot be read at {part!r}", accepted="a product of factors", fix=fix)
        letters = "".join(sorted(match["derivative"] or ""))
        found.append(TermFactor(match["symbol"], letters, int(match["power"] or 1)))
    return product(*found)


def parse_equation_side(text: str) -> list[tuple[float, Term]]:
    """Parses a sum of terms with coefficients, such as "u_t - 0.1*u_xx"; of an equation, left minus right side.

    >>> [(c, t.name) for c, t in parse_equation_side("u_t + u*u_x = 0.1*u_xx")]
    [(1.0, 'u_t'), (1.0, 'u*u_x'), (-0.1, 'u_xx')]
    """
    left, _, right = text.replace(" ", "").partition("=")
    found = []
    for side, sign in ((left, 1.0), (right, -1.0)):
        for piece in re.findall(r"[+-]?(?:[^+\-]|(?<=\d[eE])[+-])+", side):
            c = sign * (-1.0 if piece.startswith("-") else 1.0)
            rest = []
            for factor in piece.lstrip("+-").split("*"):
                try:
                    c *= float(factor)
                except ValueError:
                    rest.append(factor)
            if c:
                found.append((c, parse_term("*".join(rest)) if rest else Term(())))
    if not found:
        raise InputError(
            f"{text!r} has no terms",
            accepted="an equation such as 'u_t = 0.1*u_xx'",
            fix="Write an equation with at least one term",
        )
    return found
