"""All claims of the atlas, found as files: ``claims/<kind>/<name>.py`` with one `Claim` called ``CLAIM``.

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
from types import ModuleType

from gnomon.atlas import claims
from gnomon.core.errors import InputError
from gnomon.core.record import Record
from gnomon.lab import Claim

__all__ = ["Entry", "catalog", "chosen", "cite"]


@dataclass(frozen=True, slots=True)
class Entry(Record):
    """A claim in the atlas: its kind, and the source code of its file."""

    claim: Claim
    kind: str
    code: str = field(repr=False)


@cache
def catalog() -> dict[str, Entry]:
    """Every claim by its id, by kind and then by name.

    Cost: the import of all claims, once.

    >>> all(entry.claim.id == name for name, entry in catalog().items())
    True
    """
    found: dict[str, Entry] = {}
    for kind in sorted(info.name for info in pkgutil.iter_modules(claims.__path__)):
        folder = import_module(f"{claims.__name__}.{kind}")
        for name in sorted(info.name for info in pkgutil.iter_modules(folder.__path__)):
            entry = _entry(import_module(f"{folder.__name__}.{name}"), kind)
            if entry.claim.id in found:
                raise InputError(f"catalog(): two claims are called {entry.claim.id!r}.")
            found[entry.claim.id] = entry
    return found


def chosen(ids: list[str]) -> list[Entry]:
    """The claims of these ids or kinds; all of them for an empty list. An unknown id is answered with the nearest ones.

    Cost: that of `catalog`.

    >>> len(chosen([])) == len(catalog())
    True
    """
    from difflib import get_close_matches

    known, kinds = catalog(), {entry.kind for entry in catalog().values()}
    covers = {other: entry for entry in known.values() for other in entry.claim.covers}
    result: dict[str, Entry] = {}
    for name in ids or list(known):
        if name in kinds:
            result |= {key: entry for key, entry in known.items() if entry.kind == name}
        elif name in known or name in covers:
            entry = known.get(name) or covers[name]
            result[entry.claim.id] = entry
        elif name in _ledger():
            result |= {entry.claim.id: entry for entry in chosen([_claim_of(name)])}
        else:
            near = get_close_matches(name, [*known, *covers, *kinds], 3, 0.4)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise InputError(f"atlas: there is no claim or kind {name!r}.{hint} `gnomon atlas list` shows all.")
    return list(result.values())


@cache
def _ledger() -> dict[str, dict[str, str]]:
    """What covers statements without a claim of their own."""
    found: dict[str, dict[str, str]] = json.loads((files("gnomon.atlas") / "ledger.json").read_text(encoding="utf-8"))
    return found


def _claim_of(name: str) -> str:
    """The claim that a statement of the ledger is an alias of, or an error that says what covers it instead."""
    row = _ledger()[name]
    if row["status"] == "alias":
        return row["of"]
    covered = f"the function {row['api']}" if row["status"] == "api" else f"a note: {row.get('text', '')}"
    raise InputError(f"atlas: there is no claim {name!r}; what covers this statement is {covered}")


def cite(name: str) -> str:
    """The BibTeX entry of the reference of a claim.

    Cost: the bibliography is read.

    >>> cite("perceptron-novikoff").splitlines()[0]
    '@inproceedings{novikoff1962convergence,'
    """
    key = chosen([name])[0].claim.source.reference
    text = (files("gnomon") / "references.bib").read_text(encoding="utf-8")
    entry = re.search(rf"^@\w+\{{{re.escape(key)},\n.*?^\}}", text, re.MULTILINE | re.DOTALL) if key else None
    if entry is None:
        raise InputError(f"atlas cite {name}: this claim is derived in its own file and cites no reference.")
    return entry[0]


def _entry(module: ModuleType, kind: str) -> Entry:
    claim = getattr(module, "CLAIM", None)
    if not isinstance(claim, Claim):
        raise InputError(f"catalog(): {module.__name__} must define CLAIM, a gnomon.lab.Claim.")
    return Entry(claim, kind.replace("_", "-"), inspect.getsource(module))
