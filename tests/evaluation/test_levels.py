"""P-values, intervals and bounds keep the level they state, simulated where the truth is known."""

import pytest

from evaluation.levels import STATEMENTS
from evaluation.levels.statement import Statement, measure

QUICK = [statement for statement in STATEMENTS if statement.quick]


@pytest.mark.parametrize("statement", QUICK, ids=lambda s: f"{s.instrument}: {s.case}")
def test_a_statement_keeps_its_level(statement):
    found = measure(statement, quick=True)
    assert found.kept, found


@pytest.mark.full
@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: f"{s.instrument}: {s.case}")
def test_a_statement_keeps_its_level_in_many_repetitions(statement):
    found = measure(statement, seed=1)
    assert found.kept, found


def _statement(kind, level, simulate):
    return Statement("a", "b", kind, level, simulate, 1000, 300)


def test_a_p_value_that_is_not_uniform_is_noticed():
    def squared(seed):
        return (seed / 300) ** 2, None

    def even(seed):
        return seed / 300, None

    assert not measure(_statement("p-value", None, squared), quick=True).kept
    assert not measure(_statement("cautious p-value", None, squared), quick=True).kept
    assert measure(_statement("p-value", None, even), quick=True).kept


def test_a_large_cautious_p_value_is_allowed_and_a_large_exact_one_is_not():
    def root(seed):
        return (seed / 300) ** 0.5, None

    assert measure(_statement("cautious p-value", None, root), quick=True).kept
    assert not measure(_statement("p-value", None, root), quick=True).kept


@pytest.mark.parametrize(
    ("one_in", "interval", "cautious", "bound"),
    [(20, True, True, True), (5, False, False, False), (10**9, False, True, True)],
)
def test_a_rate_is_judged_from_the_sides_that_its_kind_states(one_in, interval, cautious, bound):
    def held(seed):
        return seed % one_in != one_in - 1, None

    kinds = {"interval": interval, "cautious interval": cautious, "bound": bound}
    for kind, kept in kinds.items():
        assert measure(_statement(kind, 0.95, held), quick=True).kept is kept, kind


def test_a_p_value_with_few_values_is_spread_over_its_step():
    def coin(seed):  # 1/2 or 1, each half of the time: exact, and far from uniform without spreading
        p = 0.5 if seed % 2 else 1.0
        return p, p - 0.5

    assert measure(_statement("p-value", None, coin), quick=True).kept
