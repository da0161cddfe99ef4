"""The verbs of the atlas: stable JSON, exit codes, parameters of the reader, one sentence for what is unknown."""

import json
import os
import sys

from typer.testing import CliRunner

from gnomon.cli import app
from gnomon.cli.atlas import list_
from gnomon.core.errors import WriteError

RUN = ["atlas", "run", "perceptron-novikoff", "--set", "sets=3", "n=20"]


def called(*words):
    return CliRunner().invoke(app, list(words))


def test_list_and_search():
    claims = json.loads(called("atlas", "list", "--json").stdout)["claims"]
    assert "perceptron-novikoff" in [claim["id"] for claim in claims]
    assert json.loads(called("atlas", "list", "--kind", "basics", "--search", "perceptron margin", "--json").stdout)[
        "claims"
    ]
    assert not json.loads(called("atlas", "list", "--search", "no such words", "--json").stdout)["claims"]


def test_the_list_is_a_line_for_each_kind_and_on_request_for_each_claim():
    claims = json.loads(called("atlas", "list", "--json").stdout)["claims"]
    kinds = {claim["kind"] for claim in claims}
    *lines, last = called("atlas", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(kinds)
    assert sum(int(line.split()[1]) for line in lines) == len(claims) and f"{len(claims)} claims" in last
    for words in (("--all",), ("--kind", "basics"), ("--search", "margin")):
        listed = json.loads(called("atlas", "list", *words, "--json").stdout)["claims"]
        *lines, last = called("atlas", "list", *words).stdout.splitlines()
        assert [line.split()[0] for line in lines] == [claim["id"] for claim in listed]
        assert all(line.endswith(claim["title"]) for line, claim in zip(lines, listed, strict=True))
        assert last == f"{len(listed)} claims"


def test_on_a_terminal_every_line_of_the_list_fits(monkeypatch, capsys):
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((60, 20)))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    list_(every=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 400 and max(map(len, lines)) == 60


def test_run_takes_parameters_and_seeds():
    answer = called(*RUN, "--seeds", "2", "--seed", "7", "--json")
    results = json.loads(answer.stdout)["results"]
    assert answer.exit_code == 0 and [row["seed"] for row in results] == [7, 8]
    assert {"id", "verdict", "expected"} <= results[0].keys() and results[0]["parameters"]["n"] == 20
    first, second, last = called(*RUN).stdout.splitlines()
    assert first.startswith(
        "perceptron-novikoff (seed 0): holds: number of updates: at most the bound in 4 of 4 cases (closest"
    )
    assert "Control, without “a plane" in second and "refuted, as expected: not at most the bound in" in second
    assert last == "1 of 1 runs have the stated verdict"


def test_a_run_outside_the_hypotheses_is_neither_as_stated_nor_a_failure():
    answer = called(*RUN, "gap=0")
    assert "outside its hypotheses" in answer.stdout and answer.exit_code == 0
    assert "NOT AS STATED" not in answer.stdout
    assert answer.stdout.splitlines()[-1] == "0 of 1 runs have the stated verdict; 1 outside the hypotheses"
    assert json.loads(called(*RUN, "gap=0", "--json").stdout)["results"][0]["as_stated"] is False


def test_building_says_what_it_does(tmp_path):
    answer = called("atlas", "build", str(tmp_path), "perceptron-novikoff")
    assert answer.exit_code == 0 and answer.stdout.strip() == str(tmp_path / "index.html")
    assert answer.stderr.splitlines() == ["loading the claims", "1/1  page of perceptron-novikoff"]
    again = called("atlas", "build", str(tmp_path), "perceptron-novikoff", "--seed", "3")
    assert again.stderr.splitlines()[1] == "1/1  perceptron-novikoff: holds"


def test_grids_are_computed_once(tmp_path):
    words = ("atlas", "grids", "softmax", "--out", str(tmp_path))
    first, second = called(*words), called(*words)
    assert first.stderr.splitlines()[1].startswith("1/1  softmax: 7 points over k")
    assert first.stdout.startswith("1 computed") and second.stdout.startswith("0 computed")


def test_a_full_disk_leaves_complete_lines(tmp_path, full_disk):
    answer = called("atlas", *RUN[1:], "--seeds", "8", "--out", str(tmp_path / "rows.json"))
    assert isinstance(answer.exception, WriteError) and "Free some disk space" in str(answer.exception)
    rows = [json.loads(line) for line in (tmp_path / "rows.json").read_text("utf-8").splitlines()]
    assert [row["seed"] for row in rows] == list(range(len(rows))) and 0 < len(rows) < 8


def test_a_full_disk_is_said_in_a_sentence(tmp_path, full_disk):
    answer = called("atlas", "build", str(tmp_path), "perceptron-novikoff")
    assert isinstance(answer.exception, WriteError) and "Free some disk space" in str(answer.exception)
    assert str(answer.exception.problem).startswith("cannot write")
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and file.stat().st_size]


def test_show_cite_and_coverage():
    shown = called("atlas", "show", "perceptron-novikoff").stdout
    assert "def observed" in shown and "Novikoff" in shown and "broken by the control" in shown
    assert called("atlas", "cite", "perceptron-novikoff").stdout.startswith("@inproceedings{novikoff1962convergence")
    ids = json.loads(called("atlas", "coverage", "--json").stdout)["ids"]
    assert len(ids) == 510 and ids["perceptron-novikoff"]["status"] == "claim"


def test_unknown_names_are_answered_in_a_sentence():
    for words in (
        ("run", "perceptron-novikof"),
        ("cite", "x"),
        (*RUN[1:3], "--set", "depth=3"),
        (*RUN[1:3], "--set", "n"),
    ):
        answer = called("atlas", *words)
        assert answer.exit_code != 0 and isinstance(answer.exception, Exception) and "\n" not in str(answer.exception)
