"""The ledger is honest: ids exist, functions exist, and the tests it names exist and name the id."""

import ast
import json
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from gnomon.atlas import catalog, scope_coverage
from gnomon.atlas.coverage import clauses_of_entry, functions_by_entry, scope_ids_by_kind

ROOT = Path(__file__).parents[2]
WITHOUT_FORMULA = ("pretrained-model-insights-lab",)
"""Statements of the scope that have no formula and ask for a report alone."""
LEAST_COVERED = 0.97
"""Share of the clauses that a claim, a function or a test covers."""
LEDGER = json.loads((files("gnomon.atlas") / "ledger.json").read_text(encoding="utf-8"))


def test_every_statement_is_accounted_for():
    told = scope_coverage()
    assert list(told.ids) == [i for ids in scope_ids_by_kind().values() for i in ids]
    assert sum(told.counts.values()) == 510 and told.verdict.endswith(".")
    assert not {name for name, row in LEDGER.items() if "status" in row} & set(catalog())


def stated(source: str, name: str) -> str:
    """What the docstring of a test says after the name of a statement, up to the next statement; "" where it is not."""
    words = ast.get_docstring(ast.parse(source).body[0]) or ""
    return words.split(f"{name}:", 1)[1].split("\n")[0] if f"{name}:" in words else ""


def body(where: str) -> str:
    """The source of a test, by its file and name."""
    file, _, test = where.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == test]
    assert len(found) == 1, f"{where} does not exist"
    return ast.unparse(found[0])


def called(source: str) -> set[str]:
    """Names that a test calls, alone or as attributes."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {f.id if isinstance(f, ast.Name) else f.attr for f in calls if isinstance(f, ast.Name | ast.Attribute)}


def test_the_ledger_has_clauses_for_every_entry_and_nearly_all_are_covered():
    assert list(LEDGER) == list(scope_coverage().ids)
    covered, total = scope_coverage().clauses
    assert total > 1300 and covered >= LEAST_COVERED * total
    for name in LEDGER:
        kinds_of = [clause.kind for clause in clauses_of_entry(name)]
        assert kinds_of and kinds_of[0] != "instrument", name  # an instrument alone states nothing
        assert len({clause.text for clause in clauses_of_entry(name)}) == len(kinds_of), name


@pytest.mark.parametrize("name", LEDGER)
def test_what_covers_a_clause_exists_or_the_reason_is_given(name):
    for clause in clauses_of_entry(name):
        assert clause.text and clause.kind in ("statement", "formula", "number", "instrument")
        assert bool(clause.by) != bool(clause.left_out), clause
        assert not clause.left_out or len(clause.left_out) > 20
        if clause.claim:
            assert clause.claim in catalog() and not clause.test
        elif clause.function:
            module, _, function = clause.function.rpartition(".")
            assert hasattr(import_module(module), function), clause.function
        if clause.test:
            source = body(clause.test)
            assert "assert" in source or "raises" in source
            assert not clause.function or clause.function.rpartition(".")[2] in source, clause


def test_statements_of_the_scope_keep_their_ids(shared):
    assert json.loads((shared / "scope" / "ids.json").read_text(encoding="utf-8")).keys() and set(LEDGER) == {
        i for ids in json.loads((shared / "scope" / "ids.json").read_text(encoding="utf-8")).values() for i in ids
    }


@pytest.mark.parametrize("name", [name for name in LEDGER if "status" in LEDGER[name]])
def test_a_line_of_the_ledger_is_true(name):
    row = LEDGER[name]
    if row["status"] == "api":
        module, _, function = row["api"].rpartition(".")
        assert hasattr(import_module(module), function), row["api"]
        source = body(row["test"])
        formula = stated(source, name)
        unstated = name in WITHOUT_FORMULA and formula
        assert unstated or any(sign in formula for sign in "=<>") or "argmax" in formula, f"{row['test']}: {formula!r}"
        assert name in WITHOUT_FORMULA or function in called(source), f"{row['test']} does not call {function}"
        assert "assert " in source
    elif row["status"] == "alias":
        assert scope_coverage().ids[row["of"]]["status"] in ("claim", "api", "open")
    else:
        assert row["status"] == "note" and len(clauses_of_entry(name)[0].left_out) > 40


def test_a_test_without_the_formula_or_the_call_is_seen():
    named = 'def test_a():\n    """sum-rule: 1 + 1 = 2."""\n    assert added(1, 1) == 2'
    assert stated(named, "sum-rule") == " 1 + 1 = 2." and called(named) == {"added"}
    assert stated(named.replace("sum-rule:", "sum-rule"), "sum-rule") == ""
    assert stated("def test_a():\n    # sum-rule: 1 = 1\n    assert True", "sum-rule") == ""


def test_claims_cover_only_what_exists():
    known = {i for ids in scope_ids_by_kind().values() for i in ids}
    for entry in catalog().values():
        assert {entry.claim.id, *entry.claim.covers} <= known or entry.claim.covers, entry.claim.id
        assert set(entry.claim.covers) <= known
        assert entry.kind in scope_ids_by_kind()


@pytest.mark.parametrize("name", functions_by_entry())
def test_an_instrument_exists_and_its_test_uses_it(name):
    assert name in scope_coverage().ids and scope_coverage().ids[name]["instruments"] == list(
        functions_by_entry()[name]
    )
    for path, where in functions_by_entry()[name].items():
        module, _, function = path.rpartition(".")
        assert callable(getattr(import_module(module), function)), path
        assert function in body(where), f"{where} does not use {path}"


def test_entries_that_ask_for_an_instrument_have_one():
    assert len(functions_by_entry()) == 273
