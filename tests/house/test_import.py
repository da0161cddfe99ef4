import pytest

from tests.house import importing
from tests.house.tree import SOURCE, expect_none


@pytest.mark.full
def test_the_door_is_light_and_quiet(tmp_path):
    expect_none(importing.faults("gnomon", path=SOURCE.parent, folder=tmp_path))


def test_what_a_limit_needs_is_light_and_quiet(tmp_path):
    """The door imports a room when it is first asked for; this is the one that everybody asks for."""
    expect_none(importing.faults("gnomon.kernels", path=SOURCE.parent, folder=tmp_path))
