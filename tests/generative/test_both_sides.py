"""Instruments of generative models at their limits, in closed form."""

import pytest
import torch

from gnomon.generative.game import game_rotation


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_pure_rotation_is_measured_against_rounding(dtype):
    """The eigenvalues are i and -i: their real parts are zero, which is known up to eps times two numbers of size one."""
    found = game_rotation(lambda w: torch.stack([w[1], -w[0]]), torch.zeros(2, dtype=dtype))
    assert found.rotation == pytest.approx(1 / (2 * torch.finfo(dtype).eps)) and found.largest_lr == 0.0
    still = game_rotation(lambda w: 0 * w, torch.zeros(2, dtype=dtype))
    assert still.rotation == 0.0 and still.largest_lr == float("inf")
