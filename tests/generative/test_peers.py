"""zuko, where it is installed: its flows and distributions go through the instruments, and its splines are ours."""

import importlib.util
from math import log

import pytest
import torch

from gnomon.data import moons
from gnomon.generative import bits_per_dimension, fit, mmd_test
from gnomon.generative.instruments.density import flow_density_check
from gnomon.generative.wrapped import DistributionModel
from gnomon.training import Adam

pytestmark = pytest.mark.skipif(importlib.util.find_spec("zuko") is None, reason="zuko is not installed")


@pytest.mark.parametrize("name", ["MAF", "NSF", "NICE", "RealNVP"])
def test_flows_of_zuko_are_checked(name):
    import zuko

    if not hasattr(zuko.flows, name):
        pytest.skip(f"this zuko has no {name}")
    torch.manual_seed(0)
    flow = getattr(zuko.flows, name)(2, transforms=2, hidden_features=(16, 16)).double()
    told = flow_density_check(flow)
    assert told.findings == () and told.round_trip < 1e-6 and told.log_determinant < 1e-6
    x = moons(50).double()
    expected = -flow().log_prob(x).detach().mean() / 2 / log(2)
    assert bits_per_dimension(flow(), x) == pytest.approx(float(expected), rel=1e-6)
    model = DistributionModel(flow, shape=(2,))
    trained = fit(model, x, steps=10, optimizer=Adam(1e-2), batch=None).model
    assert float(trained.loss(x).detach()) < float(model.loss(x).detach()) and trained.sample(4).shape == (4, 2)
    assert mmd_test(flow().sample((60,)), flow().sample((60,)), permutations=99).examples == 120


def test_a_flow_of_zuko_with_a_wrong_determinant_is_found():
    import zuko

    class Wrong(zuko.transforms.MonotonicAffineTransform):
        def log_abs_det_jacobian(self, x, y):
            return -super().log_abs_det_jacobian(x, y)

    base = zuko.distributions.DiagNormal(torch.zeros(2).double(), torch.ones(2).double())
    shift, scale = torch.tensor([[0.2, -0.1], [0.5, 0.3]]).double()
    for kind, kinds in (
        (zuko.transforms.MonotonicAffineTransform, []),
        (Wrong, ["density-not-normalized", "log-determinant-wrong"]),
    ):
        transform = zuko.transforms.DependentTransform(kind(shift, scale), 1)
        told = flow_density_check(zuko.distributions.NormalizingFlow(transform, base))
        assert [finding.kind for finding in told.findings] == kinds
