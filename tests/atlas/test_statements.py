"""Statements that a function of the package covers, each against its formula by another road; the ledger names them."""

from math import log, sqrt

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from torch import nn
from torch.distributions import Normal, kl_divergence

import gnomon
from gnomon.atlas import catalog
from gnomon.attribution import grad_cam
from gnomon.attribution.maps import cam_overlap
from gnomon.attribution.probes import intrinsic_dimension, layer_probe
from gnomon.bounds import certify, generalization_bounds, layer_norms, output_margins
from gnomon.bounds.output_margins import spectral_complexity
from gnomon.bounds.pacbayes.certifying import DELTA_SHARE_FOR_DRAWS
from gnomon.data import digits


@pytest.fixture(scope="module")
def trained():
    """A classifier of three classes without errors, its weights as arrays, its start, and its data."""
    torch.manual_seed(0)
    start = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))
    x = torch.randn(60, 3)
    y = x[:, :3].argmax(1)
    net = gnomon.train(start, (x, y), steps=300, optimizer=gnomon.training.Adam(0.02)).model
    arrays = [[layer.weight.detach().double().numpy() for layer in part[::2]] for part in (net, start)]
    return net, start, x, y, *arrays


def test_margin_bounds_by_their_norms(trained):
    """Complexities C; a bound is sqrt(C max |x|^2 / n).

    margin-bound-l1inf: C = (1 / g^2) prod_i |A_i|_{1,inf}^2, with the largest sum of absolute values of a row.
    margin-bound-frobenius: C = (1 / g^2) prod_i |A_i|_F^2.
    margin-bound-spec-l12: C = (1 / g^2) prod_i |A_i|_2^2 sum_i |A_i|_{1,2}^2 / |A_i|_2^2.
    margin-bound-spec-fro: C = (1 / g^2) prod_i |A_i|_2^2 sum_i h_i |A_i|_F^2 / |A_i|_2^2.
    """
    net, _, x, y, weights, _ = trained
    found = generalization_bounds(net, (x, y))
    outputs = net(x).detach().double().numpy()
    own = outputs[np.arange(60), y]
    outputs[np.arange(60), y] = -np.inf
    scale = float(x.double().norm(dim=1).max()) / np.quantile(own - outputs.max(1), 0.1) / sqrt(60)
    rows = [np.abs(a).sum(1) for a in weights]
    top = [np.linalg.svd(a)[1][0] for a in weights]
    squares = [(a**2).sum() for a in weights]
    wanted = {
        "rows": np.prod([r.max() for r in rows]),
        "frobenius": np.prod(np.sqrt(squares)),
        "spectral-1": np.prod(top) * sqrt(sum((r**2).sum() / s**2 for r, s in zip(rows, top, strict=True))),
        "spectral-F": np.prod(top)
        * sqrt(sum(len(a) * f / s**2 for a, f, s in zip(weights, squares, top, strict=True))),
    }
    for name, value in wanted.items():
        assert found[name].value == pytest.approx(scale * value, rel=1e-5), name  # outputs are float32


def test_margins_over_the_spectral_complexity(trained):
    """Statements of Bartlett, Foster and Telgarsky.

    spectral-complexity: R_A = (prod_i |A_i|_2) (sum_i (|A_i - M_i|_{2,1} / |A_i|_2)^(2/3))^(3/2), rows summed.
    normalised-margin-spectral: (f_y - max_{i != y} f_i) / (R_A |X|_F / n).
    """
    net, start, x, y, weights, before = trained
    top = [np.linalg.svd(a)[1][0] for a in weights]
    moved = [np.sqrt(((a - m) ** 2).sum(1)).sum() for a, m in zip(weights, before, strict=True)]
    size = np.prod(top) * sum((d / s) ** (2 / 3) for d, s in zip(moved, top, strict=True)) ** 1.5
    assert spectral_complexity(layer_norms(net, start)) == pytest.approx(size, rel=1e-6)
    outputs = net(x).detach().double().numpy()
    by_hand = [f[c] - max(f[i] for i in range(3) if i != c) for f, c in zip(outputs, y.tolist(), strict=True)]
    found = output_margins(net, (x, y), start=start).normalized.numpy()
    whole = np.sqrt((x.double().numpy() ** 2).sum())
    assert np.allclose(found, np.array(by_hand) / (size * whole / 60), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 6])
