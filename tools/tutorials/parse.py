"""Parses a tutorial: a Python script whose cells start with ``# %%`` (code) or ``# %% [markdown]``.

The first Markdown cell is a title, then one paragraph with the question of the tutorial. Lines before the first cell
may set ``# fast: true`` (the tests execute the script) and ``# thumbnail: 2`` (the number of the picture in the
gallery). A code cell describes each picture that it leaves open with a line ``# alt: ...``. The line ``# varies`` says
that its printed text differs between machines, such as a time; the tests do not compare it.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
MARKER = re.compile(r"^# %%[ \t]*(\[markdown\])?.*$", re.MULTILINE)
ALT = re.compile(r"^# alt:[ \t]*(.*)\n?", re.MULTILINE)
VARIES = re.compile(r"^# varies[ \t]*\n?", re.MULTILINE)
SETTING = re.compile(r"^# (fast|thumbnail):[ \t]*(\w+)$", re.MULTILINE)
HEADING = re.compile(r"\A# +(.+)\n+")
HASH_CHARACTERS = 16
"""Length of the hash that ties outputs to code."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a tutorial: Markdown text, or code with a description of each of its pictures."""

    kind: str
    text: str
    alts: tuple[str, ...] = ()
    varies: bool = False


@dataclass(frozen=True, slots=True)
class Tutorial:
    """A tutorial as its author wrote it, without its outputs."""

    slug: str
    cells: tuple[Cell, ...]
    fast: bool = False
    thumbnail: int = 1

    @property
    def title(self) -> str:
        """Returns the tutorial's title, which is the heading of the first cell."""
        match = HEADING.match(self.cells[0].text)
        return match[1].strip() if match else self.slug

    @property
    def question(self) -> str:
        """Returns the tutorial's question, which is the first paragraph below the title."""
        return " ".join(HEADING.sub("", self.cells[0].text).split("\n\n")[0].split())

    @property
    def hash(self) -> str:
        """Returns a hash of the tutorial's code, to notice that stored outputs are out of date."""
        code = "\n# %%\n".join(cell.text for cell in self.cells if cell.kind == "code")
        return hashlib.sha256(code.encode()).hexdigest()[:HASH_CHARACTERS]


def read(path: Path) -> Tutorial:
    """Reads a tutorial from its script."""
    return parse(path.read_text(encoding="utf-8"), path.stem)


def read_all(folder: Path = FOLDER) -> list[Tutorial]:
    """Reads the tutorials of all scripts in a folder, in the order of their numbers."""
    return [read(path) for path in sorted(folder.glob("[0-9][0-9]-*.py"))]


def parse(text: str, slug: str) -> Tutorial:
    """Splits the text of a script into the cells of a tutorial.

    >>> text = "# fast: true\\n# %% [markdown]\\n# # Sums\\n#\\n# What is 1 + 1?\\n# %%\\n# alt: dots\\n1 + 1\\n"
    >>> tutorial = parse(text, "01-sums")
    >>> tutorial.title, tutorial.question, tutorial.fast, tutorial.cells[1]
    ('Sums', 'What is 1 + 1?', True, Cell(kind='code', text='1 + 1', alts=('dots',), varies=False))
    """
    starts = list(MARKER.finditer(text))
    if not starts:
        raise ValueError(f"{slug}: no cell found; cells start with '# %%' or '# %% [markdown]'")
    ends = [match.start() for match in starts[1:]] + [len(text)]
    cells = [_cell(text[match.end() : end], bool(match[1])) for match, end in zip(starts, ends, strict=True)]
    settings = dict(SETTING.findall(text[: starts[0].start()]))
    return Tutorial(
        slug,
        tuple(cell for cell in cells if cell.text),
        fast=settings.get("fast") == "true",
        thumbnail=int(settings.get("thumbnail", 1)),
    )


def _cell(text: str, markdown: bool) -> Cell:
    if markdown:
        lines = [line.removeprefix("#").removeprefix(" ") for line in text.strip("\n").splitlines()]
        return Cell("markdown", "\n".join(lines).strip())
    alts = tuple(alt.strip() for alt in ALT.findall(text))
    code, varies = VARIES.subn("", ALT.sub("", text))
    return Cell("code", code.strip("\n"), alts, bool(varies))
