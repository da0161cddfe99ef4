"""Every map of a flow in five dimensions: both directions, their Jacobians, and its formula by hand."""

from math import exp, log

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.generative.flows import (
    Autoregressive,
    Coupling,
    Flow,
    InverseTransform,
    InvertibleMixing,
    MaskedNetwork,
    PlanarTransform,
    ShiftTransform,
    SplineAutoregressive,
    SplineCoupling,
    alternating_mask,
    coupling_network,
    rational_spline,
    rational_spline_inverse,
)

D = torch.float64
STAYS = torch.tensor([True, False, False, True, False])
MAPS = {
    "coupling": lambda: Coupling(coupling_network(2, 6, hidden=8), STAYS),
    "spline": lambda: SplineCoupling(coupling_network(2, 3 * 11, hidden=8), STAYS, bins=4, bound=3.0),
    "autoregressive": lambda: Autoregressive(MaskedNetwork(5, 2, hidden=16), reverse=True),
    "autoregressive spline": lambda: SplineAutoregressive(MaskedNetwork(5, 11, hidden=16), bins=4, bound=3.0),
    "planar": lambda: PlanarTransform(5),
    "mixing": lambda: InvertibleMixing(5),
    "inverse": lambda: InverseTransform(Coupling(coupling_network(2, 6, hidden=8), STAYS)),
    "chain": lambda: Flow(
        [InvertibleMixing(5), PlanarTransform(5), Coupling(coupling_network(2, 6, hidden=8), STAYS)], shape=(5,)
    ),
}


@pytest.mark.parametrize("name", MAPS)
def test_both_directions_have_the_log_determinants_of_their_jacobians(name):
    torch.manual_seed(0)
    layer = MAPS[name]().double()
    for p in layer.parameters():
        p.data += 0.4 * torch.randn_like(p)
    z = torch.randn(4, 5, dtype=D)
    with torch.no_grad():
        x, forward = layer.forward(z)
        back, backward = layer.inverse(x)
    np.testing.assert_allclose(back, z, atol=1e-8)
    for go, points, found in ((layer.forward, z, forward), (layer.inverse, x, backward)):
        slopes = torch.stack(
            [torch.autograd.functional.jacobian(lambda p, go=go: go(p[None])[0][0], q) for q in points]
        )
        np.testing.assert_allclose(found, torch.linalg.slogdet(slopes)[1], atol=1e-8)
    assert float((x - z).abs().max()) > 0.1


class Fixed(nn.Module):
    def __init__(self, *numbers):
        super().__init__()
        self.numbers = nn.Parameter(torch.tensor(numbers, dtype=D))

    def forward(self, x):
        return self.numbers.expand(len(x), -1)


def test_a_coupling_scales_by_three_tanh_and_shifts():
    layer = Coupling(Fixed(0.2, 1.0, -2.0, 0.5, 9.0, -1.0), STAYS)
    x, _ = layer(torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]], dtype=D))
    s = 3 * np.tanh([0.2, -2.0, 9.0])
    np.testing.assert_allclose(x[0, [0, 3]].detach(), [1.0, 4.0])
    np.testing.assert_allclose(x[0, [1, 2, 4]].detach(), np.array([2.0, 3.0, 5.0]) * np.exp(s) + [1.0, 0.5, -1.0])
    assert alternating_mask(5, 3).tolist() == [False, True, False, True, False]
    with pytest.raises(InputError, match="2 numbers for each"):
        Coupling(Fixed(1.0, 2.0), STAYS)(torch.zeros(1, 5, dtype=D))


def test_an_autoregressive_map_keeps_its_scale_below_seven():
    class Options(nn.Module):
        def forward(self, x):
            return torch.stack([torch.full_like(x, 70.0), torch.full_like(x, 2.0)], -1)

    layer = Autoregressive(Options())
    z, logs = layer.inverse(torch.tensor([[3.0, -1.0]], dtype=D))
    s = 70 / (1 + 70 / 7.0)
    np.testing.assert_allclose(z, [[2 + 3 * exp(-s), 2 - exp(-s)]])
    np.testing.assert_allclose(logs, [-2 * s])


