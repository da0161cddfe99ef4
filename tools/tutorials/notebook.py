"""Writes a tutorial with its outputs as a Jupyter notebook (format 4.5)."""

import base64
import json
import re
from pathlib import Path
from typing import Any

from tools.tutorials.parse import FOLDER, Cell, Tutorial
from tools.tutorials.render import alts
from tools.tutorials.store import Stored, StoredCell

MIME = {"svg": "image/svg+xml", "png": "image/png"}
BOX = re.compile(r'^(?:!!!|\?\?\?\+?) +\w+(?: +"([^"]*)")?\n((?:(?:    .*)?\n)*(?:    .*)?)', re.MULTILINE)
"""A box of the pages: a line that names its kind and title, then indented text."""
LINK = re.compile(r"\]\((?!https?://)([^)]+)\)")


def notebook(tutorial: Tutorial, stored: Stored, folder: Path = FOLDER) -> str:
    """Returns the text of an .ipynb file with the cells and outputs of a tutorial."""
    cells, outputs, number = [], iter(stored.cells), 0
    for index, cell in enumerate(tutorial.cells):
        kept = next(outputs) if cell.kind == "code" else StoredCell("", [])
        cells.append({"id": f"cell-{index}", **_cell(cell, kept, folder / "outputs" / tutorial.slug, number, index)})
        number += len(kept.pictures)
    language = {"name": "python", "version": "3.11"}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel, "language_info": language}}
    return json.dumps({**whole, "cells": cells}, ensure_ascii=False, indent=1) + "\n"


def _cell(cell: Cell, kept: StoredCell, place: Path, number: int, index: int) -> dict[str, Any]:
    if cell.kind == "markdown":
        return {"cell_type": "markdown", "metadata": {}, "source": _lines(plain_markdown(cell.text))}
    outputs: list[dict[str, Any]] = []
    if kept.text:
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(kept.text + "\n")})
    for offset, (ending, alt) in enumerate(zip(kept.pictures, alts(cell, len(kept.pictures)), strict=True), 1):
        data = (place / f"{number + offset}-light.{ending}").read_bytes()
        shown = data.decode() if ending == "svg" else base64.b64encode(data).decode()
        bundle = {MIME[ending]: shown, "text/plain": alt}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": bundle})
    return {
        "cell_type": "code", "metadata": {}, "execution_count": None, "source": _lines(cell.text), "outputs": outputs,
    }  # fmt: skip


def plain_markdown(text: str) -> str:
    """Converts Markdown of the site to Markdown that every notebook shows: boxes become quotes, links become text.

    >>> plain_markdown('??? success "Answer"\\n    Two, see [the page](../a.md).')
    '> **Answer**\\n>\\n> Two, see the page.'
    """
    text = re.sub(r"\[([^\]]+)" + LINK.pattern, r"\1", text)
    return BOX.sub(_quote, text)


def _quote(match: re.Match[str]) -> str:
    body = [line.removeprefix("    ") for line in match[2].strip("\n").splitlines()]
    quoted = "\n".join(f"> {line}".rstrip() for line in [f"**{match[1] or 'Note'}**", "", *body])
    return quoted + ("\n" if match[0].endswith("\n") else "")


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
