"""The page of scores: its numbers from the records of runs, and what becomes of text that is already there."""

import pytest

from tools.mutate.__main__ import main
from tools.mutate.mutants import Mutant
from tools.mutate.page import Run, write_page
from tools.mutate.results import Results

COMMAND = "python -m tools.mutate --count 300"


def mutant(place, package):
    return Mutant(
        f"{package}{place}", f"src/toy/{package}/a.py", package, place, "sign", 0, 1, "a", "-a", f"line {place}"
    )


def run(tmp_path, seed, outcomes):
    """A run with the outcomes of the mutants of each subpackage."""
    results = Results.load(tmp_path / f"{seed}.jsonl")
    mutants = [mutant(i, name) for name, found in outcomes.items() for i in range(len(found))]
    for m, outcome in zip(mutants, [o for found in outcomes.values() for o in found], strict=True):
        if outcome != "not run":
            results.add(m, 1, outcome, "", 0.0)
    return Run(seed, mutants, results)


def rows(page):
    cells = [line.strip("| ").split(" | ") for line in page.read_text().splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in cells}


def test_scores_count_judged_errors_that_can_change_a_result(tmp_path):
    """An error that was not judged, or that changes no result, is in no number."""
    first = run(tmp_path, 7, {"linalg": ["caught", "survived", "caught", "broken"], "models": ["caught", "survived"]})
    second = run(tmp_path, 9, {"linalg": ["caught"], "data": ["not run"]})
    known = {("src/toy/models/a.py", "line 1", "-a"): "why"}
    page = tmp_path / "docs" / "scores.md"
    write_page(page, [first, second], known, COMMAND)
    assert rows(page) == {
        "subpackage": ["seed 7", "seed 9", "all seeds"],
        "---": ["---:", "---:", "---:"],
        "data": ["-", "-", "-"],
        "linalg": ["2 of 3 (67%)", "1 of 1 (100%)", "3 of 4 (75%)"],
        "models": ["1 of 1 (100%)", "-", "1 of 1 (100%)"],
        "all": ["3 of 4 (75%)", "1 of 1 (100%)", "4 of 5 (80%)"],
    }
    text = page.read_text()
    assert f"{COMMAND} --seed 7\n{COMMAND} --seed 9\n" in text and text.startswith("# Mutation scores")


def test_text_above_the_table_stays_and_the_table_is_replaced(tmp_path):
    page = tmp_path / "scores.md"
    page.write_text("# Mine\n\n<!-- table -->\n\n| old | 1 |\n")
    write_page(page, [run(tmp_path, 7, {"linalg": ["caught"]})], {}, COMMAND)
    text = page.read_text()
    assert text.startswith("# Mine\n\n<!-- table -->\n") and "old" not in text
    assert rows(page)["linalg"] == ["1 of 1 (100%)", "1 of 1 (100%)"]
    write_page(page, [run(tmp_path, 8, {"linalg": ["survived"]})], {}, COMMAND)
    assert page.read_text().count("<!-- table -->") == 1 and rows(page)["linalg"] == ["0 of 1 (0%)", "0 of 1 (0%)"]
    page.write_text("# No place for a table\n")
    with pytest.raises(ValueError, match="no line"):
        write_page(page, [], {}, COMMAND)


def test_the_command_line_writes_the_page_from_kept_records(tmp_path, capsys):
    """Two finished runs of a toy package: nothing is run again, and both seeds are on the page."""
    source = tmp_path / "src" / "toy" / "part" / "area.py"
    source.parent.mkdir(parents=True)
    (tmp_path / "src" / "toy" / "__init__.py").write_text("")
    source.write_text("def area(a, b):\n    return a * b\n\n\ndef side(a, b):\n    return a / b\n")
    work = tmp_path / "build" / "mutate"
    options = ["--root", str(tmp_path), "--count", "2", "--workers", "1"]
    from tools.mutate import scope
    from tools.mutate.mutants import choose, find

    for seed, outcomes in ((1, ["caught", "survived"]), (2, ["caught", "caught"])):
        chosen = choose(
            find(source, tmp_path, scope.subpackage(source, source.parents[1])), {"part": 2}, seed, tmp_path
        )
        results = Results.load(work / f"{seed}.jsonl")
        for m, outcome in zip(chosen, outcomes, strict=True):
            results.add(m, 1, outcome, "", 0.0)
    page = tmp_path / "scores.md"
    assert main([*options, "--seed", "1", "--with-seed", "2", "--write", str(page)]) == 0
    assert rows(page)["part"] == ["1 of 2 (50%)", "2 of 2 (100%)", "3 of 4 (75%)"]
    assert "python -m tools.mutate --count 2 --seed 1\npython -m tools.mutate --count 2 --seed 2\n" in page.read_text()
