"""Runs of many claims: processes and seeds give the same answers, and what was done is not done again."""

import json

import pytest

from gnomon.atlas import run_claims
from gnomon.atlas.many import ClaimTask

TASKS = [ClaimTask("perceptron-novikoff", seed=s, settings={"sets": "3"}) for s in range(3)]


def rows(**options):
    return sorted(
        ({k: v for k, v in row.items() if k != "seconds"} for row in run_claims(TASKS, **options)),
        key=lambda r: r["seed"],
    )


@pytest.mark.full  # each process imports the package
def test_processes_give_the_answers_of_one():
    assert rows(jobs=2) == rows()


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    out = tmp_path / "deep" / "outcomes.jsonl"
    first = next(iter(run_claims(TASKS, out=out)))  # and then interrupted
    with out.open("a") as file:
        file.write('{"id": "cut of')
    counted = []
    monkeypatch.setattr("gnomon.atlas.many._one", lambda task: counted.append(task.seed) or {"id": task.id})
    again = list(run_claims(TASKS, out=out))
    assert again[0] == json.loads(json.dumps(first)) and counted == [1, 2]
