"""Finds places in a package's source where errors can be planted (mutants), and chooses some at random."""

import ast
import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.mutate import operators, scope
from tools.mutate.syntax import Place
from tools.mutate.text import Edit, Source

__all__ = ["Mutant", "choose", "find", "plant_error", "shares"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted error: bytes ``start`` to ``end`` of a file are replaced by the text ``after``."""

    id: str
    file: str
    package: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the planted error as plain values for a line of JSON."""
        return asdict(self)

    def diff(self) -> str:
        """Describes a planted error as text: its file and line, the old code and the new code."""
        before, after = (" ".join(part.split()) for part in (self.before, self.after))
        return f"{self.file}:{self.line} [{self.kind}] {self.id}\n      {self.text}\n      - {before}\n      + {after}"


def find(file: Path, root: Path, package: str) -> list[Mutant]:
    """Returns every mutant (possible planted error) of a file, in the order of the text.

    An identity depends on the line's text and not on its number, so that results survive changes elsewhere in the file.
    """
    source = Source(file.read_text(encoding="utf-8"))
    around = scope.parents(source.tree)
    lines = source.data.decode().splitlines()
    found: dict[tuple[int, int, str], Mutant] = {}
    for node in scope.eligible(source.tree):
        for kind, edit in operators.edits(Place(node, source, around)):
            place = (edit.start, edit.end, edit.text)
            if place not in found:
                found[place] = _mutant(source, lines, edit, kind, file.relative_to(root).as_posix(), package)
    return sorted(found.values(), key=lambda m: (m.start, m.end, m.after))


def _mutant(source: Source, lines: list[str], edit: Edit, kind: str, file: str, package: str) -> Mutant:
    line = source.data.count(b"\n", 0, edit.start) + 1
    text = lines[line - 1].strip()
    nth = sum(other.strip() == text for other in lines[: line - 1])
    column = edit.start - source.starts[line - 1] - (len(lines[line - 1]) - len(lines[line - 1].lstrip()))
    before = source.data[edit.start : edit.end].decode()
    key = _hash(file, text, nth, column, before, kind, edit.text)[:10]
    return Mutant(key, file, package, line, kind, edit.start, edit.end, before, edit.text, text)


def plant_error(mutant: Mutant, data: bytes) -> bytes:
    """Returns the content of a source file after an error is planted in it."""
    return data[: mutant.start] + mutant.after.encode() + data[mutant.end :]


def shares(candidates: Iterable[Mutant], count: int, *, by_lines: bool = False) -> dict[str, int]:
    """Divides ``count`` mutants among the subpackages: equally, or in proportion to the lines that can be mutated."""
    places: dict[str, set[tuple[str, int]]] = {}
    for mutant in candidates:
        places.setdefault(mutant.package, set()).add((mutant.file, mutant.line))
    names = sorted(places)
    total = sum(len(found) for found in places.values())
    weights = [len(places[name]) / total if by_lines else 1 / len(names) for name in names]
    ends = [round(count * sum(weights[: i + 1])) for i in range(len(names))]
    return {name: end - start for name, start, end in zip(names, [0, *ends], ends, strict=False)}


def choose(candidates: list[Mutant], wanted: dict[str, int], seed: int, root: Path) -> list[Mutant]:
    """Chooses random mutants of each subpackage: kinds of error take turns, and each line is used once.

    The order of candidates is a hash of seed and identity: a larger count keeps the mutants of a smaller one.
    """
    chosen: list[Mutant] = []
    for package, count in wanted.items():
        pool = sorted((m for m in candidates if m.package == package), key=lambda m: _hash(seed, m.id))
        turns: dict[str, int] = {}
        order = []
        for mutant in pool:
            turns[mutant.kind] = turns.get(mutant.kind, 0) + 1
            order.append((turns[mutant.kind], _hash(seed, mutant.kind, package), mutant))
        used: set[tuple[str, int]] = set()
        for _, _, mutant in sorted(order, key=lambda item: item[:2]):
            if len(used) >= count:
                break
            if (mutant.file, mutant.line) not in used and _changes(mutant, root):
                used.add((mutant.file, mutant.line))
                chosen.append(mutant)
    return chosen


def _changes(mutant: Mutant, root: Path) -> bool:
    """Checks whether the source with the planted error is valid Python and differs in more than formatting."""
    data = (root / mutant.file).read_bytes()
    try:
        after = ast.dump(ast.parse(plant_error(mutant, data)))
    except SyntaxError:
        return False
    return after != ast.dump(ast.parse(data))


def _hash(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
