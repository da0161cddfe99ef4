"""The page computes what the package computes: kernels, predictions, training, random numbers."""

import json
from dataclasses import asdict
from itertools import islice

import pytest

from gnomon.playground import fixtures
from tests.playground.node import NEEDS_NODE, run

CLOSE = 1e-9
CLOSE_AFTER_LONG_RUNS = 1e-8


def disagreements(cases, tmp_path):
    written = [{"case": asdict(case), "results": fixtures.expected_numbers(case)} for case in cases]
    path = tmp_path / "fixtures.json"
    path.write_text(json.dumps({"random": fixtures.random_number_cases(), "cases": written}))
    found = run("compare.mjs", path)
    assert found["identicalRandomNumbers"]
    assert len(found["compared"]) == len(written)
    wrong = []
    for one in found["compared"]:
        long = one["case"]["train_steps"] >= fixtures.LONG_RUN
        for name, error in one["errors"].items():
            trained = name.startswith("end") or name == "drift"
            if error is None or not error <= (CLOSE_AFTER_LONG_RUNS if long and trained else CLOSE):
                wrong.append((name, error, one["case"]))
    return wrong


@NEEDS_NODE
def test_a_few_cases_agree(tmp_path):  # every activation, and depths 0 to 2
    assert not disagreements(islice(fixtures.page_settings(), 7, None, 29), tmp_path)


@pytest.mark.full
@NEEDS_NODE
def test_all_cases_agree(tmp_path):
    assert len(list(fixtures.page_settings())) >= 200
    assert not disagreements(fixtures.page_settings(), tmp_path)


@NEEDS_NODE
def test_a_wrong_number_is_noticed(tmp_path, monkeypatch):
    results = fixtures.expected_numbers

    def off_by_a_little(case):
        found = results(case)
        found["f0"][0] += 1e-6
        return found

    monkeypatch.setattr(fixtures, "expected_numbers", off_by_a_little)
    assert [name for name, *_ in disagreements(islice(fixtures.page_settings(), 1), tmp_path)] == ["f0"]
