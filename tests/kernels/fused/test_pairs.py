"""Pairs of images in float32: those that nearly coincide keep their accuracy, however many others there are."""

import pytest
import torch

from gnomon.program import InitializationLaw
from tests.kernels.fused.reference import both
from tests.kernels.fused.test_images import NETWORKS


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", ["flatten", "pool, flatten"])
def test_near_pairs_among_many_are_as_accurate_as_far_ones(monkeypatch, name, symmetric):
    """Without pooling by the arithmetic of distances, with it by a second computation: float32 alone errs by 6e-5."""
    net, shape = NETWORKS[name]
    x = torch.randn(20, *shape)
    y = x + 1e-5 * torch.randn(20, *shape)
    sides = (torch.cat([x, y]), None) if symmetric else (x, y)
    fast, slow = both(monkeypatch, net, *sides, init=InitializationLaw(1.4, 0.1), dtype=torch.float32)
    assert (fast.ntk.double() / slow.ntk - 1).abs().max() < 2e-6  # some tens of float32 roundings
