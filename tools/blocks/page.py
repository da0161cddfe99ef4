"""Reads the Python blocks of a documentation page, executes them, and stores or shows what they print."""

import doctest
import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.tutorials.execute import CellOutput, Picture, run_cell, session
from tools.tutorials.parse import ALT
from tools.tutorials.render import output_block, picture

ROOT = Path(__file__).resolve().parents[2]
OUTPUTS = ROOT / "docs" / "outputs"
BLOCK = re.compile(r"^(<!-- varies -->\n)?```python[^\n]*\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(
    r"^(```python[^\n]*\n(?:(?!^```).*\n)*```\n)(?:\n```text output\n(?:(?!^```).*\n)*```\n)?", re.MULTILINE
)
MAX_LINES = 60
MAX_LINE_CHARACTERS = 1000
HASH_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Block:
    """A Python block of a documentation page: its line, its code, and whether its output may differ between
    machines.
    """

    line: int
    code: str
    varies: bool

    @property
    def is_session(self) -> bool:
        """Checks whether the block has ``>>>`` lines, which already contain their output."""
        return ">>>" in self.code


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """The stored output of a Python block; the hash changes if its code or earlier code on the page changes."""

    hash: str
    text: str
    pictures: list[str]


def blocks(page: Path) -> list[Block]:
    """Returns all Python blocks of a documentation page."""
    text = page.read_text(encoding="utf-8")
    return [Block(text.count("\n", 0, match.start(2)) + 1, match[2], bool(match[1])) for match in BLOCK.finditer(text)]


def hashes(found: list[Block]) -> list[str]:
    """Returns one hash for each Python block, computed from all code of the page up to the end of the block."""
    running, result = hashlib.sha256(), []
    for block in found:
        running.update(ALT.sub("", block.code).encode())
        result.append(running.hexdigest()[:HASH_CHARACTERS])
    return result


def run(page: Path, *, quiet: bool = True) -> list[CellOutput]:
    """Executes the Python blocks of a page; raises an error if one fails or ``>>>`` lines have another output."""
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs = []
    with session(quiet=quiet):
        for block in blocks(page):
            if block.is_session:
                test = doctest.DocTestParser().get_doctest(block.code, names, page.name, str(page), block.line - 1)
                options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
                doctest.DebugRunner(optionflags=options).run(test, clear_globs=False)
                names |= test.globs
                outputs.append(CellOutput())
                continue
            # Empty lines before the code make errors show the line numbers of the page.
            code = "\n" * (block.line - 1) + block.code
            output = run_cell(code, names, str(page), every_value=True)
            outputs.append(CellOutput(shorten(output.text), output.pictures if ALT.search(block.code) else []))
    return outputs


def shorten(text: str) -> str:
    """Shortens printed output so that it fits a page; dots mark lines and texts that were cut."""
    lines = [
        f"{line[:MAX_LINE_CHARACTERS]} ..." if len(line) > MAX_LINE_CHARACTERS else line for line in text.splitlines()
    ]
    more = len(lines) - MAX_LINES
    return "\n".join([*lines[:MAX_LINES], f"... {more} more lines"] if more > 0 else lines)


def place(page: Path) -> Path:
    """Returns the path of the file that stores the outputs of a documentation page."""
    inside = page.relative_to(ROOT / "docs") if page.is_relative_to(ROOT / "docs") else page.relative_to(ROOT)
    return OUTPUTS / inside.with_suffix(".json")


def write(page: Path, outputs: list[CellOutput]) -> None:
    """Stores the outputs of a page; also writes them into the page itself if it is not part of the website."""
    file, stored, number = place(page), [], 0
    for old in file.parent.glob(f"{file.stem}-[0-9]*"):
        old.unlink()
    for key, output in zip(hashes(blocks(page)), outputs, strict=True):
        names = []
        for one in output.pictures:
            number += 1
            names.append(_write_picture(file, number, one))
        stored.append(StoredBlock(key, output.text, names))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(block) for block in stored], indent=1, ensure_ascii=False) + "\n", "utf-8")
    if not page.is_relative_to(ROOT / "docs"):
        texts = iter(stored)
        page.write_text(SHOWN.sub(lambda match: _with_text(match, next(texts)), page.read_text("utf-8")), "utf-8")


def load(page: Path) -> list[StoredBlock] | None:
    """Returns the stored outputs of a page; None if the page's code has changed since."""
    found = blocks(page)
    if not found or not place(page).exists():
        return None if found else []
    stored = [StoredBlock(**fields) for fields in json.loads(place(page).read_text(encoding="utf-8"))]
    described = [len(ALT.findall(block.code)) for block in found]
    current = [block.hash for block in stored] == hashes(found)
    return stored if current and [len(block.pictures) for block in stored] == described else None


def with_outputs(markdown: str, page: Path) -> str:
    """Returns the text of a page with the output below each block."""
    stored = iter(load(page) or [])
    file = place(page)
    up = "../" * (len(page.relative_to(ROOT / "docs").parts) - 1)
    return BLOCK.sub(lambda match: _with_output(match, next(stored, None), f"{up}outputs/", file), markdown)


def _with_output(match: re.Match[str], block: StoredBlock | None, folder: str, file: Path) -> str:
    code = ALT.sub("", match[0].removeprefix(match[1] or ""))
    parts = [code]
    if block is not None and block.text:
        parts.append(f"\n{output_block(block.text)}\n")
    if block is not None:
        inside = file.parent.relative_to(OUTPUTS).as_posix()
        for name, alt in zip(block.pictures, ALT.findall(match[2]), strict=True):
            stem, _, ending = name.rpartition(".")
            address = f"{folder}{inside}/{stem}" if inside != "." else f"{folder}{stem}"
            parts.append(f"\n{picture(address, ending, alt)}\n")
    return "".join(parts)


def _write_picture(file: Path, number: int, one: Picture) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    for kind, data in (("light", one.light), ("dark", one.dark)):
        (file.parent / f"{file.stem}-{number}-{kind}.{one.suffix}").write_bytes(data)
    return f"{file.stem}-{number}.{one.suffix}"


def _with_text(match: re.Match[str], block: StoredBlock) -> str:
    return f"{match[1]}\n```text output\n{block.text}\n```\n" if block.text else match[1]
