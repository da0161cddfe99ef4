"""Every claim gives its stated verdict at smoke scale and its control does not hold; a fixed third runs by default."""

from zlib import crc32

import pytest

from gnomon.atlas import catalog
from gnomon.lab import run
from tests.atlas.independence import shared

ENTRIES = catalog()


def cases():
    for name in ENTRIES:
        marks = [] if crc32(name.encode()) % 3 == 0 else [pytest.mark.full]
        yield pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", list(cases()))
def test_a_claim_is_as_stated_and_its_control_is_not(name):
    outcome = run(ENTRIES[name].claim, seed=12345)
    assert outcome.as_stated, outcome.verdict + " Control: " + outcome.control.reason


@pytest.mark.parametrize("name", ENTRIES)
def test_prediction_and_measurement_share_no_code(name):
    assert not shared(ENTRIES[name].code)


def test_a_shared_path_is_seen():
    code = """
from gnomon import limit
def problem(n): ...
def helper(n): return limit(n)
def predicted(n): return helper(problem(n))
def observed(n): return limit(problem(n))
"""
    assert shared(code) == {"limit"}
