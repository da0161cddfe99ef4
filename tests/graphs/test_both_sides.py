"""Points of a cloud that matter: changes are compared with the outputs, or with a tiny number if these are zero."""

import pytest
import torch
from torch import nn

from gnomon.graphs.points import RELATIVE_ROUNDING, critical_points


class Counted(nn.Module):
    """A number for each point beyond the third."""

    def __init__(self, size, start=0.0):
        super().__init__()
        self.size, self.start = size, start

    def forward(self, x):
        return torch.full((len(x), 1), self.start + self.size * (x.shape[1] - 3), dtype=torch.float64)


@pytest.mark.parametrize(
    ("size", "start", "found"),
    [(0.9e-30, 0.0, ()), (1.1e-30, 0.0, (0, 1, 2)), (9.0, 10.0, ()), (11.0, 10.0, (0, 1, 2))],
)
def test_changes_are_relative_to_the_outputs(size, start, found):
    cloud = torch.arange(6.0).reshape(3, 2).double()
    assert critical_points(Counted(size * RELATIVE_ROUNDING, start), cloud) == found
