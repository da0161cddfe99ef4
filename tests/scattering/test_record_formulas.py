"""Numbers that instruments of scattering report, computed again from transforms and filters."""

import numpy as np
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.scattering import (
    Scattering1d,
    WaveletTransform,
    energy_by_order,
    filter_report,
    frequency_coverage,
    invert_scattering,
    roto_translation_scattering,
    scattering_moments,
)
from gnomon.scattering.gabor import GaborFit
from gnomon.scattering.report import _spectra


def test_energy_of_each_order_is_summed_over_its_paths():
    transform, x = Scattering1d(J=3, shape=64, Q=2), torch.randn(2, 64).double()
    values = transform(x).numpy()
    orders = np.array([path.order for path in transform.paths()])
    energy = (values**2).sum((0, 2))
    wanted = [energy[orders == m].sum() / energy.sum() for m in range(3)]
    assert_allclose(energy_by_order(transform, x).shares, wanted, rtol=1e-6)


def test_moments_their_errors_and_their_share_of_the_energy():
    transform, x = WaveletTransform(3, 64), torch.randn(5, 64).double()
    found = scattering_moments(transform, x)
    rows = []
    for one in x:
        u = transform(one[None])[0, 1:].abs()
        row = [float(one.mean()), *u.mean(1).tolist()]
        for a, b in found.pairs:
            row.append(float(transform(u[a][None])[0, 1 + b].abs().mean()))
        rows.append(row)
    rows, count = np.array(rows), 1 + len(found.first)
    assert_allclose([found.mean, *found.first, *found.second], rows.mean(0), rtol=1e-6)
    errors = rows.std(0, ddof=1) / 5**0.5
    assert_allclose([*found.first_error, *found.second_error], errors[1:], rtol=1e-6)
    assert count + len(found.pairs) == rows.shape[1]
    assert_allclose(found.share, (rows.mean(0) ** 2).sum() / float(x.square().mean()), rtol=1e-6)
    alone = scattering_moments(transform, x[0])  # one signal: errors from eight pieces
    u = transform(x[:1])[0, 1:].abs().numpy()
    pieces = np.stack([part.mean(1) for part in np.array_split(u, 8, axis=1)])
    assert_allclose(alone.first_error, pieces.std(0, ddof=1) / 8**0.5, rtol=1e-6)


def test_reports_of_wavelets_and_convolutions():
    transform = Scattering1d(J=3, shape=64, Q=2)
    waves, average = _spectra(transform)
    found, n = filter_report(transform), waves.shape[1]
    mirror = waves[:, (-np.arange(n)) % n]
    kept = average**2 + (waves**2 + mirror**2).sum(0) / 2
    assert_allclose(
        [found.lower, found.upper, found.redundancy], [kept.min(), kept.max(), 2 * len(waves) + 1], rtol=1e-9
    )
    sides = np.maximum(waves**2, mirror**2).sum(1) / (waves**2 + mirror**2).sum(1)
    assert_allclose([found.analyticity, found.coverage], [sides.mean(), (kept >= kept.max() / 2).mean()], rtol=1e-9)
    layer = nn.Conv1d(4, 6, 3, groups=2).double()
    told, w = filter_report(layer, size=16), layer.weight.detach().numpy()
    values = []
    for k in range(16):
        wave = np.exp(-2j * np.pi * k * np.arange(3) / 16)
        blocks = [(w[3 * g : 3 * g + 3] * wave).sum(2) for g in range(2)]
        values.append(np.concatenate([np.linalg.svd(b, compute_uv=False) ** 2 for b in blocks]))
    values = np.array(values)
    assert_allclose([told.lower, told.upper, told.redundancy], [values.min(), values.max(), 1.5], rtol=1e-9)
    assert_allclose(told.littlewood_paley, values.mean(1), rtol=1e-9)
    assert_allclose(told.coverage, (values.mean(1) >= values.mean(1).max() / 2).mean())


def test_the_cover_of_the_plane_is_a_sum_of_gaussians():
    frequency = torch.tensor([[0.0, 1.5], [1.0, 0.5], [-0.8, 0.9]]).double()
    root = torch.randn(3, 2, 2).double()
    precision = root @ root.mT + torch.eye(2).double() / 2
    fit = GaborFit(frequency, precision, *(torch.zeros(3).double() for _ in range(4)))
    found = frequency_coverage(fit, points=8)

    def total(w):
        value = 0.0
        for xi, d in zip(frequency.numpy(), precision.numpy(), strict=True):
            for sign in (1, -1):
                v = w - sign * xi
                value += np.exp(-v @ np.linalg.inv(d) @ v / 2) / np.sqrt(np.linalg.det(d))
        return value

    axis = 2 * np.pi * np.arange(8) / 8 - np.pi
    assert_allclose(found.plane, [[total(np.array([a, b])) for b in axis] for a in axis], rtol=1e-9)
    low, high = np.quantile(np.linalg.norm(frequency.numpy(), axis=1), [0.1, 0.9])
    assert_allclose(found.band, [low, high], rtol=1e-6)
    angles = np.pi * np.arange(64) / 64
    ring = [total(r * np.array([np.sin(t), np.cos(t)])) for r in np.linspace(low, high, 9) for t in angles]
    assert_allclose(found.coverage, min(ring) / max(ring), rtol=1e-5)


def test_an_inverted_signal_has_the_error_that_is_reported():
    transform, x = Scattering1d(J=2, shape=32, Q=1), torch.randn(32).double()
    goal = transform(x[None])[0]
    found = invert_scattering(transform, goal, iterations=4)
    made = transform(found.signal[None])[0]
    assert_allclose(found.error, float((made - goal).norm() / goal.norm()), rtol=1e-6)
    assert found.errors[-1] < found.errors[0] and len(found.errors) == 5


def test_means_over_rings_and_orientations():
    x = torch.rand(16, 16).double()
    found = roto_translation_scattering(x, J=2, L=4, rings=2)
    moduli = WaveletTransform(2, (16, 16), L=4)(x[None])[0, 1:].abs().numpy().reshape(2, 4, 16, 16).mean(1)
    place = np.arange(16) - 7.5
    ring = np.minimum((np.hypot(place[:, None], place) / 8 * 2).astype(int), 1)
    wanted = [f[ring == r].mean() for f in (x.numpy(), *moduli) for r in (0, 1)]
    assert_allclose(found[:6], wanted, rtol=1e-5)