def test_the_dimension_of_a_manifold(dimension):
    """data-manifold-hypothesis: d = (N - 1) / sum_i log(r_i2 / r_i1), the true dimension within 15 % in R^50."""
    rng = np.random.default_rng(dimension)
    angles = rng.uniform(0, 2 * np.pi, (800, dimension))  # a product of circles: no border
    flat = (
        np.concatenate([np.cos(angles), np.sin(angles)], 1)
        @ np.linalg.qr(rng.normal(size=(50, 50)))[0][: 2 * dimension]
    )
    apart = np.sort(cdist(flat, flat), 1)
    by_hand = (len(flat) - 1) / np.log(apart[:, 2] / apart[:, 1]).sum()
    found = intrinsic_dimension(torch.from_numpy(flat))
    assert found == pytest.approx(by_hand, rel=1e-6) and abs(found - dimension) < 0.15 * dimension


def test_maps_of_two_models_by_their_cosine():
    """domain-shift-attention-maps: overlap = <a, b> / (|a| |b|) for the Grad-CAM maps a, b of an image."""
    torch.manual_seed(0)
    nets = [nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(144, 3)) for _ in range(2)]
    x = torch.rand(5, 1, 6, 6)
    a, b = (grad_cam(net, x, 1).values.flatten(1).double().numpy() for net in nets)
    by_hand = (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))
    found = cam_overlap(*nets, x, 1)
    assert np.allclose(found, by_hand, atol=1e-6) and float(found.max()) < 0.999


def test_a_certificate_is_learned_and_keeps_its_inequality():
    """pac-bayes-learning: kl(r | R) <= (KL + ln(2 sqrt(n) / delta)) / n, minimized over means and deviations."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(600, 3, generator=g)
    y = (x[:, 0] > 0).long()
    first, found = (certify(nn.Linear(3, 2), (x, y), epochs=k, draws=200) for k in (0, 4))
    law, n, delta = found.posterior, found.counted, (1 - DELTA_SHARE_FOR_DRAWS) * 0.05
    divergence = sum(
        float(kl_divergence(Normal(m.double(), law.stds[k].double()),
                            Normal(law.prior_means[k].double(), law.prior_stds[k])).sum())
        for k, m in law.means.items()
    )  # fmt: skip
    budget = (divergence + log(2 * sqrt(n) / delta)) / n
    risk = float(found.others[0].value) - sqrt(budget / 2)  # McAllester's form of the same risk
    bound = found.stochastic.value
    assert risk * log(risk / bound) + (1 - risk) * log((1 - risk) / (1 - bound)) == pytest.approx(budget, rel=1e-6)
    assert float(found.stochastic.factors[0].value) <= risk and bound < first.stochastic.value


def test_the_dimension_falls_in_the_last_layers_of_a_trained_network():
    """data-manifold-hypothesis: dimension (last hidden layer) < dimension (input) after training on digits."""
    torch.manual_seed(0)
    split = digits(600, 0, seed=0)
    x = split.x.flatten(1)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    trained = gnomon.train(net, (x, split.y), steps=150, optimizer=gnomon.training.Adam(0.01)).model
    dimensions = {probe.name: probe.dimension for probe in layer_probe(trained, (x, split.y)).layers}
    assert dimensions["3"] < 0.85 * dimensions["input"]
    assert dimensions["input"] > dimensions["1"] > dimensions["3"]  # from the first layer on, without a rise


def test_the_best_degree_of_a_polynomial_is_neither_the_least_nor_the_largest():
    """bias-variance-classical: argmin over degrees of bias^2 + variance is interior, 3 <= degree <= 5."""
    degrees = tuple(range(10))
    errors = catalog()["bias-variance-classical"].claim.predicted(n=20, degrees=degrees)
    assert 3 <= int(np.argmin(errors)) <= 5


def test_random_labels_make_weights_larger():
    """spectral-complexity: R_A (random labels) >= 1.5 R_A (true labels), after training to no errors."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn(60, 4, generator=g)
    found = []
    for y in ((x[:, 0] > 0).long(), torch.randint(2, (60,), generator=g)):
        torch.manual_seed(0)
        start = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
        net = gnomon.train(start, (x, y), steps=300, optimizer=gnomon.training.Adam(0.02)).model
        found.append(spectral_complexity(layer_norms(net, start)))
    assert found[1] >= 1.5 * found[0]
