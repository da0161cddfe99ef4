"""Reads the explanation of a theory claim from the Markdown file next to the claim's Python file.

The file of a claim is ``claims/<kind>/<stem>.md``, with the stem of the claim's Python file; claims that share a file
have ``<id>.md`` instead. ``Measure`` may be absent, all other sections are required, in this order:

    Symbols, Why it holds, Where it fails, Exercise, Answer, Related, Measure

>>> text = "## Symbols\\n- $n$: number of examples.\\n## Why it holds\\nBecause.\\n## Where it fails\\nThere.\\n"
>>> text += "## Exercise\\nHow?\\n## Answer\\nSo.\\n## Related\\n- softmax: the same map.\\n"
>>> parse_explanation(text, "a-claim").symbols
(('n', 'number of examples.'),)
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gnomon.atlas import claims
from gnomon.atlas.catalog import catalog
from gnomon.core.errors import InputError
from gnomon.core.results.record import Record

__all__ = ["ClaimExplanation", "explanation_of_claim", "explanation_path", "parse_explanation"]

SECTIONS = ("Symbols", "Why it holds", "Where it fails", "Exercise", "Answer", "Related")
"""Required sections, in order."""
MEASURE = "Measure"
"""The section that may be absent."""


@dataclass(frozen=True, slots=True)
class ClaimExplanation(Record):
    """The written explanation of a theory claim, as Markdown texts with formulas between dollar signs.

    ``symbols`` are pairs of TeX and meaning, ``related`` pairs of a claim's id and a sentence, ``measure`` pairs of a
    call and a sentence.
    """

    symbols: tuple[tuple[str, str], ...]
    why: str
    fails: str
    exercise: str
    answer: str
    related: tuple[tuple[str, str], ...]
    measure: tuple[tuple[str, str], ...] = ()


def parse_explanation(text: str, name: str) -> ClaimExplanation:
    """Parses the Markdown explanation of a claim into its sections; raises an error if one is missing, empty or
    misplaced.

    >>> parse_explanation("## Symbols", "a-claim")
    Traceback (most recent call last):
    gnomon.core.errors.InputError: a-claim: the section "Symbols" of its Markdown file is empty.
    """
    parts = re.split(r"^## +(.+?) *$", text, flags=re.MULTILINE)
    if parts[0].strip():
        raise InputError(
            f"{name}: its Markdown file must begin with a section, but it begins with {parts[0].strip()[:40]!r}."
        )
    found = {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}
    if unknown := [title for title in found if title not in (*SECTIONS, MEASURE)]:
        raise InputError(
            f"{name}: its Markdown file has an unknown section {unknown[0]!r}; sections are {', '.join(SECTIONS)}."
        )
    if empty := [title for title, body in found.items() if not body]:
        raise InputError(f'{name}: the section "{empty[0]}" of its Markdown file is empty.')
    if missing := [title for title in SECTIONS if title not in found]:
        raise InputError(f'{name}: its Markdown file has no section "{missing[0]}".')
    order = [title for title in (*SECTIONS, MEASURE) if title in found]
    if list(found) != order or len(parts) // 2 != len(found):
        raise InputError(
            f"{name}: the sections of its Markdown file must be, once each and in order: {', '.join(order)}."
        )
    return ClaimExplanation(
        symbols=_pairs(_words_as_symbols(found["Symbols"]), r"\$(.+?)\$", name, "$symbol$: meaning"),
        why=found["Why it holds"],
        fails=found["Where it fails"],
        exercise=found["Exercise"],
        answer=found["Answer"],
        related=_pairs(found["Related"], r"`?([a-z0-9-]+?)`?", name, "claim-id: sentence"),
        measure=_calls(found.get(MEASURE, ""), name),
    )


def _words_as_symbols(body: str) -> str:
    """Marks words that a list of symbols defines, such as "- accuracy: meaning", as formulas."""
    return re.sub(r"^- +([A-Za-z]+):", r"- $\\mathrm{\1}$:", body, flags=re.MULTILINE)


def _pairs(body: str, head: str, name: str, form: str) -> tuple[tuple[str, str], ...]:
    """Parses a Markdown list with items "- head: text" into pairs (head, text); indented lines continue an item."""
    items = re.split(r"^- +", body, flags=re.MULTILINE)
    if items[0].strip():
        raise InputError(
            f"{name}: expected lines of the form '- {form}', but the list begins with {items[0].strip()[:40]!r}."
        )
    pairs = []
    for item in items[1:]:
        match = re.fullmatch(rf"{head}((?:(?:, ?(?:and )?| and ){head})*) *: +(.+)", " ".join(item.split()))
        if match is None:
            raise InputError(f"{name}: expected '- {form}', but found {item.strip()[:60]!r}.")
        meaning = match[match.re.groups]
        pairs += [(first, meaning) for first in (match[1], *re.findall(head, match[2]))]
    return tuple(pairs)


def _calls(body: str, name: str) -> tuple[tuple[str, str], ...]:
    calls = []
    for item in re.split(r"\n(?=(?:[-*] +)?`[^`\n]+` *:)", body) if body else ():
        match = re.fullmatch(r"(?:[-*] +)?`(gnomon\.[^`]+)` *: +(.+)", " ".join(item.split()))
        if match is None:
            raise InputError(
                f"{name}: expected '`gnomon.x.y(...)`: sentence' in Measure, but found {item.strip()[:60]!r}."
            )
        calls.append((match[1], match[2]))
    return tuple(calls)


@cache
def explanation_path(name: str) -> str:
    """Returns the path of a claim's Markdown explanation, relative to the folder of claims.

    >>> explanation_path("perceptron-novikoff"), explanation_path("pde-find-kdv")
    ('basics/perceptron_novikoff.md', 'discovery/pde-find-kdv.md')
    """
    entry = catalog()[name]
    shared = sum(other.code == entry.code for other in catalog().values() if other.kind == entry.kind) > 1
    return f"{entry.kind.replace('-', '_')}/{name if shared else entry.stem}.md"


@cache
def explanation_of_claim(name: str) -> ClaimExplanation | None:
    """Returns the explanation of a theory claim; None if its Markdown file does not exist.

    Cost: a small file is read.

    >>> explanation_of_claim("perceptron-novikoff") is None or bool(explanation_of_claim("perceptron-novikoff").why)
    True
    """
    path = files(claims.__name__).joinpath(*explanation_path(name).split("/"))
    return parse_explanation(path.read_text(encoding="utf-8"), name) if path.is_file() else None
