"""Loads compiled loops before the tests of kernels, so that they run on small problems as well.

Without this, torch would compute small kernels, and the tests would not see the loops.
"""

import pytest
import torch
from torch import nn


@pytest.fixture(autouse=True, scope="session")
def loaded_loops():
    import gnomon.expectations.loops  # noqa: F401

    dense = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    smooth = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    image = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 1))
    for net, shape in ((dense, (2,)), (smooth, (2,)), (image, (1, 4, 4))):
        for dtype in (torch.float64, torch.float32):
            gnomon.kernels.Limit(net, dtype=dtype, compiled=True).ntk(torch.ones(2, *shape))
