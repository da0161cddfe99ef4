"""The pages of benchmark results: a short scoreboard, a page for every topic, and a writer that finds the right one."""

import re
from datetime import date
from pathlib import Path

import pytest

from benchmarks import measure

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGES = sorted((BENCHMARKS / "results").glob("*.md"))


def test_the_scoreboard_has_at_most_forty_lines_and_links_every_page():
    text = (BENCHMARKS / "results" / "README.md").read_text()
    assert len(text.splitlines()) <= 40
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", text))
    linked |= set(re.findall(r"\]\(([\w-]+\.md)\)", (BENCHMARKS / "results" / "faults.md").read_text()))
    assert linked == {page.name for page in PAGES if page.name != "README.md"}


def test_every_command_of_the_scoreboard_exists():
    commands = re.findall(r"bench_\w+\.py", (BENCHMARKS / "results" / "README.md").read_text())
    assert commands and all((BENCHMARKS / command).exists() for command in commands)


@pytest.mark.parametrize("script", sorted(BENCHMARKS.glob("bench_*.py")), ids=lambda script: script.stem)
def test_a_benchmark_writes_to_a_page_that_exists(script):
    for page in re.findall(r"\brecord\(\s*(.*?),", script.read_text()):
        assert (BENCHMARKS / "results" / f"{page.strip(chr(34))}.md").exists(), page


def test_a_new_table_comes_first_and_replaces_the_old_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    page = tmp_path / "topic.md"
    page.write_text("# Topic\n\nIntroduction.\n\n## One\n\nold\n\n## Two\n\nstays\n")
    measure.record("topic", "One", ["a", "b"], [["1", "2"]], "A note.")
    introduction, one, two = re.split(r"^(?=## )", page.read_text(), flags=re.M)
    assert introduction == "# Topic\n\nIntroduction.\n\n" and two == "## Two\n\nstays\n"
    assert one.startswith(f"## One\n\n{date.today()}; ") and one.endswith(
        "| a | b |\n|---|---|\n| 1 | 2 |\n\nA note.\n\n"
    )
    measure.record("topic", "Three", ["a"], [], "")
    assert re.findall(r"^## (\w+)", page.read_text(), flags=re.M) == ["Three", "One", "Two"]
    assert "old" not in page.read_text() and "## One" in capsys.readouterr().out


def test_an_unknown_page_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    with pytest.raises(FileNotFoundError, match="create the page"):
        measure.record("absent", "One", ["a"], [], "")
