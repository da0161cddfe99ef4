import pytest

from tests.house import boundaries
from tests.house.allowances import BREACHES
from tests.house.tree import SOURCE, expect_at_most


@pytest.mark.rules
def test_names_taken_from_another_room_are_public():
    expect_at_most(BREACHES.get("boundaries", 0), boundaries.faults(SOURCE))
