"""Stored results: enough sliders, small files, numbers that a new run repeats."""

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pytest

from gnomon.atlas import catalog
from gnomon.atlas.catalog import __file__ as catalog_file
from gnomon.atlas.catalog import _stems
from gnomon.atlas.grids import compute
from gnomon.atlas.grids.chart import chart_of_outcome, round_to_stored_digits
from gnomon.atlas.grids.choose import parameters_by_interest, slider_values, values_that_violate_premise
from gnomon.atlas.grids.compute import compute_record, point_of_outcome, settings_of_record
from gnomon.atlas.grids.records import is_record_current, records_folder, stored_record
from gnomon.lab import Claim, Premise, Source, equals, in_order, run_claim
from tests.atlas.test_claims import SLOW

ENTRIES = catalog()
MIN_CLAIMS_WITH_SLIDERS = 370
"""`gnomon atlas grids` computes what is missing."""
MAX_BYTES = 6_000_000
MAX_CLAIMS_WITHOUT_RECORD = 5
"""Only falls, to 0."""
FEWEST_VALUES = 5


def sliders():
    records = {name: stored_record(name) for name in ENTRIES}
    return {name: record["grid"] for name, record in records.items() if record and record["grid"]}


def test_most_claims_have_sliders_in_small_files():
    assert len(sliders()) >= MIN_CLAIMS_WITH_SLIDERS
    assert sum(path.stat().st_size for path in records_folder().iterdir()) < MAX_BYTES
    assert {path.stem for path in records_folder().glob("*.json")} <= set(ENTRIES)


def test_every_claim_has_a_record_of_its_present_parameters():
    stale = [name for name, entry in ENTRIES.items() if not is_record_current(entry)]
    assert len(stale) <= MAX_CLAIMS_WITHOUT_RECORD, f"run `gnomon atlas grids {' '.join(stale)}`"


def test_a_slider_has_at_least_five_values_that_keep_the_premises():
    for name, grid in sliders().items():
        count, row = (len(grid["values"][1]), grid["default"][1]) if len(grid["values"]) > 1 else (1, 0)
        kept = [point for point in grid["points"][row::count] if "k" not in point]
        assert len(kept) >= FEWEST_VALUES or ENTRIES[name].claim.grid, name
        assert len(grid["points"]) == np.prod([len(values) for values in grid["values"]]), name
        assert (
            grid["values"][0][grid["default"][0]]
            == settings_of_record(ENTRIES[name].claim)["parameters"][grid["names"][0]]
        )


def test_no_slider_refutes_a_true_statement_whose_premises_hold():
    """A value that refutes it must break a premise that the page names, or lie outside the declared grid."""
    found = [
        (name, index)
        for name, grid in sliders().items()
        for index, point in enumerate(grid["points"])
        if ENTRIES[name].claim.expected == "holds" and point["v"] == "refuted" and "k" not in point
    ]
    assert not found


def recomputed():
    """Fast claims with sliders, chosen by a hash of their names."""
    names = sorted((name for name in sliders() if name not in SLOW), key=lambda name: crc32(name.encode()))
    return names[:12]


@pytest.mark.parametrize("name", recomputed())
def test_a_new_run_repeats_a_stored_point(name):
    grid, claim = sliders()[name], ENTRIES[name].claim
    index = crc32(name.encode()) % len(grid["points"])
    place = np.unravel_index(index, [len(values) for values in grid["values"]])
    chosen = {key: grid["values"][i][place[i]] for i, key in enumerate(grid["names"])}
    outcome = run_claim(
        claim, {key: tuple(value) if isinstance(value, list) else value for key, value in chosen.items()}
    )
    point, stored = point_of_outcome(outcome, 300), grid["points"][index]
    assert (point["v"], point["w"], point.get("k")) == (stored["v"], stored["w"], stored.get("k"))
    if "l" in stored:
        np.testing.assert_allclose(point["o"], stored["o"], rtol=1e-4)
        return
    at = {place: i for i, place in enumerate(point["x"])}
    for key in ("o", "p", "c"):
        if key in stored and {"o": "x", "p": "q", "c": "d"}[key] not in stored or key == "o":
            again = [point[key][at[place]] for place in stored["x"]]
            np.testing.assert_allclose(floats(again), floats(stored[key]), rtol=1e-4, atol=1e-9)


def floats(values):
    return [np.nan if value is None else float(value) for value in values]


def claim(**changes):
    fields = {
        "id": "doubling", "title": "A sum with itself is twice the number", "equation": "x + x = 2 x",
        "source": Source("derived"), "premises": (Premise("x is positive", lambda x: x > 0),),
        "parameters": {"x": 4.0, "repeats": 3}, "judge": equals(rounding=2), "axes": ("case", "sum"),
        "predicted": lambda x, repeats: [2 * x] * repeats, "observed": lambda x, repeats: [x + x] * repeats,
        "control": lambda x, repeats: [x + x + 1] * repeats,
    }  # fmt: skip
    return Claim(**(fields | changes))


