"""The plot of a claim names its axes and puts its points at the values of a parameter."""

import pytest

from gnomon.core.errors import InputError
from gnomon.lab import Claim, Premise, Source, equals, in_order, run_claim


def claim(**changes):
    fields = {
        "id": "doubling", "title": "A sum with itself is twice the number", "equation": "x + x = 2 x",
        "source": Source("derived"), "premises": (Premise("two equal terms"),), "parameters": {"xs": (1.0, 50.0, 2.0)},
        "judge": equals(rounding=2), "predicted": lambda xs: [2 * x for x in xs],
        "observed": lambda xs: [x + x for x in xs], "control": lambda xs: [x + x + 1 for x in xs],
        "axes": ("number x", "sum", "xs"),
    }  # fmt: skip
    return Claim(**(fields | changes))


def test_points_are_at_the_values_of_the_parameter():
    plot = run_claim(claim()).plots()[0]
    measured, theory = plot.marks
    assert (plot.x.label, plot.x.log, plot.y.label) == ("number x", True, "sum")
    assert measured.x == (1.0, 50.0, 2.0) and measured.y == (2.0, 100.0, 4.0)
    assert theory.predicted and theory.x == (1.0, 2.0, 50.0) and theory.y == (2.0, 4.0, 100.0)


def test_points_stay_numbered_without_a_value_for_each():
    assert run_claim(claim(axes=("number x", "sum"))).plots()[0].marks[0].x == (0.0, 1.0, 2.0)
    one = run_claim(claim(observed=lambda: 4.0, predicted=lambda: 4.0, control=lambda: 5.0)).plots()[0]
    assert one.x.label == "number x" and one.marks[0].x == (0.0,)


def test_bars_have_what_is_measured_along_x():
    order = claim(
        judge=in_order(), predicted=lambda: ("a", "b"), observed=lambda: {"a": 1, "b": 2}, control=lambda: {"a": 2, "b": 1},
    )  # fmt: skip
    plot = run_claim(order).plots()[0]
    assert (plot.x.label, plot.y.label) == ("sum", "number x")
    assert run_claim(order).to_dict()["axes"] == ["sum", "number x"]


@pytest.mark.parametrize("axes", [("only one",), ("x", "y", "no parameter"), ("x", "y", "xs", "more")])
def test_wrong_axes_are_refused(axes):
    with pytest.raises(InputError, match="axes must be"):
        claim(axes=axes)
