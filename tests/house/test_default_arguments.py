"""Default arguments stay as they are: users, pages and stored reports rely on them."""

import json

import pytest

from tests.house.default_arguments import TABLE, collect, subpackages

KNOWN = json.loads(TABLE.read_text())


@pytest.mark.parametrize("name", subpackages())
def test_defaults_are_those_of_the_table(name):
    """After a wanted change: name it in CHANGELOG.md and run `python -m tests.house.default_arguments`.

    Functions that are not in the table yet may have any defaults; the command adds them.
    """
    found, known = collect(name), KNOWN.get(name, {})
    assert {key: found[key] for key in found if key in known} == {key: known[key] for key in known if key in found}


def test_the_table_has_defaults_of_functions_and_of_records():
    assert KNOWN["landscape"] and sum(len(rows) for rows in KNOWN.values()) > 300
    assert KNOWN["robustness"]["gnomon.robustness.attacks.apgd.APGD.__init__"] == {"steps": 100, "restarts": 1}
