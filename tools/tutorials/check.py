"""Checks what every tutorial needs: a question, a prediction box, exercises with folded answers, described pictures."""

import re

from tools.tutorials.parse import Tutorial
from tools.tutorials.store import Stored

MIN_WORDS = 600
MAX_WORDS = 1000
MIN_PICTURES = 3
MIN_EXERCISES = 3
MIN_ALT_CHARACTERS = 25
MAX_SECONDS = 120.0
PREDICT = re.compile(r'^!!! question "Predict before you run"', re.MULTILINE)
ANSWER = re.compile(r'^\?\?\? success "Answer', re.MULTILINE)
REMEMBER = re.compile(r'^!!! tip "Three lines to remember"\n((?:(?:    .*)?\n)*(?:    .*)?)', re.MULTILINE)
CLAIM = re.compile(r"\]\((?:claim:|[./]*atlas/claims/)[\w-]+")
FUNCTION = re.compile(r"`gnomon\.[a-z_]+(?:\.\w+)*(?:\([^`]*\))?`")
HTML_OR_LINK = re.compile(r"\]\([^)]*\)|<[^>]+>|^\s*(?:!!!|\?\?\?).*$", re.MULTILINE)


def problems(tutorial: Tutorial, stored: Stored | None) -> list[str]:
    """Lists in sentences what a tutorial lacks; an empty list if it is complete."""
    text = "\n\n".join(cell.text for cell in tutorial.cells if cell.kind == "markdown") + "\n"
    found = _text(text, tutorial)
    if stored is None:
        return [*found, "has no current outputs"]
    return found + _pictures(tutorial, stored)


def words(tutorial: Tutorial) -> int:
    """Counts the words of a tutorial's prose, without captions of boxes and link targets."""
    text = "\n".join(cell.text for cell in tutorial.cells if cell.kind == "markdown")
    return len(re.findall(r"[^\W_]+(?:[-'.][^\W_]+)*", HTML_OR_LINK.sub(" ", text)))


def _text(text: str, tutorial: Tutorial) -> list[str]:
    found = []
    if not MIN_WORDS <= (count := words(tutorial)) <= MAX_WORDS:
        found.append(f"has {count} words; {MIN_WORDS} to {MAX_WORDS} are asked for")
    if not tutorial.cells[0].text.startswith("# "):
        found.append("does not start with a title")
    if not tutorial.question.rstrip("*_").endswith("?"):
        found.append(f"the first paragraph is not a question: {tutorial.question!r}")
    if not PREDICT.search(text):
        found.append('has no box `!!! question "Predict before you run"`')
    if (answers := len(ANSWER.findall(text))) < MIN_EXERCISES:
        found.append(f'has {answers} folded answers `??? success "Answer"`, not {MIN_EXERCISES}')
    if not (box := REMEMBER.search(text)) or len(re.findall(r"^    (?:[-*]|\d\.) ", box[1], re.MULTILINE)) != 3:
        found.append('has no box `!!! tip "Three lines to remember"` with a list of three')
    if not CLAIM.search(text):
        found.append("links to no claim of the atlas")
    if not FUNCTION.search(text):
        found.append("names no function as `gnomon...`")
    return found


def _pictures(tutorial: Tutorial, stored: Stored) -> list[str]:
    found = []
    if (count := len(stored.pictures())) < MIN_PICTURES:
        found.append(f"has {count} pictures, not {MIN_PICTURES}")
    code = [cell for cell in tutorial.cells if cell.kind == "code"]
    for number, (cell, kept) in enumerate(zip(code, stored.cells, strict=True), 1):
        if len(cell.alts) != len(kept.pictures):
            found.append(f"code cell {number} has {len(kept.pictures)} pictures and {len(cell.alts)} lines `# alt:`")
        found += [f"description too short: {alt!r}" for alt in cell.alts if len(alt) < MIN_ALT_CHARACTERS]
    if stored.seconds > MAX_SECONDS:
        found.append(f"takes {stored.seconds:.0f} s, at most {MAX_SECONDS:.0f} are allowed")
    if not 1 <= tutorial.thumbnail <= max(count, 1):
        found.append(f"`# thumbnail: {tutorial.thumbnail}` is not the number of a picture")
    return found