def test_a_planar_map_bends_along_a_direction_that_keeps_it_invertible():
    torch.manual_seed(0)
    layer = PlanarTransform(3).double()
    layer.b.data += 0.3
    w, u, z = layer.w.detach().numpy(), layer.u.detach().numpy(), np.array([[0.5, -1.0, 2.0]])
    product = u @ w
    direction = u + (log(1 + exp(product)) - 1 - product) * w / (w @ w)
    np.testing.assert_allclose(layer(torch.tensor(z))[0].detach(), z + np.tanh(z @ w + 0.3)[:, None] * direction)
    many = PlanarTransform(10_000)
    assert float(many.w.detach().norm()) == pytest.approx(1, abs=0.04) == float(many.u.detach().norm())
    assert float(many.b.detach()) == 0.0


def test_mixing_of_images_counts_every_position():
    layer = InvertibleMixing(3).double()
    layer.weight.data = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, -1.0], [0.5, 0.0, 1.0]], dtype=D)
    x = torch.randn(2, 3, 2, 5, dtype=D)
    made, logs = layer(x)
    np.testing.assert_allclose(made.detach(), np.einsum("ij,njab->niab", layer.weight.detach(), x))
    np.testing.assert_allclose(logs.detach(), 10 * log(5.5) * np.ones(2))  # 2 * 3 + 0.5 * (-1) = 5.5
    back, other = layer.inverse(made)
    np.testing.assert_allclose(back.detach(), x)
    np.testing.assert_allclose(other.detach(), -logs.detach())


def knots(options, bound):
    """Places, heights and slopes of the knots: shares of a softmax with a least share of 1e-3, slopes of a softplus."""
    k = (len(options) + 1) // 3
    ends = []
    for free in (options[:k], options[k : 2 * k]):
        share = np.exp(free) / np.exp(free).sum()
        ends.append(bound * (2 * np.concatenate([[0], np.cumsum(1e-3 + (1 - 1e-3 * k) * share)]) - 1))
    unit = log(exp(1 - 1e-3) - 1)
    slopes = np.concatenate([[1.0], 1e-3 + np.log1p(np.exp(options[2 * k :] + unit)), [1.0]])
    return ends[0], ends[1], slopes


def test_splines_go_through_their_knots_with_their_slopes():
    options = np.random.default_rng(0).standard_normal(3 * 4 - 1)
    x, y, slopes = knots(options, 2.5)
    rows = torch.tensor(options, dtype=D).expand(3, -1)
    found, logs = rational_spline(torch.tensor(x[1:-1]), rows, bound=2.5)
    np.testing.assert_allclose(found, y[1:-1], rtol=1e-13)
    np.testing.assert_allclose(logs.exp(), slopes[1:-1], rtol=1e-8)
    back, other = rational_spline_inverse(torch.tensor(y[1:-1]), rows, bound=2.5)
    np.testing.assert_allclose(back, x[1:-1], rtol=1e-13)
    np.testing.assert_allclose(other, -logs, rtol=1e-7)


