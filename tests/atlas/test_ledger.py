"""The ledger is honest: ids exist, functions exist, and the tests it names exist and name the id."""

import json
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from gnomon.atlas import catalog, coverage
from gnomon.atlas.coverage import instruments, kinds

ROOT = Path(__file__).parents[2]
LEDGER = json.loads((files("gnomon.atlas") / "ledger.json").read_text(encoding="utf-8"))


def test_every_statement_is_accounted_for():
    told = coverage()
    assert list(told.ids) == [i for ids in kinds().values() for i in ids]
    assert sum(told.counts.values()) == 510 and told.verdict.endswith(".")
    assert not set(LEDGER) & set(catalog())  # a claim says itself what it covers


@pytest.mark.parametrize("name", LEDGER)
def test_a_line_of_the_ledger_is_true(name):
    row = LEDGER[name]
    if row["status"] == "api":
        module, _, function = row["api"].rpartition(".")
        assert hasattr(import_module(module), function), row["api"]
        file, _, test = row["test"].partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        body = text[text.index(f"def {test}(") :].split("\ndef ", 1)[0]
        assert name in body, f"{row['test']} does not name {name}"
    elif row["status"] == "alias":
        assert coverage().ids[row["of"]]["status"] in ("claim", "api", "open")
    else:
        assert row["status"] == "note" and len(row["text"]) > 40


def test_claims_cover_only_what_exists():
    known = {i for ids in kinds().values() for i in ids}
    for entry in catalog().values():
        assert {entry.claim.id, *entry.claim.covers} <= known or entry.claim.covers, entry.claim.id
        assert set(entry.claim.covers) <= known
        assert entry.kind in kinds()


@pytest.mark.parametrize("name", instruments())
def test_an_instrument_exists_and_its_test_uses_it(name):
    assert name in coverage().ids and coverage().ids[name]["instruments"] == list(instruments()[name])
    for path, where in instruments()[name].items():
        module, _, function = path.rpartition(".")
        assert callable(getattr(import_module(module), function)), path
        file, _, test = where.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        body = text[text.index(f"def {test}(") :].split("\ndef ", 1)[0]
        assert function in body, f"{where} does not use {path}"


def test_the_four_first_kinds_have_the_instruments_that_their_entries_name():
    first = [i for kind in ("kernel-limit", "dynamics-implicit-bias", "landscape-optimisation", "basics") for i in
             kinds()[kind]]  # fmt: skip
    assert sum(i in instruments() for i in first) == 98 == len(instruments())
