"""Clauses of the scope on interpretability that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from scipy.integrate import dblquad
from scipy.stats import spearmanr
from torch import nn

import gnomon
from gnomon.atlas.claims.generalization.ood_failure import rotate_images
from gnomon.atlas.claims.interpretability import representation_inversion
from gnomon.attribution import cam, compare_unit_purity, layer_probe, visualize_unit
from gnomon.attribution.information import discrete_information
from gnomon.attribution.orbits import orbit_curvature
from gnomon.data import digits


@pytest.fixture(scope="module")
def split():
    return digits(800, 600, seed=0)


@pytest.fixture(scope="module")
def dense(split):
    """A dense network trained on digits."""
    torch.manual_seed(0)
    widths = ((64, 64), (64, 64), (64, 32))
    parts = (part for a, b in widths for part in (nn.Linear(a, b), nn.ReLU()))
    net = nn.Sequential(nn.Flatten(), *parts, nn.Linear(32, 10))
    return gnomon.train(net, (split.x, split.y), steps=300, batch=100, optimizer=gnomon.training.Adam(3e-3)).model


@pytest.mark.full
def test_the_best_input_of_a_digit_class_is_classified_as_it(dense):
    """feature-visualisation: softmax at the input that maximizes the logit of class c gives p_c > 0.99."""
    for c in range(10):
        best = visualize_unit(dense, "7", c, shape=(1, 8, 8), l2_weight=0.01).image
        with torch.no_grad():
            assert float(dense(best.reshape(1, 1, 8, 8)).softmax(1)[0, c]) > 0.99


@pytest.mark.full
def test_random_directions_of_a_digit_network_are_no_less_pure_than_its_units(dense, split):
    """unit-direction-semantics: |purity(random) - purity(units)| <= 0.1 in the middle layer, both >= 0.2 above chance."""
    found, last = (compare_unit_purity(dense, layer, (split.x_test, split.y_test)) for layer in ("4", "6"))
    assert abs(found.random - found.units) <= 0.1 and min(found.units, found.random) >= found.chance + 0.2
    assert last.random >= last.units - 0.1 and min(last.units, last.random) >= last.chance + 0.2


@pytest.mark.full
def test_the_class_activation_map_points_at_the_object():
    """class-activation-mapping: the largest value of the map lies in the box of the object in >= 90 % of images."""
    draw = torch.Generator().manual_seed(0)
    shapes = torch.stack([torch.eye(4), torch.eye(4).flip(0), torch.ones(4, 4)])

    def scenes(count):
        x, y = 0.1 * torch.randn(count, 1, 16, 16, generator=draw), torch.randint(3, (count,), generator=draw)
        corners = torch.randint(13, (count, 2), generator=draw)
        for image, c, (i, j) in zip(x, y.tolist(), corners.tolist(), strict=True):
            image[0, i : i + 4, j : j + 4] += shapes[c]
        return x, y, corners

    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 3))  # fmt: skip
    net = gnomon.train(net, scenes(400)[:2], steps=300, batch=100, optimizer=gnomon.training.Adam(1e-2)).model
    x, y, corners = scenes(200)
    places = cam(net, x, y).values.flatten(1).argmax(1)
    peak = torch.stack([places // 16, places % 16], 1)
    inside = ((peak >= corners) & (peak < corners + 4)).all(1)
    assert float(inside.float().mean()) >= 0.9


@pytest.mark.full
def test_classes_contract_from_layer_to_layer(dense, split):
    """progressive-linear-separability: spread within over between classes falls from each relu layer to the next."""
    probes = {probe.name: probe for probe in layer_probe(dense, (split.x_test, split.y_test)).layers}
    found = [probes[name].contraction for name in ("input", "2", "4", "6")]
    assert all(b < a for a, b in zip(found, found[1:], strict=False)) and probes["6"].linear > probes["input"].linear


@pytest.mark.full
def test_orbits_of_digits_are_flatter_in_deeper_layers(dense, split):
    """manifold-flattening: the variance of rotated digits in two directions rises with depth, rank correlation >= 0.8."""
    images = split.x_test[:40, 0].double().numpy()
    orbits = torch.stack([torch.from_numpy(rotate_images(images, a)) for a in range(-30, 31, 5)], 1).float()
    found = orbit_curvature(dense, orbits[:, :, None])
    assert spearmanr(range(len(found.layers)), found.linearity).statistic >= 0.8


def test_an_image_comes_back_from_rotated_pixels_with_40_decibels():
    """representation-inversion: PSNR >= 40 dB at each of three invertible layers."""
    assert min(float(v.min()) for v in representation_inversion.control(100, 2, 0).values()) >= 40


def test_information_of_gaussians_by_bins_by_the_integral_and_by_entropies():
    """mutual-information: int p log(p / (p_x p_y)) = H(X) - H(X | Y) = -log(1 - rho^2) / 2; bins come within 5 %."""
    rho, entropy = 0.8, lambda p: -float((p[p > 0] * np.log(p[p > 0])).sum())
    exact = -np.log(1 - rho**2) / 2

    def density(x, y):
        p = np.exp(-(x**2 - 2 * rho * x * y + y**2) / (2 * (1 - rho**2))) / (2 * np.pi * (1 - rho**2) ** 0.5)
        return p * np.log(p / (np.exp(-(x**2 + y**2) / 2) / (2 * np.pi)))

    assert dblquad(density, -7, 7, -7, 7, epsabs=1e-4)[0] == pytest.approx(exact, rel=1e-3)
    x, e = np.random.default_rng(0).normal(size=(2, 100_000))
    table = np.histogram2d(x, rho * x + (1 - rho**2) ** 0.5 * e, bins=30)[0] / len(x)
    binned, of_y = discrete_information(table), table.sum(0)
    conditional = sum(p * entropy(column / p) for p, column in zip(of_y, table.T, strict=True) if p > 0)
    assert binned == pytest.approx(exact, rel=0.05)
    assert binned == pytest.approx(entropy(table.sum(1)) - conditional, rel=1e-9)
