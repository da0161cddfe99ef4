"""Clauses of the scope on signals, scattering and symmetry that no claim measures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.signal_scattering import scattering_classification_textures, scattering_deformation_stability
from gnomon.data import digits
from gnomon.scattering import Scattering1d, Scattering2d, roto_translation_scattering
from gnomon.symmetry.finite import group_convolution, symmetric_group


def test_the_modulus_changes_less_than_the_phase_model_errs():
    """wavelet-translation-phase: | |y(u + a)| - |y(u)| | <= |y(u + a) - e^(i w a) y(u)| for y = x * psi."""
    rng, n = np.random.default_rng(0), 4096
    frequencies = 2 * np.pi * np.fft.fftfreq(n)
    y = np.fft.ifft(np.fft.fft(rng.normal(size=n)) * np.exp(-(((frequencies - 1.0) / 0.05) ** 2) / 2))
    for a in (1, 2, 4):
        moved = np.roll(y, -a)
        modulus, phase = np.abs(moved) - np.abs(y), moved - np.exp(1j * a) * y
        assert np.linalg.norm(modulus) <= np.linalg.norm(phase) < np.linalg.norm(moved - y) / 5


def test_the_constant_of_stability_varies_by_at_most_three():
    """scattering-deformation-stability: |S L x - S x| / (s |x|) of wave packets differs by at most a factor 3."""
    constants = []
    for frequency in (0.05, 0.1, 0.2, 0.3):
        (warp,), (change,) = scattering_deformation_stability.observed((0.01,), frequency)
        constants.append(float(change) / warp)
    assert max(constants) <= 3 * min(constants)


@pytest.mark.full
def test_scattering_with_a_linear_classifier_reads_digits():
    """scattering-classification-digits: accuracy >= 0.97 with J = 2, L = 8 and a linear classifier."""
    split = digits(1000, 700, seed=0)
    scattering = Scattering2d(2, (8, 8), L=8)
    f, g = (scattering(x[:, 0].double()).flatten(1) for x in (split.x, split.x_test))
    mean, std = f.mean(0), f.std(0) + 1e-6
    f, g = (f - mean) / std, (g - mean) / std
    kernel = f @ f.T / f.shape[1]
    weights = torch.linalg.solve(kernel + 1e-3 * torch.eye(len(f)), torch.eye(10)[split.y].double())
    assert float(((g @ (f.T @ weights)).argmax(1) == split.y_test).double().mean()) >= 0.97


@pytest.mark.full
def test_turned_textures_are_told_apart_in_nine_of_ten_cases():
    """scattering-classification-textures: accuracy of scattering over places and angles >= 0.9."""
    found = scattering_classification_textures.accuracies(60, 3, 0, False)
    assert np.mean(found["scattering"]) >= 0.9 and np.mean(found["spectrum"]) <= 0.7


def test_group_convolution_in_two_ways_and_in_both_orders():
    """group-convolution-definition: sum_v f(u v^-1) h(v) = sum_v f(v) h(v^-1 u), and f * h != h * f on S_3."""
    group = symmetric_group(3)
    f, h = torch.randn(2, 6, generator=torch.Generator().manual_seed(0)).double()
    product, inverse = group.table, group.inverse
    second = torch.stack([sum(f[v] * h[product[inverse[v], u]] for v in range(6)) for u in range(6)])
    torch.testing.assert_close(group_convolution(f, h, group), second)
    assert float((group_convolution(f, h, group) - group_convolution(h, f, group)).abs().max()) > 0.1


@pytest.mark.full
def test_filters_trained_on_shifted_images_have_narrower_spectra():
    """learned-weights-reflect-symmetry: the participation ratio of filter spectra falls by >= 20 % with shifts."""
    ratios = []
    for shifted in (False, True):
        split = digits(300, 10, seed=0)
        torch.manual_seed(0)
        net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
        optimizer = torch.optim.Adam(net.parameters(), 1e-2, weight_decay=1e-3)
        for _ in range(200):
            shifts = torch.randint(-2, 3, (len(split.x), 2)).tolist() if shifted else [[0, 0]] * len(split.x)
            x = torch.stack([image.roll(shift, (1, 2)) for image, shift in zip(split.x, shifts, strict=True)])
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), split.y).backward()
            optimizer.step()
        power = torch.fft.fft2(net[1].weight.detach().reshape(-1, 8, 8)).abs().square().flatten(1)
        ratios.append(float((power.sum(1) ** 2 / power.square().sum(1)).mean()))
    assert ratios[1] <= 0.8 * ratios[0]


def test_shifts_change_scattering_in_proportion_to_the_shift_over_two_to_the_j():
    """scattering-deformation-stability: |S L_a x - S x| = C 2^-J |a| |x| for shifts by a, with one C for all J."""
    t = np.arange(4096) - 2048
    x, constants = np.exp(-((t / 300) ** 2) / 2) * np.cos(0.6 * np.pi * t), []
    for scales in (5, 6, 7, 8):
        scattering = Scattering1d(scales, 4096, Q=1)
        rows = torch.from_numpy(np.stack([np.roll(x, a) for a in (0, 1, 2, 4)]))
        f = (scattering(rows) * scattering.gains()[:, None]).flatten(1)
        change = (f[1:] - f[0]).norm(dim=1).numpy() / np.linalg.norm(x)
        assert change[1:] / change[:-1] == pytest.approx([2, 2], rel=0.05)
        constants.append(change[0] * 2**scales)
    assert max(constants) < 2 * min(constants) and max(constants) < 0.04


def test_a_texture_twice_as_large_moves_its_coefficients_by_one_scale():
    """scattering-classification-textures: S_1[j + 1] of x(u / 2) = S_1[j] of x(u): scale is a shift along j."""
    u, v = np.meshgrid(np.arange(32), np.arange(32), indexing="ij")
    first = []
    for wave in ((6, 0), (3, 0)):
        image = torch.from_numpy(np.cos(2 * np.pi * (wave[0] * u + wave[1] * v) / 32))
        first.append(roto_translation_scattering(image, J=4, L=4)[1:5])
    for fine, coarse in zip(first, first[1:], strict=False):
        assert coarse[1:4].numpy() == pytest.approx(fine[:3].numpy(), rel=0.05, abs=1e-3)
        assert float((coarse - fine).abs().max()) > 0.05  # without the shift they differ
