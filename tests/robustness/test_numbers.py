"""Noise, suprema, Jacobians, Lipschitz constants and attacks: numbers written out by hand on small networks."""

import inspect
from math import inf, log, sqrt

import numpy as np
import pytest
import torch
from scipy.stats import binomtest
from torch import nn

from gnomon.core.errors import InputError
from gnomon.robustness.attacks import APGD, TargetedAPGD, attack
from gnomon.robustness.attacks.base import ThreatModel
from gnomon.robustness.attacks.universal import UniversalPerturbation
from gnomon.robustness.distances import margin_distribution, noise_sensitivity
from gnomon.robustness.inverse import invertibility
from gnomon.robustness.jacobian import jacobian_spectrum, linear_map
from gnomon.robustness.lipschitz.network import lipschitz_bounds, pair_bounds
from gnomon.robustness.supremum import supremum_distance

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(6, 3, generator=G).double(), torch.randn(6, 2, generator=G).double()
CLASSES = torch.tensor([0, 1, 1, 0, 2, 2])


def network(outputs=3):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, outputs)).double()


def rises(net, loss, sigma, draws, probe):
    """Rises and penalties of each draw, from the same random numbers: first of the probe, then of the noise."""
    g, found, penalties = torch.Generator().manual_seed(4), [], []
    x = X.clone().requires_grad_()
    f = net(x)
    for _ in range(draws):
        v = probe(f.detach(), g)
        (slope,) = torch.autograd.grad((f * v).sum(), x, retain_graph=True)
        penalties.append(sigma**2 / 2 * float(slope.square().sum()) / len(X))
        e = sigma * torch.randn(X.shape, generator=g).double()
        found.append(float(((loss(net(X + e)) + loss(net(X - e))) / 2 - loss(net(X))).detach()))
    return np.array(found), np.mean(penalties)


def test_noise_adds_the_mean_over_pairs_of_draws_with_squared_loss():
    net = network(2)
    signs = lambda f, g: (torch.randint(0, 2, f.shape, generator=g) * 2 - 1).double()  # noqa: E731
    loss = lambda f: (f - Y).square().sum(1).mean() / 2  # noqa: E731
    expected, penalty = rises(net, loss, 0.3, 5, signs)
    found = noise_sensitivity(net, (X, Y), sigma=0.3, draws=5, seed=4)
    assert (found.rise, found.penalty) == pytest.approx((expected.mean(), penalty))
    half = 2.7764451 * expected.std(ddof=1) / sqrt(5)  # Student's t with four degrees of freedom
    assert found.interval.low == pytest.approx(expected.mean() - half)
    assert found.interval.high == pytest.approx(expected.mean() + half)
    assert found.loss == pytest.approx(float(loss(net(X)).detach())) and found.interval.confidence == 0.95
    assert inspect.signature(noise_sensitivity).parameters["draws"].default == 20


def test_noise_with_cross_entropy_is_probed_by_drawn_classes():
    net = network()

    def drawn(f, g):
        p = f.softmax(1)
        classes = torch.multinomial(p, 1, generator=g)[:, 0]
        return nn.functional.one_hot(classes, 3) - p

    expected, penalty = rises(net, lambda f: nn.functional.cross_entropy(f, CLASSES), 0.3, 4, drawn)
    found = noise_sensitivity(net, (X, CLASSES), sigma=0.3, draws=4, seed=4)
    assert (found.rise, found.penalty) == pytest.approx((expected.mean(), penalty))


def test_the_curvature_of_a_loss_weighs_its_probes():
    """Logistic loss log(1 + exp(-y f)): its second derivative is p (1 - p)."""
    from gnomon.training import Logistic

    net, y = network(1), torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0, 1.0]).double()

    def weighted(f, g):
        p = torch.sigmoid(f)
        return (torch.randint(0, 2, f.shape, generator=g) * 2 - 1) * (p * (1 - p)).sqrt()

    _, penalty = rises(net, lambda f: nn.functional.softplus(-y[:, None] * f).mean(), 0.3, 3, weighted)
    assert noise_sensitivity(net, (X, y), sigma=0.3, draws=3, seed=4, loss=Logistic()).penalty == pytest.approx(penalty)