def test_splines_are_rational_quadratics_between_knots_and_the_identity_outside():
    options = np.random.default_rng(1).standard_normal(3 * 4 - 1)
    x, y, slopes = knots(options, 2.5)
    points = np.linspace(-2.45, 2.45, 37)
    k = np.searchsorted(x, points) - 1
    w = (points - x[k]) / (x[k + 1] - x[k])
    s = (y[k + 1] - y[k]) / (x[k + 1] - x[k])
    below = s + (slopes[k + 1] + slopes[k] - 2 * s) * w * (1 - w)
    expected = y[k] + (y[k + 1] - y[k]) * (s * w**2 + slopes[k] * w * (1 - w)) / below
    shared = torch.tensor(options, dtype=D)
    found, logs = rational_spline(torch.tensor(points), shared, bound=2.5)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    above = slopes[k + 1] * w**2 + 2 * s * w * (1 - w) + slopes[k] * (1 - w) ** 2
    np.testing.assert_allclose(logs.exp(), s**2 * above / below**2, rtol=1e-8)
    outside = torch.tensor([-9.0, 2.6, 7.0], dtype=D)
    for go in (rational_spline, rational_spline_inverse):
        assert go(outside, shared, bound=2.5)[0].tolist() == outside.tolist()
        assert go(outside, shared, bound=2.5)[1].tolist() == [0.0] * 3
    inside, _ = rational_spline(torch.tensor([4.9], dtype=D), torch.tensor(options, dtype=D))
    assert abs(float(inside) - 4.9) > 1e-3  # the default bound is five
    assert float(rational_spline(torch.tensor([5.1], dtype=D), shared)[0]) == 5.1


def test_free_numbers_beyond_sixty_change_nothing():
    low, high = torch.zeros(8, dtype=D), torch.zeros(8, dtype=D)
    low[0], high[0] = 60.0, 500.0
    x = torch.tensor([0.7, -2.0], dtype=D)
    assert rational_spline(x, low)[0].tolist() == rational_spline(x, high)[0].tolist()
    low[0] = 30.0
    assert rational_spline(x, low)[0].tolist() != rational_spline(x, high)[0].tolist()


def test_masked_networks_see_earlier_coordinates_and_act_with_the_weights_of_a_plain_layer():
    """100 coordinates: units that see more than 64 store their weights larger; the last layer is calmed by 5."""
    torch.manual_seed(0)
    plain = [nn.Linear(100, 40), nn.Linear(40, 40)]
    torch.manual_seed(0)
    network = MaskedNetwork(100, 2, hidden=40)
    places = np.arange(40) * 99 // 40
    first = (places[:, None] >= np.arange(100)).astype(float)
    second = (places[:, None] >= places[None]).astype(float)
    for i, seen in enumerate((first, second)):
        acting = network.weights[i].detach().numpy() * getattr(network, f"mask{i}").numpy()
        np.testing.assert_allclose(acting, plain[i].weight.detach().numpy() * seen, rtol=1e-5, atol=1e-8)
        scale = np.minimum(64 / np.maximum(seen.sum(1), 1), 1)
        np.testing.assert_allclose(getattr(network, f"mask{i}").numpy(), seen * scale[:, None], rtol=1e-6)
    last = (np.repeat(np.arange(100), 2)[:, None] > places[None]).astype(float) / 5.0
    np.testing.assert_allclose(network.mask2.numpy(), last, rtol=1e-6)
    assert network.faster == [1.0, 1.0, 5.0] and MaskedNetwork(400, 1).faster[-1] == 8.0
    assert MaskedNetwork(3, 1).faster == [1.0, 1.0, 1.0]
    for p in network.parameters():
        p.data = torch.randn_like(p)
    x = torch.randn(2, 100)
    h = x
    for i in range(2):
        h = torch.relu(h @ (network.weights[i] * getattr(network, f"mask{i}")).T + network.biases[i])
    expected = h @ (network.weights[2] * network.mask2).T + 5.0 * network.biases[2]
    torch.testing.assert_close(network(x), expected.reshape(2, 100, 2), atol=1e-4, rtol=1e-4)


def test_a_shift_and_its_inverse_keep_volumes():
    layer = ShiftTransform(2)
    layer.amount.data += torch.tensor([1.0, -3.0])
    assert layer(torch.zeros(1, 2))[0].tolist() == [[1.0, -3.0]] and layer(torch.zeros(1, 2))[1].tolist() == [0.0]
    assert layer.inverse(torch.zeros(1, 2))[0].tolist() == [[-1.0, 3.0]]
