from tests.house import importing
from tests.house.tree import SOURCE, expect_none


def test_the_door_is_light_and_quiet(tmp_path):
    expect_none(importing.faults("gnomon", path=SOURCE.parent, folder=tmp_path))