def test_margins_are_divided_by_the_slope_of_their_own_example():
    net = network()
    found = margin_distribution(net, (X, CLASSES))
    for i in range(6):
        x = X[i : i + 1].clone().requires_grad_()
        f = net(x)[0]
        margin = f[CLASSES[i]] - max(f[k] for k in range(3) if k != CLASSES[i])
        (slope,) = torch.autograd.grad(margin, x)
        assert float(found.margins[i]) == pytest.approx(float(margin.detach()))
        assert float(found.distances[i]) == pytest.approx(float(margin.detach() / slope.norm()))


def test_the_largest_difference_is_bounded_by_half_a_diagonal_of_the_grid():
    """x y on a box of 2 by 1 with 3 by 3 points: corners at distance sqrt(1/4 + 1/16)."""
    found = supremum_distance(lambda p: p[:, 0] * p[:, 1] - 1, lambda p: 0 * p[:, 0], [(0.0, 2.0), (0.0, 1.0)], points=9,
                         lipschitz=3.0)  # fmt: skip
    assert (found.low, found.points) == (1.0, 9)
    assert found.high == pytest.approx(1 + 3 * sqrt(0.25 + 0.0625))
    assert supremum_distance(lambda p: p, lambda p: p, [(0.0, 1.0)], points=5).low == 0.0
    assert supremum_distance(lambda p: p, lambda p: 2 * p, [(0.0, 1.0)], points=5).high == inf
    assert inspect.signature(supremum_distance).parameters["points"].default == 4096
    with pytest.raises(InputError):
        supremum_distance(lambda p: p, lambda p: p, [(1.0, 1.0)])


def test_spectra_of_jacobians_are_those_of_numpy():
    net = network(2)
    values = []
    for row in X:
        jacobian = torch.autograd.functional.jacobian(lambda x: net(x[None])[0], row)
        values.append(np.linalg.svd(jacobian.numpy())[1])
    values = np.array(values)
    found = jacobian_spectrum(net, X)
    assert found.values.numpy() == pytest.approx(values) and found.gain == pytest.approx((values**2).mean())
    ratios = np.sort(values[:, 0] / values[:, -1])
    assert found.condition == pytest.approx(ratios[2])  # the lower of two medians
    assert len(jacobian_spectrum(net, X.repeat(6, 1)).values) == 32


def test_a_linear_network_has_the_frequencies_of_its_matrix():
    net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)).double()
    found = linear_map(net, torch.randn(5, 4).double())
    w = (net[1].weight @ net[0].weight).detach().numpy()
    sizes = np.abs(np.fft.fft(w, norm="ortho"))
    assert found.weights.numpy() == pytest.approx(w)
    assert found.sparsity == pytest.approx(sizes.sum(1) / np.linalg.norm(sizes, axis=1) / 2)


class Doubled(nn.Module):
    """y = 2 x, with an inverse that misses by a constant downwards."""

    def __init__(self, miss):
        super().__init__()
        self.factor, self.miss = nn.Parameter(torch.tensor([2.0, 2.0, 0.5]).double()), miss

    def forward(self, x):
        return self.factor * x

    def inverse(self, y):
        return y / self.factor - self.miss


def test_an_inverse_is_compared_with_the_largest_input():
    found = invertibility(Doubled(0.5), X)
    assert found.error == pytest.approx(0.5 / float(X.abs().max()))
    assert (found.inputs, found.kept, found.condition) == (3, 3, pytest.approx(4.0))
    assert found.log_det == pytest.approx(log(2)) and len(found.findings) == 1
    assert invertibility(Doubled(0.0), X).findings == ()


