"""The list of errors that change no result names errors that can still be planted."""

from functools import cache
from pathlib import Path

import pytest

from tools.mutate.mutants import find
from tools.mutate.results import equivalents

ROOT = Path(__file__).resolve().parents[2]


@cache
def plant(file):
    """Lines and replacements of all errors in a file."""
    return {(mutant.text, mutant.after) for mutant in find(ROOT / file, ROOT, "")}


def stale(known):
    """Entries whose file, line or replacement no longer exists."""
    return [
        (file, line, after)
        for file, line, after in known
        if not (ROOT / file).exists() or (line, after) not in plant(file)
    ]


def test_every_entry_names_a_line_that_exists():
    for file, line, _ in equivalents(ROOT / "tools" / "mutate" / "equivalent.toml"):
        assert line in [text.strip() for text in (ROOT / file).read_text().splitlines()], (file, line)


@pytest.mark.full
def test_every_entry_names_an_error_that_is_planted():
    known = equivalents(ROOT / "tools" / "mutate" / "equivalent.toml")
    assert len(known) > 40 and stale(known) == []


def test_an_entry_of_a_line_that_was_changed_is_noticed():
    file = "src/gnomon/core/metrics.py"
    line, after = next(iter(plant(file)))
    assert stale({(file, line, after): ""}) == []
    assert len(stale({(file, line + " ", after): "", (file, line, "-1"): "", ("src/gone.py", line, after): ""})) == 3
