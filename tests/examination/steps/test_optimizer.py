"""Short runs with other learning rates: what is said if the loss rises with all of them."""

from importlib import import_module
from math import nan

import pytest
import torch
from torch import nn

from gnomon.examination.steps.optimizer import OptimizerStep
from gnomon.training import SGD
from tests.examination.steps.setting import answered

X = torch.linspace(-2, 2, 32)[:, None]


@pytest.mark.parametrize(
    "falls, state, words",
    [({1e-4: -9.0, 0.1: -8.0, 1.0: -7.0, 10.0: nan}, "unsure", "the loss rose with every learning rate tried"),
     ({0.1: 0.4, 1.0: 0.5, 10.0: nan}, "answered", "no other learning rate does much better")],
)  # fmt: skip
def test_a_loss_that_rises_with_every_learning_rate_is_not_called_fine(falls, state, words, monkeypatch):
    monkeypatch.setattr(
        import_module("gnomon.examination.steps.optimizer"), "short_runs", lambda *_, **__: (falls, 1.0)
    )
    result = answered(OptimizerStep, nn.Linear(1, 1), (X, 3 * X), optimizer=SGD(1e9))
    assert result.state == state and words in result.content.answer and result.content.findings == ()