def test_a_record_has_both_parameters_and_marks_broken_premises():
    record = compute_record(claim())
    grid = record["grid"]
    assert grid["names"] == ["x", "repeats"] and grid["values"][0][0] == 0.0
    columns = len(grid["values"][1])
    assert all(point["k"] == [0] for point in grid["points"][:columns])
    assert not any("k" in point for point in grid["points"][columns:])
    index = columns * grid["default"][0] + grid["default"][1]
    assert grid["points"][index]["o"] == [8, 8, 8] and grid["points"][index]["c"] == [9, 9, 9]
    assert record["run"]["verdict"] == "holds" and json.dumps(record, allow_nan=False)


def test_a_declared_grid_is_used_and_checked():
    record = compute_record(claim(grid={"x": (4.0, 5.0)}))
    assert record["grid"]["values"] == [[4.0, 5.0]] and [p["o"][0] for p in record["grid"]["points"]] == [8, 10]
    with pytest.raises(Exception, match="grid must have the values of one or two parameters"):
        claim(grid={"depth": (1, 2)})


@pytest.mark.full
def test_values_that_fail_or_never_end_are_left_out():
    def fails(x, repeats):
        if x > 7:
            raise ValueError("too large")
        while x < 1.5:
            pass
        return [x + x] * repeats

    values = compute_record(claim(observed=fails, premises=(Premise("always"),)))["grid"]
    assert values["names"] == ["repeats"]  # only four values of x are left, too few for a slider


def test_values_lie_around_the_default():
    assert slider_values("step", 0.1) == [0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3]
    assert slider_values("n", 40) == [10, 20, 30, 40, 60, 80, 120]
    assert slider_values("name", "relu") == [] == slider_values("flag", True)
    assert all(0 < value < 1 for value in slider_values("keep", 0.9))
    assert parameters_by_interest(claim()) == ["x", "repeats"]
    assert values_that_violate_premise(claim(), "x", {"x": 4.0, "repeats": 3}) == [0.0]


def test_five_values_are_the_ends_the_default_and_its_neighbors():
    assert compute._five(list(range(9)), 4) == [0, 3, 4, 5, 8]
    assert compute._five(list(range(9)), 1) == [0, 1, 2, 3, 8]
    assert compute._five(list(range(9)), 0) == [0, 1, 2, 3, 8]
    assert compute._five(list(range(9)), 8) == [0, 5, 6, 7, 8]
    assert compute._five([1, 2, 3, 4, 5], 2) == [1, 2, 3, 4, 5]


def test_the_run_keeps_sixty_points_however_thin_the_curves_of_the_grid_become(monkeypatch):
    monkeypatch.setattr(compute, "MAX_RECORD_BYTES", 1)
    record = compute_record(claim(parameters={"x": 4.0, "repeats": 100}, grid={"x": (4.0, 5.0)}))
    assert len(record["run"]["chart"]["o"]) == 60
    assert [len(point["o"]) for point in record["grid"]["points"]] == [5, 5]


def test_outcomes_as_stated_are_counted_where_the_premises_hold():
    wrong = claim(observed=lambda x, repeats: [2 * x + (x == 5.0)] * repeats)
    found = {(x,): run_claim(wrong, {"x": x}) for x in (0.0, 4.0, 5.0, 6.0)}
    assert compute._share_as_stated(wrong, found) == 2 / 3 and compute._share_as_stated(wrong, {}) == 0.0
    assert sorted(compute._along(wrong, "x", run_claim(wrong), lambda: 0.0)) == [
        (0.0,), *((x,) for x in slider_values("x", 4.0)),
    ]  # fmt: skip


def test_the_files_of_a_kind_are_found_in_its_folder():
    folder = Path(catalog_file).parent / "claims" / "dynamics_implicit_bias"
    stems = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    assert list(_stems.__wrapped__("dynamics-implicit-bias")) == stems and len(stems) > 5


def test_charts_of_orders_have_bars():
    order = claim(
        judge=in_order(), predicted=lambda: ("a", "b"), observed=lambda: {"b": 2, "a": 1}, control=lambda: {"a": 2, "b": 1},
    )  # fmt: skip
    assert chart_of_outcome(run_claim(order), 10) == {"l": ["a", "b"], "o": [1, 2], "c": [2, 1]}


