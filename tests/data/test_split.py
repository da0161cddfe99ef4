"""The record of a split."""

from dataclasses import FrozenInstanceError

import pytest

from gnomon.data import digits


def test_a_split_is_frozen_and_prints_its_sizes():
    split = digits(12, 8)
    assert repr(split) == "TrainTestSplit('digits': 12 to train, 8 to test, inputs (1, 8, 8), 10 classes)"
    with pytest.raises(FrozenInstanceError):
        split.x = split.x_test