def test_the_share_of_changed_decisions_has_a_binomial_interval():
    found = UniversalPerturbation(torch.zeros(2), 30, 5, 100, ThreatModel(0.1, "inf", 0.0, 1.0))
    exact = binomtest(30, 100).proportion_ci(0.95, method="exact")
    assert (found.rate, found.interval.low, found.interval.high) == pytest.approx((0.3, exact.low, exact.high))


@pytest.mark.parametrize(("low", "high"), [(-0.5, 0.5), (0.5, 1.5)])
def test_inputs_outside_of_the_bounds_are_refused(low, high):
    net, x = nn.Linear(2, 2), torch.tensor([[low, high]])
    with pytest.raises(InputError):
        attack(net, (x, torch.tensor([0])), eps=0.1, bounds=(0, 1), method=APGD(steps=1))
    assert attack(net, (x, torch.tensor([0])), eps=0.1, bounds=(-0.5, 1.5), method=APGD(steps=1)).sizes.shape == (1,)
    assert (APGD().steps, APGD().restarts, TargetedAPGD().steps, TargetedAPGD().targets) == (100, 1, 100, 9)


def test_every_other_class_is_a_target():
    """Class 2 is the nearer rival but cannot be reached; only the aim at class 1, the last in order, succeeds."""

    class Far(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(()))

        def forward(self, x):
            a = self.w * x[:, 0]
            return torch.stack([0 * a + 1.0, 20 * (a - 0.5) - 0.9, 0 * a + 0.95], 1)

    found = attack(Far(), (torch.tensor([[0.5]]), torch.tensor([0])), eps=0.2, bounds=(0, 1), method=TargetedAPGD(20))
    assert bool(found.fooled.all())


def test_pairs_of_outputs_have_the_bound_of_their_difference():
    """relu(a x) through two outputs: |b_i - b_j| |a|; without a last matrix sqrt 2 times the whole."""
    first, last = nn.Linear(2, 2, bias=False).double(), nn.Linear(2, 3, bias=False).double()
    net = nn.Sequential(first, nn.ReLU(), last)
    a, b = first.weight.detach().numpy(), last.weight.detach().numpy()
    found = pair_bounds(net, torch.zeros(1, 2)).numpy()
    norm = np.linalg.norm(a, 2)
    for i in range(3):
        for j in range(3):
            assert found[i, j] <= np.linalg.norm(b[i] - b[j]) * norm * (1 + 1e-9)
    plain = pair_bounds(nn.Sequential(first, nn.ReLU()), torch.zeros(1, 2)).numpy()
    assert plain == pytest.approx(sqrt(2) * norm * (1 - np.eye(2)))


def test_the_search_for_a_steep_point_follows_its_own_draws():
    """relu(3 x - 6): the slope is 3 beyond 2 and zero before; the search leaves the inputs and finds it."""

    class Ramp(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(1, 1).double()
            self.layer.weight.data.fill_(3.0), self.layer.bias.data.fill_(-6.0)
            self.relu = nn.ReLU()

        def forward(self, x):
            return self.relu(self.layer(x))

    found = lipschitz_bounds(Ramp(), torch.tensor([[0.0], [1.0], [3.0]]).double())
    assert found.lower == pytest.approx(3.0)
    near = torch.tensor([[1.0], [1.5]]).double()  # a standard deviation of 0.35: the first steps have twice that size
    assert lipschitz_bounds(Ramp(), near).lower == pytest.approx(3.0)
    assert inspect.signature(lipschitz_bounds).parameters["search"].default == 30


def test_an_inverse_of_zeros_has_no_error():
    class Double(nn.Linear):
        def inverse(self, z):
            return z / 2

    net = Double(2, 2, bias=False).double()
    with torch.no_grad():
        net.weight.copy_(2 * torch.eye(2))
    assert invertibility(net, torch.zeros(3, 2).double()).error == 0.0


def test_the_largest_difference_of_several_outputs_counts():
    found = supremum_distance(lambda x: torch.cat([0 * x, 3 * x], 1), lambda x: 0 * x, [(-1.0, 2.0)], points=7)
    assert found.low == 6.0 and found.place == (2.0,)
