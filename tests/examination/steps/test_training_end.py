"""Whether the loss was still falling when training ended."""

import pytest
import torch
from torch import nn

from gnomon.core.results.curves import Curves
from gnomon.examination.steps.training import fall_at_end
from gnomon.training import TrainingRun
from gnomon.training.optimizers import SGD


def fall(steps, loss, test=None):
    given = None if test is None else torch.tensor(test, dtype=torch.float64)
    curves = Curves(torch.tensor(steps).double(), torch.tensor(loss, dtype=torch.float64), "loss", test_loss=given)
    return fall_at_end(TrainingRun(nn.Linear(1, 1), torch.tensor(steps), curves, {}, SGD(0.1), "finished", 1.0, 9.0))


def test_the_fall_is_that_of_the_last_quarter_of_the_steps():
    """The loss at step 75 lies halfway between 3 at step 50 and 2 at step 100, so it is 2.5."""
    (value,) = fall([0, 50, 100], [4.0, 3.0, 2.0])
    assert value.value == "20%" and value.name == "the training loss" and value.id == "fall-at-end"
    (value,) = fall([0, 50, 75, 100], [4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.5])
    assert value.value == "25%" and value.name == "the test loss"


@pytest.mark.parametrize(("last", "reported"), [(0.96, False), (0.94, True)])
def test_a_fall_by_five_percent_is_reported(last, reported):
    assert bool(fall([0, 50, 75, 100], [4.0, 2.0, 1.0, last])) is reported


@pytest.mark.parametrize(
    "loss",
    [
        [4.0, 1.0, 2.0, 1.5],  # it fell at last, but was smaller before
        [4.0, 2.0, 1.0, 1.2],  # it rose
        [4.0, 2.0, float("nan"), 1.0],
        [4.0, 2.0, 1.0, -1.0],  # the share of a negative loss means nothing
    ],
)
def test_a_loss_that_does_not_fall_at_the_end_is_not_reported(loss):
    assert fall([0, 50, 75, 100], loss) == ()