def test_whole_numbers_up_to_eight_get_their_neighbors_and_larger_ones_get_factors():
    assert slider_values("depth", 8) == [6, 7, 8, 9, 10, 11, 12] and slider_values("depth", 2) == [1, 2, 3, 4, 5, 6]
    assert slider_values("depth", 9) == [2, 4, 6, 9, 14, 18, 27]  # 2.2, 4.5, 6.8, 9, 14 (two digits), 18, 27
    assert slider_values("width", 16) == [2, 4, 8, 16, 32]
    assert slider_values("widths", (1.0, 3.0))[0] == (0.25, 0.75)
    assert (
        slider_values("widths", (3.0, 1.0)) == [] == slider_values("widths", (3.0,)) == slider_values("w", (1.0, 1.0))
    )
    assert (
        slider_values("widths", (1, 3))[0] == (1, 2) and len(slider_values("widths", (1, 3))) == 5
    )  # no zero, no pair


def test_shares_have_odds_around_those_of_the_default():
    assert slider_values("share", 0.2) == [0.04, 0.077, 0.11, 0.2, 0.33, 0.43, 0.6]  # odds 1/4 times 1/6 ... 6
    assert slider_values("share", 1.5) == [0.38, 0.75, 1.1, 1.5, 2.2, 3.0, 4.5] and slider_values("gap", 0.0) == []


def _rejecting(*values):
    return claim(premises=(Premise("x is allowed", lambda x: x not in values),))


@pytest.mark.parametrize("default", [64, 6.4])
def test_values_that_may_violate_a_premise_are_tried_one_by_one(default):
    kind = type(default)
    tried = [kind(v) for v in (0, 1, 2, default / 16, 4 * default, 8 * default, 32 * default)]
    for value in tried:
        assert values_that_violate_premise(_rejecting(value), "x", {"x": default, "repeats": 3}) == [value]
    for other in (3.0, default, 2 * default, 16 * default, default / 4):
        assert values_that_violate_premise(_rejecting(kind(other)), "x", {"x": default, "repeats": 3}) == []
    assert values_that_violate_premise(_rejecting(*tried[2:]), "x", {"x": default, "repeats": 3}) == sorted(tried[2:4])
    assert values_that_violate_premise(_rejecting(*tried), "x", {"x": True}) == []


class _Clocks:
    """Runs of a claim whose seconds are stated; each call is recorded."""

    def __init__(self, monkeypatch, seconds):
        self.settings, self.limits = [], []
        monkeypatch.setattr(compute, "run_claim", lambda claim, settings, clock: self._run(claim, settings, seconds))

    def _run(self, claim, settings, seconds):
        self.settings.append(dict(settings))
        return replace(run_claim(claim, settings), seconds=seconds(settings))


def test_a_claim_that_runs_longer_than_a_fifth_of_a_second_gets_five_values(monkeypatch):
    for seconds, values in ((0.199, [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0]), (0.201, [1.0, 3.0, 4.0, 6.0, 12.0])):
        _Clocks(monkeypatch, lambda settings, seconds=seconds: seconds)
        first = compute._run(claim(premises=(Premise("always"),)), {}, lambda: 0.0)
        along = compute._along(claim(premises=(Premise("always"),)), "x", first, lambda: 0.0)
        assert sorted(key[0] for key in along) == values


def test_values_beyond_a_slow_one_are_left_out_on_each_side(monkeypatch):
    made = _Clocks(monkeypatch, lambda settings: 2.1 if settings.get("x") in (8.0, 2.0, 0.0) else 0.0)
    first = compute._run(claim(), {}, lambda: 0.0)
    assert sorted(key[0] for key in compute._along(claim(), "x", first, lambda: 0.0)) == [3.0, 4.0, 6.0]
    assert [settings.get("x") for settings in made.settings] == [None, 6.0, 8.0, 3.0, 2.0, 0.0]
    _Clocks(monkeypatch, lambda settings: 1.9)
    assert len(compute._along(claim(), "x", first, lambda: 0.0)) == 8


def test_a_run_may_take_four_seconds_of_processor_time_if_values_were_chosen(monkeypatch):
    limits = []
    monkeypatch.setattr(compute, "limit_cpu_time", lambda seconds: limits.append(seconds) or nullcontext())
    for settings in ({}, {"x": 1.0}):
        assert compute._run(claim(), settings, lambda: 0.0) is not None
    assert limits == [4.0]


