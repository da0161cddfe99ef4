"""The whole tool on a toy package in which one error is caught and one is not."""

import json
import os
import subprocess
import sys

import pytest

from tests.house.tree import ROOT
from tools.mutate.mutants import find
from tools.mutate.shadow import Shadow

FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['--doctest-modules', '--import-mode=importlib']\npythonpath = ['.']\n",
    "src/toy/__init__.py": "",
    "src/toy/part/__init__.py": "",
    "src/toy/part/areas.py": (
        "def area(a, b):\n    '''Area.\n\n    >>> area(2, 3)\n    6\n    '''\n    return a * b\n\n\n"
        "def perimeter(a, b):\n    return 2 * (a + b)\n"
    ),
    "src/toy/like/__init__.py": "from toy.like.double import double\n",
    "src/toy/like/double.py": "def double(a):\n    '''Twice.\n\n    >>> double(2)\n    4\n    '''\n    return 2 * a\n",
    "tests/like/test_double.py": "from toy.like import double\n\nFOUR = double(2)\n\n\ndef test_four():\n    assert FOUR == 4\n",
    "tests/part/test_areas.py": "from toy.part.areas import perimeter\n\n\ndef test_square():\n    assert perimeter(0, 0) == 0\n",
}


@pytest.fixture
def toy(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def mutate(toy, *options, package="part"):
    """The table that the tool prints, and the records it keeps."""
    choice = ["--root", str(toy), "--count", "2", "--seed", "3", "--package", package, "--workers", "1", *options]
    command = [sys.executable, "-m", "tools.mutate", *choice]
    plain = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # they would be imported by every process
    done = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kept = sorted((toy / "build/mutate").glob("*3.jsonl"))
    return done.stdout, [json.loads(line) for path in kept for line in path.read_text().splitlines()]


@pytest.mark.full
def test_an_error_is_caught_another_survives_and_finished_mutants_are_not_run_again(toy):
    table, records = mutate(toy)
    last = {record["line"]: record for record in records}
    assert last[7]["outcome"] == "caught" and last[7]["by"].startswith("src/toy/part/areas.py")
    assert last[11]["outcome"] == "survived" and last[11]["text"] in table
    assert (toy / "src/toy/part/areas.py").read_text() == FILES["src/toy/part/areas.py"]

    again, same = mutate(toy)
    assert same == records and "survived   " not in again

    strict = toy / "tests/part/test_areas.py"
    strict.write_text(FILES["tests/part/test_areas.py"] + "\n\ndef test_sides():\n    assert perimeter(1, 2) == 6\n")
    _, records = mutate(toy, "--recheck-survivors")
    assert {record["line"]: record["outcome"] for record in records} == {7: "caught", 11: "caught"}


@pytest.mark.full
def test_a_change_that_changes_nothing_survives(toy):
    _, records = mutate(toy, "--no-op")
    assert {(record["line"], record["outcome"]) for record in records[-2:]} == {(7, "survived"), (11, "survived")}


@pytest.mark.full
def test_a_function_with_the_name_of_its_file_is_found_by_its_tests(toy):
    _, records = mutate(toy, "--no-op", package="like")
    assert records[-1]["outcome"] == "survived"


@pytest.mark.full
def test_a_file_of_tests_that_cannot_be_imported_a_second_time_is_no_catch(toy):
    path = toy / "tests/part/test_areas.py"
    once = f"from pathlib import Path\n\nwith Path({str(toy / 'once')!r}).open('x'):\n    pass\n"
    path.write_text(once + path.read_text())
    _, records = mutate(toy)
    assert {record["line"]: record["outcome"] for record in records} == {7: "caught", 11: "broken"}


@pytest.mark.full
def test_a_test_that_fails_without_the_error_as_well_is_no_catch(toy):
    path = toy / "tests/part/test_areas.py"
    path.write_text(
        path.read_text() + f"\n\ndef test_once():\n    perimeter(0, 0)\n    open({str(toy / 'once')!r}, 'x').close()\n"
    )
    _, records = mutate(toy)
    assert {record["line"]: record["outcome"] for record in records} == {7: "caught", 11: "broken"}


@pytest.mark.full
def test_tests_that_fail_on_the_clean_tree_catch_nothing(toy):
    path = toy / "tests/part/test_areas.py"
    path.write_text(path.read_text() + "\n\ndef test_wrong():\n    assert perimeter(1, 1) == 5\n")
    table, records = mutate(toy)
    assert "left out: tests/part/test_areas.py::test_wrong" in table
    assert {record["line"]: record["outcome"] for record in records} == {7: "caught", 11: "survived"}


@pytest.mark.full
def test_mutants_known_to_be_equivalent_are_counted_apart(toy):
    known = toy / "tools/mutate/equivalent.toml"
    _, records = mutate(toy)
    survivor = next(record for record in records if record["line"] == 11)
    known.parent.mkdir(parents=True)
    entry = {key: survivor[key] for key in ("file", "after")} | {"line": survivor["text"], "reason": "a toy"}
    known.write_text("[[mutant]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items()))
    table, _ = mutate(toy)
    assert table.splitlines()[-1].split() == ["all", "2", "1", "0", "1", "0", "100%"]


def test_constants_defaults_and_class_members_are_planted_in_the_running_process(toy):
    (toy / "src/toy/part/areas.py").write_text(
        "LIMIT = 5.0\n\n\ndef small(a, factor=0.7):\n    return a * factor < LIMIT\n\n\n"
        "class Ruler:\n    unit = 4.0\n\n    def length(self, a, *, scale=0.3):\n        return a * self.unit * scale\n"
    )
    (toy / "tests/part/test_areas.py").write_text(
        "from toy.part.areas import Ruler, small\n\n\ndef test_small():\n    assert small(7.0) and not small(7.2)\n\n\n"
        "def test_ruler():\n    assert Ruler().length(1.0) == 4.0 * 0.3\n"
    )
    _, records = mutate(toy, "--only", "src/toy/part/areas.py:1", "--only", "src/toy/part/areas.py:4")
    assert [record["outcome"] for record in records] == ["caught"] * len(records) and len(records) >= 2
    _, more = mutate(toy, "--only", "src/toy/part/areas.py:9", "--only", "src/toy/part/areas.py:11")
    assert [record["outcome"] for record in more] == ["caught"] * len(more) and len(more) > len(records) + 1


@pytest.mark.full
def test_a_default_that_only_an_example_reads_is_caught(toy):
    """Reading a field executes no line of the package: the examples and tests of the file are run in any case."""
    (toy / "src/toy/part/areas.py").write_text(
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Ruler:\n    '''A ruler.\n\n    >>> Ruler().unit\n    4.0\n"
        "    '''\n\n    unit: float = 4.0\n\n\ndef perimeter(a, b):\n    return 2 * (a + b)\n"
    )
    _, records = mutate(toy, "--only", "src/toy/part/areas.py:12")
    assert [record["outcome"] for record in records] == ["caught"]


@pytest.mark.full
def test_a_planted_error_is_taken_out_and_never_has_the_time_of_another(toy):
    shadow = Shadow(toy, toy / "build/mutate/worker-0")
    shadow.refresh()
    file = shadow.project / "src/toy/part/areas.py"
    clean, times = file.stat().st_mtime_ns, set()
    for mutant in find(toy / "src/toy/part/areas.py", toy, "part")[:4]:
        with shadow.plant(mutant):
            assert file.read_text() != FILES["src/toy/part/areas.py"]
            times.add(file.stat().st_mtime_ns // 10**9)
        assert file.read_text() == FILES["src/toy/part/areas.py"] and file.stat().st_mtime_ns == clean
    assert len(times) == 4 and clean // 10**9 not in times


@pytest.mark.full
def test_only_the_tests_of_a_folder_are_used(toy):
    _, records = mutate(toy, "--tests", "tests/like")
    assert [(record["outcome"], record["tests"]) for record in records] == [("survived", 0)] * 2
    _, records = mutate(toy, "--tests", "src/toy/part", "--recheck-survivors")
    assert {record["line"]: record["outcome"] for record in records} == {7: "caught", 11: "survived"}
