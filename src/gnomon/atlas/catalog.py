"""Finds all theory claims of the atlas; each is a Python file in ``claims/<kind>``.

A file defines one `Claim` called ``CLAIM``, or several that differ only by a table, in a tuple called ``CLAIMS``. One
claim is found without importing the others.

>>> entry = catalog()["perceptron-novikoff"]
>>> entry.kind, "def observed" in entry.code
('basics', True)
"""

import inspect
import json
import pkgutil
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from gnomon.atlas import claims
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results.record import Record
from gnomon.lab import Claim

__all__ = ["CatalogEntry", "catalog", "select_entries", "bibtex_of_claim", "claim_kinds"]


@dataclass(frozen=True, slots=True)
class CatalogEntry(Record):
    """One theory claim of the atlas with its kind, its source code and the name of its file."""

    claim: Claim
    kind: str
    code: str = field(repr=False)
    stem: str = ""


@cache
@add_call_to_errors
def catalog() -> dict[str, CatalogEntry]:
    """Returns every theory claim of the atlas by its id, sorted by kind and name.

    Cost: the import of all claims, once.

    >>> all(entry.claim.id == name for name, entry in catalog().items())
    True
    """
    found: dict[str, CatalogEntry] = {}
    for kind in claim_kinds():
        for stem in _stems(kind):
            for entry in _entries(kind, stem):
                if entry.claim.id in found:
                    raise InputError(f"two claims are called {entry.claim.id!r}")
                found[entry.claim.id] = entry
    return found


def claim_kinds() -> list[str]:
    """Returns the names of the kinds of theory claims, such as "kernel-limit".

    >>> "basics" in claim_kinds()
    True
    """
    return sorted(info.name.replace("_", "-") for info in pkgutil.iter_modules(claims.__path__))


def select_entries(ids: list[str]) -> list[CatalogEntry]:
    """Returns the theory claims with some ids or of some kinds, or all claims for an empty list; unknown ids raise an
    error.

    Cost: the import of the chosen claims.

    >>> [entry.claim.id for entry in select_entries(["perceptron-novikoff"])]
    ['perceptron-novikoff']
    """
    result: dict[str, CatalogEntry] = {}
    for name in ids:
        if name in claim_kinds():
            found = [entry for stem in _stems(name) for entry in _entries(name, stem)]
        elif (entry := _find(name)) is not None:
            found = [entry]
        elif "status" in _ledger().get(name, {}):
            found = select_entries([_claim_of(name)])
        else:
            raise InputError(_unknown(name))
        result |= {entry.claim.id: entry for entry in found}
    return list(result.values()) if ids else list(catalog().values())


def _find(name: str) -> CatalogEntry | None:
    """Finds the theory claim with an id; imports only files that mention the id, because importing all is slow."""
    stem = name.replace("-", "_")
    files_of = [(kind, other) for kind in claim_kinds() for other in _stems(kind)]
    likely = [pair for pair in files_of if pair[1] == stem] or [
        pair for pair in files_of if f'"{name}"' in _text(*pair)
    ]
    for kind, other in likely:
        for entry in _entries(kind, other):
            if name == entry.claim.id or name in entry.claim.covers:
                return entry
    return None


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    covered = [other for entry in catalog().values() for other in entry.claim.covers]
    near = get_close_matches(name, [*catalog(), *covered, *claim_kinds()], 3, 0.4)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"atlas: no claim or kind has the name {name!r}.{hint} `gnomon atlas list` shows all."


@cache
def _ledger() -> dict[str, dict[str, Any]]:
    """Reads the file that lists, for each statement of the theory, the claim, function or test that treats it."""
    found: dict[str, dict[str, Any]] = json.loads((files("gnomon.atlas") / "ledger.json").read_text(encoding="utf-8"))
    return found


def _claim_of(name: str) -> str:
    """Returns the id that an alias of a claim stands for; for other names, raises an error that says what treats the
    statement.
    """
    row = _ledger()[name]
    if row["status"] == "alias":
        return str(row["of"])
    covered = f"the function {row['api']}" if row["status"] == "api" else f"a note: {row['clauses'][0]['left_out']}"
    raise InputError(f"atlas: no claim has the id {name!r}; this statement is covered by {covered}")


@add_call_to_errors
def bibtex_of_claim(name: str) -> str:
    """Returns the BibTeX entry of the publication that a theory claim cites.

    Cost: the bibliography is read.

    >>> bibtex_of_claim("perceptron-novikoff").splitlines()[0]
    '@inproceedings{novikoff1962convergence,'
    """
    key = select_entries([name])[0].claim.source.reference
    text = (files("gnomon") / "references.bib").read_text(encoding="utf-8")
    entry = re.search(rf"^@\w+\{{{re.escape(key)},\n.*?^\}}", text, re.MULTILINE | re.DOTALL) if key else None
    if entry is None:
        raise InputError(f"atlas cite {name}: this claim is derived in its own file and cites no reference.")
    return entry[0]


@cache
def _stems(kind: str) -> tuple[str, ...]:
    """Returns the names, without extension, of the files that define theory claims of one kind."""
    folder = files(claims.__name__) / kind.replace("-", "_")
    return tuple(
        sorted(path.name[:-3] for path in folder.iterdir() if path.name.endswith(".py") and path.name[0] != "_")
    )


def _text(kind: str, stem: str) -> str:
    return (files(claims.__name__) / kind.replace("-", "_") / f"{stem}.py").read_text(encoding="utf-8")


@cache
def _entries(kind: str, stem: str) -> tuple[CatalogEntry, ...]:
    """Imports one file and returns the theory claims that it defines."""
    module = import_module(f"{claims.__name__}.{kind.replace('-', '_')}.{stem}")
    defined = getattr(module, "CLAIMS", None) or (getattr(module, "CLAIM", None),)
    found = [claim for claim in defined if isinstance(claim, Claim)]
    if len(found) < len(defined):
        raise InputError(f"{module.__name__} must define CLAIM, a gnomon.lab.Claim, or a tuple CLAIMS")
    code = inspect.getsource(module)
    return tuple(CatalogEntry(claim.with_functions_of(module), kind, code, stem) for claim in found)
