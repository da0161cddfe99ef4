"""The table of findings: every finding of the source uses one of its rows, and every row can be read."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

import gnomon
from gnomon.core.errors import InputError
from gnomon.core.results import Finding, FindingKind, Level
from gnomon.examination.policy import HEADS, UNSETTLES, WHY_REFUTED, ExaminationFacts
from gnomon.findings import (
    KINDS,
    TABLE,
    check_finding_kinds,
    data,
    decisions,
    design,
    generative,
    groups,
    loading,
    loop,
    loop_losses,
    most_serious_first,
    network,
    rank_in_table,
    repairs,
    structured,
    theory,
    training,
)

SOURCE = Path(gnomon.__file__).parent
DOCS = SOURCE.parents[1] / "docs"
FILES = (
    data,
    decisions,
    design,
    generative,
    loading,
    loop,
    loop_losses,
    network,
    repairs,
    structured,
    theory,
    training,
)
ROWS = {name: row for file in FILES for name, row in vars(file).items() if isinstance(row, FindingKind)}


def rows_by_id(id):
    return [row for row in TABLE if row.id == id]


def names_used(path):
    """Names of rows that a file mentions, as `NAME` or `file.NAME`."""
    tree = ast.parse(path.read_text("utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def made_of_text(path):
    """Calls `Finding("...")` and `FindingKind(...)` of a file outside of the table: kinds that the table does not have."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    named = [(ast.unparse(call.func).split(".")[-1], call) for call in calls]
    texts = [call for name, call in named if name == "Finding" and call.args and isinstance(call.args[0], ast.Constant)]
    return texts + [call for name, call in named if name == "FindingKind"]


def test_the_list_has_every_row_once_and_no_two_rows_are_equal():
    assert len(TABLE) == len(set(TABLE)) == len(ROWS) and set(ROWS.values()) == set(TABLE)
    assert [rank_in_table(row) for row in TABLE] == list(range(len(TABLE)))


@pytest.mark.rules
def test_every_finding_of_the_source_uses_a_row_and_every_row_is_used():
    files = [path for path in SOURCE.rglob("*.py") if path.parent.name != "findings"]
    restored = SOURCE / "report" / "load.py"  # findings of a saved report, whose sentences are in the file
    assert not [path for path in files if path != restored and made_of_text(path)]
    used = set().union(*map(names_used, files))
    milder = {name for name, row in ROWS.items() if any(other.milder is row for other in TABLE)}
    assert not set(ROWS) - used - milder


def test_a_milder_row_is_the_same_kind_at_a_lower_level_and_fills_its_fields():
    fields = {
        id(row): {name for _, name, _, _ in Formatter().parse(f"{row.message} {row.fix}") if name} for row in TABLE
    }
    pairs = [(row, row.milder) for row in TABLE if row.milder is not None]
    assert len(pairs) > 3 and all(bool(row.milder_if) is (row.milder is not None) for row in TABLE)
    for row, milder in pairs:
        assert row.id == milder.id and row.level > milder.level and fields[id(milder)] <= fields[id(row)] | {"where"}


def test_problems_come_before_warnings_and_warnings_before_notes():
    levels = [row.level for row in TABLE]
    assert levels == sorted(levels, reverse=True) and set(levels) == set(Level)


def test_relations_name_kinds_and_facts_that_exist():
    grouped = {id for name in dir(groups) if name.isupper() for id in getattr(groups, name)}
    named = {id for row in TABLE for id in (*row.causes, *row.excludes)} | set(HEADS) | set(UNSETTLES) | grouped
    assert named <= set(KINDS)
    facts = {name for row in TABLE for name in (row.milder_if, row.refuted_if) if name}
    assert facts == {name for name in facts if hasattr(ExaminationFacts(), name)}
    assert {row.refuted_if for row in TABLE if row.refuted_if} == set(WHY_REFUTED)


def test_every_kind_about_scale_explains_vanishing_gradients():
    scales = [row for row in TABLE if re.search("-scale$", row.id)]
    assert len(scales) == 5 and all("vanishing-gradients" in row.causes for row in scales)


def test_no_chain_of_causes_leads_back_over_more_than_two_kinds():
    """Of two kinds that cause each other the more serious one stays; a longer circle could suppress all of them."""
    causes = {id: {cause for row in rows_by_id(id) for cause in row.causes} - {id} for id in KINDS}
    mutual = {frozenset((a, b)) for a in KINDS for b in causes[a] if a in causes[b]}
    one_way = {a: {b for b in causes[a] if frozenset((a, b)) not in mutual} for a in KINDS}
    seen = {}

    def depth(id, path=()):
        assert id not in path, f"{' -> '.join((*path, id))}"
        if id not in seen:
            seen[id] = 1 + max((depth(other, (*path, id)) for other in one_way[id]), default=0)
        return seen[id]

    assert max(map(depth, KINDS)) > 2


@pytest.mark.parametrize("row", TABLE, ids=[f"{row.id}-{i}" for i, row in enumerate(TABLE)])
def test_a_row_is_readable(row):
    """A message and a fix of whole sentences, fields with names, a page that exists."""
    for template in (row.message, row.fix):
        fields = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        assert all(name.isidentifier() for name in fields), template
        assert template.endswith((".", "?", "}")) and (template[0].isupper() or template[0] in "{'"), template
    assert (DOCS / row.page).exists()
    assert not re.search(r"\b(told|mend|grave|cure|dear|withstand)\w*\b", f"{row.message} {row.fix}")


def test_the_order_is_by_level_then_by_rank_then_as_given():
    small, dead, whole = Finding(training.LEARNING_RATE_SMALL), Finding(network.DEAD_UNITS), Finding(network.DEAD_LAYER)
    mild = Finding(network.UNUSED_UNITS)
    own = Finding(FindingKind("own", Level.PROBLEM, "It is own.", "Keep it."))
    assert most_serious_first([small, mild, own, dead, whole]) == (whole, dead, own, mild, small)


@pytest.mark.parametrize("word", ["overfitting", "faults", ""])
def test_a_word_that_is_no_kind_and_no_level_is_refused(word):
    with pytest.raises(InputError, match="no finding is called"):
        check_finding_kinds([word])
    assert check_finding_kinds(["problem", "overfit"]) == ("problem", "overfit")


def test_an_unknown_kind_names_three_similar_ones_or_the_levels():
    with pytest.raises(InputError) as error:
        check_finding_kinds(["dead-unit"])
    similar = str(error.value).split("Write for instance ")[1].split(".")[0].split(" or ")
    assert len(similar) == 3 and similar[0] == "dead-units" and set(similar) <= set(KINDS)
    with pytest.raises(InputError, match="Write for instance problem or warning"):
        check_finding_kinds(["qqqqqq"])
