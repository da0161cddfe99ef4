"""The registry of cases with known faults: ids, expected findings, builders, the command and its tables."""

import json
import re
import sys

import pytest
from torch import nn

from evaluation.faults import registry
from evaluation.faults.__main__ import main
from evaluation.faults.case import Case
from evaluation.faults.random_healthy import random_healthy_case
from evaluation.faults.registry import CASES, FILES, SOURCES, select
from evaluation.faults.report import counts, one_line, outcome, over_budget
from evaluation.faults.run import examine_case
from gnomon.findings import KINDS
from tests.shares import in_full

EVERY = 8
"""One case in eight of each file is built in every run of the tests; the full run builds all."""


def build(case):
    network, train, test, options = case.build(0)
    network = network if isinstance(network, nn.Module) else network()
    assert sum(p.numel() for p in network.parameters()) > 0
    assert train is not None and test is not None
    assert set(options) <= {"loss", "optimizer", "schedule", "epochs", "fit"}


def test_ids_are_unique_and_can_be_typed():
    assert len(CASES) == sum(len(file.CASES) for file in FILES) == 401
    assert all(re.fullmatch(r"[a-z0-9._-]+", id) for id in CASES)
    assert all(case.id == id for id, case in CASES.items())


def test_every_expected_finding_exists():
    assert {kind for case in CASES.values() for kind in case.expected} <= set(KINDS)


def test_a_faulty_case_expects_something_and_a_healthy_one_nothing():
    for case in CASES.values():
        assert bool(case.expected or case.error_text) == (case.kind == "faulty"), case.id


def test_a_file_of_cases_has_one_kind():
    for file in FILES:
        name = file.__name__.rsplit(".", 1)[1]
        assert {case.kind for case in file.CASES} == {"healthy" if name.startswith("healthy") else "faulty"}


def test_the_collections_have_as_many_cases_as_their_tables():
    sizes = {source: tuple(len(select(source, kind)) for kind in ("healthy", "faulty")) for source in SOURCES}
    assert sizes == {"tuning": (34, 73), "held-out": (28, 30), "unseen": (57, 77), "outsider": (39, 63)}


def test_select_prefers_an_exact_id_to_a_part_of_ids():
    assert [case.id for case in select(texts=["mixer"])] == ["mixer"]
    assert all("ends-in-softmax" in case.id for case in select(texts=["ends-in-softmax"]))
    assert not select(kind="healthy", texts=["ends-in-softmax"])


@pytest.mark.parametrize("id", in_full(CASES, except_for=[case.id for file in FILES for case in file.CASES[1::EVERY]]))
def test_a_case_is_built(id, shared):
    build(CASES[id])


@pytest.mark.parametrize("number", range(10))
def test_random_healthy_cases_of_every_kind_are_built(number, shared):
    build(random_healthy_case(number))


def test_a_planted_fault_is_found_and_written_as_json():
    result = examine_case(CASES["broadcast-n-1"], budget=2.0, seed=0)
    assert result["found_first"] and result["unchanged"], one_line(result)
    assert json.loads(json.dumps(result)) == result


def test_a_crash_is_not_a_found_fault():
    def broken(seed):
        raise_inside = nn.Linear(3, 2)
        return raise_inside, "no data", None, {}

    result = examine_case(Case("broken", "faulty", (), "tuning", broken, "never in a message"), budget=1.0, seed=0)
    assert result["refused"] and not result["found_first"] and outcome(result) == "missed"


def test_outcomes_are_counted():
    result = {"budget": 10.0, "seconds": 16.4, "faults": [], "found": []}
    clean, alarm = (result | {"kind": "healthy", "faults": faults} for faults in ([], ["overfit"]))
    first, found, missed = (
        result | {"kind": "faulty", "found_first": a, "found_at_all": b}
        for a, b in ((True, True), (False, True), (False, False))
    )
    results = dict(enumerate((clean, alarm, first, found, missed)))
    assert [outcome(r) for r in results.values()] == ["clean", "false alarm", "found first", "found", "missed"]
    assert counts(results) == ("2 healthy cases, 1 with a false alarm. 3 faulty cases, 1 found first, 2 found at all")
    assert not over_budget(result) and over_budget(result | {"seconds": 16.6})


def test_the_command_lists_cases(monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["faults", "--list", "--collection", "unseen", "--only", "faulty", "--case", "mask"]
    )
    main()
    assert capsys.readouterr().out == "language-model-without-its-mask\tfaulty\tunseen\tsees-the-future\n"


def test_the_command_says_that_nothing_matches(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["faults", "--case", "no such case"])
    with pytest.raises(SystemExit, match="No case matches"):
        main()


def test_the_registry_says_what_each_collection_is():
    assert {case.source for case in CASES.values()} == set(SOURCES)
    assert registry.RANDOM_HEALTHY not in SOURCES
