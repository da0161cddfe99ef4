"""Loads compiled loops before these tests; without this, numpy would compute the small cases, and loops go untested."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def loaded_loops():
    import gnomon.expectations.loops  # noqa: F401
