"""Flows: integrals by quadrature, inverses, determinants by differentiation, samples against the density."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import kstest
from torch import nn

from gnomon.core import InputError
from gnomon.data import gaussian_mixture
from gnomon.generative import ContinuousFlow, Flow, FlowMatching, autoregressive_flow, coupling_flow, spline_flow
from gnomon.generative.continuous import TimeConditionedNetwork
from gnomon.generative.divergence import ExactTrace, HutchinsonTrace, hutchinson_trace
from gnomon.generative.flows.autoregressive import Autoregressive, MaskedNetwork, SplineAutoregressive
from gnomon.generative.flows.base import InverseTransform
from gnomon.generative.flows.mixing import InvertibleMixing
from gnomon.generative.flows.planar import PlanarTransform
from gnomon.generative.flows.standard_flows import autoregressive_spline_flow

D = torch.float64


def shaken(model, seed=0, size=0.3):
    """The model in float64 with all parameters moved: new flows of ours are the identity."""
    generator = torch.Generator().manual_seed(seed)
    model = model.double()
    with torch.no_grad():
        for p in model.parameters():
            p += size * torch.randn(p.shape, generator=generator, dtype=D)
    return model


def inverse_autoregressive():
    return Flow([InverseTransform(Autoregressive(MaskedNetwork(2, 2, hidden=16))) for _ in range(2)], shape=(2,))


MAKERS = {
    "planar": lambda: Flow([PlanarTransform(2) for _ in range(3)], shape=(2,)),
    "coupling": lambda: coupling_flow(2, layers=2, hidden=16),
    "autoregressive": lambda: autoregressive_flow(2, layers=2, hidden=16),
    "inverse autoregressive": inverse_autoregressive,
    "spline": lambda: spline_flow(2, layers=1, hidden=16),
    "autoregressive spline": lambda: autoregressive_spline_flow(2, layers=2, hidden=16),
    "mixing": lambda: Flow([InvertibleMixing(2)], shape=(2,)),
    "continuous": lambda: ContinuousFlow(
        TimeConditionedNetwork(2, hidden=8, layers=1, waves=1), shape=(2,), integration_steps=20
    ),
}


def made(name, seed=1):
    torch.manual_seed(seed)
    return shaken(
        MAKERS[name](), seed, 0.15 if name in ("coupling", "spline", "continuous", "autoregressive spline") else 0.3
    )


def box(x, points):
    low, high = x.amin(0), x.amax(0)
    low, high = low - 0.6 * (high - low), high + 0.6 * (high - low)
    axes = [torch.linspace(float(a), float(b), points, dtype=D) for a, b in zip(low, high, strict=True)]
    cell = float(((high - low) / (points - 1)).prod())
    return torch.cartesian_prod(*axes), cell


@pytest.mark.parametrize("name", MAKERS)
def test_every_density_integrates_to_one_in_the_plane(name):
    torch.manual_seed(1)
    flow = made(name)
    grid, cell = box(flow.sample(2000), 90 if name == "continuous" else 250)
    with torch.no_grad():
        total = float(flow.log_prob(grid).exp().sum()) * cell
    assert total == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", MAKERS)
def test_every_flow_comes_back(name):
    flow = made(name)
    z = torch.randn(50, 2, generator=torch.Generator().manual_seed(2)).double()
    with torch.no_grad():
        there = flow.forward(z)
        if name == "continuous":
            assert_allclose(flow.inverse(there), z, atol=1e-6)  # the error of the integrator
            return
        back, log_det = flow.inverse(there[0])
        assert_allclose(back, z, atol=1e-6)
        assert_allclose(log_det, -there[1], atol=1e-6)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "continuous"])
def test_log_determinants_are_those_of_the_jacobian(name):
    flow = made(name)
    z = torch.randn(5, 2, generator=torch.Generator().manual_seed(3)).double()
    slopes = torch.stack([torch.autograd.functional.jacobian(lambda p: flow.forward(p[None])[0][0], p) for p in z])
    with torch.no_grad():
        assert_allclose(flow.forward(z)[1], torch.linalg.slogdet(slopes)[1], atol=1e-8)


def test_samples_follow_the_density():
    flow = made("coupling")
    x = flow.sample(1000, seed=5)[:, 0].numpy()
    grid, _ = box(flow.sample(2000), 250)
    with torch.no_grad():
        density = flow.log_prob(grid).exp().reshape(250, 250).sum(1).numpy()
    places = grid[::250, 0].numpy()
    mass = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    assert kstest(x, lambda v: np.interp(v, places, mass / mass[-1])).pvalue > 1e-3


def test_gradients_pass_through_the_inverse_of_a_planar_map():
    torch.manual_seed(0)
    layer, x = PlanarTransform(2).double(), torch.randn(4, 2, dtype=D)
    value = layer.inverse(x)[1].sum()
    slope = torch.autograd.grad(value, layer.w)[0][0]
    h = 1e-6
    with torch.no_grad():
        layer.w[0] += h
        up = layer.inverse(x)[1].sum()
        layer.w[0] -= 2 * h
        down = layer.inverse(x)[1].sum()
    assert float(slope) == pytest.approx(float(up - down) / (2 * h), rel=1e-5)


def test_a_planar_map_keeps_its_condition_and_would_fold_without_it():
    layer = PlanarTransform(2).double()
    with torch.no_grad():
        layer.w[:], layer.u[:] = torch.tensor([2.0, 0.0]), torch.tensor([-3.0, 0.0])
        assert float(layer.direction @ layer.w) > -1 and float(layer.u @ layer.w) < -1
    line = torch.linspace(-2, 2, 201, dtype=D)[:, None] * torch.tensor([1.0, 0.0], dtype=D)
    with torch.no_grad():
        assert bool((layer(line)[0][:, 0].diff() > 0).all())
        folded = line + (line @ layer.w).tanh()[:, None] * layer.u
    assert bool((folded[:, 0].diff() < 0).any())


def test_mixing_is_a_convolution_of_images():
    torch.manual_seed(0)
    layer, x = InvertibleMixing(3).double(), torch.randn(2, 3, 4, 5, dtype=D)
    with torch.no_grad():
        y, log_det = layer(x)
        assert_allclose(y, nn.functional.conv2d(x, layer.weight[:, :, None, None]), atol=1e-12)
        assert_allclose(layer.inverse(y)[0], x, atol=1e-10)
        assert_allclose(log_det, 20 * torch.linalg.slogdet(layer.weight)[1].expand(2), atol=1e-12)


def test_a_masked_network_with_few_units_sees_coordinates_from_first_to_last():
    """Places counted from the first on, as 0 .. 7 here, would leave 55 of 63 coordinates unseen by every output."""
    network = shaken(MaskedNetwork(64, 1, hidden=8))
    slopes = torch.autograd.functional.jacobian(lambda x: network(x[None])[0, :, 0], torch.randn(64, dtype=D))
    assert bool((slopes.triu() == 0).all())
    seen = (slopes != 0).any(0).nonzero()[:, 0]
    assert int(seen[-1]) == 63 * 7 // 8 and len(seen) == 63 * 7 // 8 + 1


def test_coordinates_that_decide_are_fitted_as_well():
    """A coupling map alone changes both halves: that which decides by numbers of its own, whatever the other one is."""
    layer = shaken(spline_flow(4, layers=1, hidden=8)).transforms[0]
    x = torch.randn(50, 4, dtype=D)
    with torch.no_grad():
        z = layer.inverse(x)[0]
        other = x.clone()
        other[:, layer.changing] += 1
        assert float((z - x)[:, layer.kept].abs().min()) > 0
        assert torch.equal(layer.inverse(other)[0][:, layer.kept], z[:, layer.kept])
    (layer.inverse(x)[0].square().sum() / 2 - layer.inverse(x)[1].sum()).backward()
    assert bool((layer.own.grad.abs().sum(1) > 0).all())


class Linear(nn.Module):
    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(matrix)

    def forward(self, x, t):
        return x @ self.matrix.T


def test_a_linear_field_makes_the_gaussian_of_its_matrix_exponential():
    matrix = torch.tensor([[0.3, -0.8], [0.5, -0.2]], dtype=D)
    flow = ContinuousFlow(Linear(matrix), shape=(2,), integration_steps=40)
    root = torch.linalg.matrix_exp(matrix)
    exact = torch.distributions.MultivariateNormal(torch.zeros(2, dtype=D), root @ root.T)
    x = torch.randn(5, 2, dtype=D)
    with torch.no_grad():
        assert_allclose(flow.log_prob(x), exact.log_prob(x), atol=1e-6)
        signs = ContinuousFlow(Linear(matrix), shape=(2,), integration_steps=40, trace=HutchinsonTrace(4000, seed=1))
        error = 2**0.5 * 0.3 / 4000**0.5  # of the mean of 4000 draws of variance 2 (|S|^2 - |diag S|^2)
        assert_allclose(signs.log_prob(x), exact.log_prob(x), atol=5 * error)


def test_the_variance_of_hutchinsons_trace():
    matrix = torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0], [0.5, 0.0, 2.0]], dtype=D)
    symmetric = (matrix + matrix.T) / 2
    for law, variance in (
        ("gaussian", 2 * symmetric.square().sum()),
        ("signs", 2 * (symmetric.square().sum() - symmetric.diagonal().square().sum())),
    ):
        trace, error = hutchinson_trace(lambda x: x @ matrix.T, torch.zeros(1, 3, dtype=D), directions=20_000, law=law)
        assert abs(float(trace) - 2) < 4 * float(error)
        assert float(error) ** 2 * 20_000 == pytest.approx(float(variance), rel=0.08)  # five errors of a variance


def test_exact_traces_can_be_trained_through():
    torch.manual_seed(0)
    flow = ContinuousFlow(TimeConditionedNetwork(2, hidden=8), shape=(2,), integration_steps=2, trace=ExactTrace())
    flow.loss(torch.randn(8, 2)).backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in flow.parameters())


def test_flow_matching_of_a_gaussian_has_its_exact_field_as_least_loss():
    """For x ~ N(0, s^2) the best field is E[x - e | y]; a shifted one loses the square of the shift."""
    s = 0.5

    class Best(nn.Module):
        def __init__(self, shift=0.0):
            super().__init__()
            self.shift = shift

        def forward(self, y, t):
            t = t[:, None]
            return (t * s**2 - (1 - t)) / (t**2 * s**2 + (1 - t) ** 2) * y + self.shift

    x = gaussian_mixture([[0.0]], std=s).sample(4000)
    model = FlowMatching(Best(), shape=(1,), integration_steps=50)
    assert_allclose(model.log_prob(x[:20]), gaussian_mixture([[0.0]], std=s).log_prob(x[:20]), atol=1e-4)
    torch.manual_seed(0)
    least = model.losses(x).mean()
    torch.manual_seed(0)
    more = FlowMatching(Best(0.5), shape=(1,)).losses(x).mean()

    def variance(t):  # of x - e given y = (1 - t) e + t x: total less explained
        return 1 + s**2 - (t * s**2 - (1 - t)) ** 2 / (t**2 * s**2 + (1 - t) ** 2)

    assert float(least) == pytest.approx(quad(variance, 0, 1)[0], rel=0.1)
    assert float(more - least) == pytest.approx(0.25, abs=0.1)


def test_bad_input_is_one_sentence():
    flow = coupling_flow(2)
    with pytest.raises(InputError, match=r"x has shape \(3, 4\); the model makes examples of shape \(2,\)"):
        flow.log_prob(torch.zeros(3, 4))
    with pytest.raises(ArithmeticError, match="NaN or infinity"):
        flow.loss(torch.full((3, 2), float("nan")))
    with pytest.raises(InputError, match=r"n must be a whole number of at least 0, but it is -1"):
        flow.sample(-1)
    with pytest.raises(InputError, match="features must be a whole number of at least 2, but it is 1"):
        spline_flow(1)
    with pytest.raises(InputError, match=r"the network returned \(3, 2, 7\) for points \(3, 2\)"):
        SplineAutoregressive(MaskedNetwork(2, 7)).inverse(torch.zeros(3, 2))
    with pytest.raises(InputError, match='law must be "signs" or "gaussian"'):
        HutchinsonTrace(law="uniform")


def test_steps_of_masked_networks_are_calm_in_many_dimensions():
    """One step of Adam moves outputs by what other coordinates say 1 / 14 as much as weights of size one would."""
    torch.manual_seed(0)
    many, two = MaskedNetwork(784, 2, hidden=64), MaskedNetwork(2, 2, hidden=64)
    assert two.faster == [1.0, 1.0, 1.0] and float(two.mask2.max()) == 1.0
    assert many.faster[-1] == 8.0 and abs(float(many.mask2.max()) - 1 / 14) < 1e-7
    # What acts is drawn as before: uniform up to 1 / sqrt(784), and a unit's weights sum to 64 at most in a step.
    acting = (many.weights[0] * many.mask0).detach()
    assert 0.99 / 28 < float(acting.abs().max()) <= 1.0001 / 28
    assert float(many.mask0.sum(1).max()) <= 64.001


def test_ready_made_flows_have_the_stated_maps():
    """Layers alternate; a spline with b bins has b widths, b heights and b - 1 inner slopes for each coordinate."""
    coupled = coupling_flow(5, layers=3, hidden=16).transforms
    assert [type(part).__name__ for part in coupled] == ["InvertibleMixing", "Coupling"] * 3
    splines = spline_flow(5, layers=2, hidden=16, bins=4).transforms
    assert len(splines) == 4
    for parts in (coupled[1::2], splines):
        masks = [part.stays for part in parts]
        assert all(bool((a ^ b).all()) for a, b in zip(masks, masks[1:], strict=False))
        assert {int(mask.sum()) for mask in masks} == {2, 3}
    autoregressive = autoregressive_flow(3, layers=4, hidden=16).transforms
    assert [part.reverse for part in autoregressive] == [False, True, False, True]
    assert all(part.network.outputs == 2 for part in autoregressive)
    both = autoregressive_spline_flow(3, layers=3, hidden=16, bins=6, bound=2.0).transforms
    assert [part.reverse for part in both] == [False, True, False]
    assert all(part.network.outputs == 6 + 6 + 5 for part in both)
