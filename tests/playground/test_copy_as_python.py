"""A script from "Copy as Python" prints the numbers that the page shows."""

import contextlib
import io
import re

import pytest

from tests.playground.node import NEEDS_NODE, run

NUMBER = r"([-+.\deinf]+)"


def printed(script):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script, "copied.py", "exec"), {"__name__": "__main__"})
    return out.getvalue()


def check(one):
    text = printed(one["python"])
    largest, lr = re.search(rf"rate {NUMBER}, used {NUMBER}", text).groups()
    if one["largest"] is not None:  # null stands for infinity
        assert float(largest) == pytest.approx(one["largest"], rel=6e-6)
    assert float(lr) == pytest.approx(one["lr"], rel=6e-6)
    if one["predicted"] is not None:
        assert float(re.search(rf"predicted loss {NUMBER}", text)[1]) == pytest.approx(
            one["predicted"], rel=6e-6, abs=1e-12
        )
    assert float(re.search(rf"measured loss {NUMBER}", text)[1]) == pytest.approx(one["loss"], rel=6e-6, abs=1e-12)


@NEEDS_NODE
def test_three_scripts_print_the_numbers_of_the_page():
    for one in run("python_states.mjs", 3):
        check(one)


@pytest.mark.full
@NEEDS_NODE
def test_twenty_scripts_print_the_numbers_of_the_page():
    for one in run("python_states.mjs", 20):
        check(one)