def _of(monkeypatch, clock=lambda: 0.0, seconds=0.1, **shares):
    """The parameter that `_grid` chooses if these shares of its values have the stated verdict."""
    outcome = SimpleNamespace(violated_premises=(), seconds=seconds)
    asked = []

    def along(_claim, name, _first, _clock):
        asked.append(name)
        return {(i,): outcome for i in range(shares[name][0])}

    monkeypatch.setattr(compute, "parameters_by_interest", lambda claim: list(shares))
    monkeypatch.setattr(compute, "_along", along)
    monkeypatch.setattr(compute, "_share_as_stated", lambda _claim, _outcomes: shares[asked[-1]][1])
    monkeypatch.setattr(
        compute, "_with_second", lambda _c, name, other, outcomes, _f, _clock: ((name, other), outcomes)
    )
    return compute._grid(SimpleNamespace(grid={}), outcome, clock), asked


def test_the_slider_is_the_parameter_with_most_verdicts_as_stated(monkeypatch):
    grid, asked = _of(monkeypatch, a=(5, 0.6), b=(5, 0.7), c=(5, 0.5))
    assert grid[0] == ("b",) and asked == ["a", "b", "c"]
    grid, asked = _of(monkeypatch, a=(5, 0.6), b=(5, 0.8), c=(5, 1.0))
    assert grid[0] == ("b",) and asked == ["a", "b"]  # four fifths are enough
    grid, asked = _of(monkeypatch, a=(4, 1.0), b=(5, 0.79), c=(5, 0.8))
    assert grid[0] == ("c",) and asked == ["a", "b", "c"]  # four values are too few
    assert _of(monkeypatch, a=(4, 1.0))[0] is None
    assert _of(monkeypatch, a=(5, 1.0), seconds=0.0)[0][0] == ("a",)  # there is no other parameter


def test_quick_claims_get_a_second_slider(monkeypatch):
    for seconds, names in ((0.059, ("a", "b")), (0.061, ("a",))):
        assert _of(monkeypatch, a=(5, 1.0), b=(5, 1.0), seconds=seconds)[0][0] == names


def test_no_other_parameter_is_tried_after_eight_seconds(monkeypatch):
    for seconds, asked in ((7.9, ["a", "b"]), (8.1, ["a"])):
        times = iter((0.0, seconds, seconds))
        assert _of(monkeypatch, clock=lambda times=times: next(times), a=(5, 0.1), b=(5, 0.2))[1] == asked


def test_slow_claims_have_no_grid(monkeypatch):
    for seconds, has in ((1.9, True), (2.1, False)):
        _Clocks(monkeypatch, lambda settings, seconds=seconds: seconds)
        assert (compute_record(claim(grid={"x": (4.0, 5.0)}))["grid"] is not None) == has


def test_a_second_slider_needs_five_values_and_four_fifths_as_stated(monkeypatch):
    """Of 25 points at most 5 may be refuted; a value that cannot be computed leaves one slider."""

    def names(observed, **changes):
        example = claim(observed=observed, premises=(Premise("always"),), **changes)
        first = run_claim(example)
        outcomes = compute._along(example, "x", first, lambda: 0.0)
        return compute._with_second(example, "x", "n", outcomes, first, lambda: 0.0)

    two = {
        "parameters": {"x": 4.0, "n": 3}, "predicted": lambda x, n: [2 * x] * n,
        "control": lambda x, n: [2 * x + 1] * n,
    }  # fmt: skip
    chosen, found = names(lambda x, n: [2 * x] * n, **two)
    assert chosen == ("x", "n") and sorted({key[0] for key in found}) == [1.0, 3.0, 4.0, 6.0, 12.0]
    assert sorted({key[1] for key in found}) == [1, 2, 3, 4, 7] and len(found) == 25
    assert names(lambda x, n: [2 * x + (x == 1.0)] * n, **two)[0] == ("x", "n")  # 5 of 25 refuted
    assert names(lambda x, n: [2 * x + (x == 1.0 or x == n == 4)] * n, **two)[0] == ("x",)  # 6 of 25
    assert names(lambda x, n: [2 * x, 1 / (7 - n) and 2 * x][:n] + [2 * x] * (n - 2), **two)[0] == ("x", "n")
    whole = compute._run
    monkeypatch.setattr(compute, "_run", lambda c, at, clock: None if at == {"x": 4.0, "n": 4} else whole(c, at, clock))
    assert names(lambda x, n: [2 * x] * n, **two)[0] == ("x",)  # one point cannot be computed


def test_stored_numbers_have_six_digits_and_are_whole_below_a_quadrillion():
    for value, stored in ((-2.5, -2.5), (-1e14, -(10**14)), (1e15, 1e15), (-1e15, -1e15), (-1e16, -1e16), (7.0, 7)):
        made = round_to_stored_digits(value)
        assert made == stored and type(made) is (int if abs(value) < 1e15 and value == int(value) else float)
    assert round_to_stored_digits(123456.7) == 123457 and round_to_stored_digits(1.2345678) == 1.23457
    assert round_to_stored_digits(float("nan")) is None
