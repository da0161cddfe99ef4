"""How many times the time of a run that was too short would be enough, by hand."""

from types import SimpleNamespace

import pytest
import torch

from gnomon.training import TrainingRun


def factor(steps, loss, epochs=5.0, shortage="short"):
    """The factor of a run that has only what it is computed from."""
    run = SimpleNamespace(steps=torch.tensor(steps), loss=torch.tensor(loss), epochs=epochs, shortage=shortage)
    return TrainingRun.time_factor.fget(run)


@pytest.mark.parametrize(
    ("steps", "epochs", "expected"),
    [(40, 5.0, 5.0), (40, 0.5, 5.0), (40, 0.25, 8.0), (200, 0.25, 8.0), (99, 5.0, 200 / 99), (200, 0.999, 2 / 0.999)],
)
def test_few_steps_or_passes_are_doubled_after_they_suffice(steps, epochs, expected):
    assert factor([0, steps], [1.0, 0.9], epochs) == pytest.approx(expected)


def test_a_falling_loss_is_doubled_until_the_last_doubling_brings_a_tenth():
    # 6 in the first half and 1.5 in the second; the next doubling brings 0.375 of 7.875 in all
    assert factor([0, 50, 100, 150, 200], [10.0, 6.0, 4.0, 3.0, 2.5]) == 2.0
    # 4 and 3: then 2.25, 1.6875, 1.265625 of 12.2
    assert factor([0, 100, 200], [8.0, 4.0, 1.0]) == 16.0
    assert factor([0, 100, 200], [8.0, 4.0, 1.0], shortage="") == 1.0
    assert factor([], []) == factor([7], [1.0]) == 100.0


def test_no_doubling_brings_more_than_three_quarters_of_the_one_before():
    # 1 and 3, as if each doubling brought three times the one before: then 9/4, 27/16, 81/64, 243/256 of 10.15
    assert factor([0, 100, 200], [8.0, 7.0, 4.0]) == 16.0
