"""The levels of statistical tests."""

from gnomon.examination.levels import FAMILY_WISE_ERROR_RATE, LEVELS


def test_the_levels_of_all_tests_add_up_to_that_of_the_family():
    assert 0 < sum(LEVELS.values()) <= FAMILY_WISE_ERROR_RATE == 0.05
