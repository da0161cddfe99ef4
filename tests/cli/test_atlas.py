"""The verbs of the atlas: stable JSON, exit codes, parameters of the reader, one sentence for what is unknown."""

import json

from typer.testing import CliRunner

from gnomon.cli import app

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
    assert "perceptron-novikoff" in called("atlas", "list").stdout


def test_run_takes_parameters_and_seeds():
    answer = called(*RUN, "--seeds", "2", "--seed", "7", "--json")
    results = json.loads(answer.stdout)["results"]
    assert answer.exit_code == 0 and [row["seed"] for row in results] == [7, 8]
    assert {"id", "verdict", "expected"} <= results[0].keys() and results[0]["parameters"]["n"] == 20
    assert "as stated" in called(*RUN).stdout


def test_leaving_the_hypotheses_is_said():
    assert "outside its hypotheses" in called(*RUN, "gap=0").stdout


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
