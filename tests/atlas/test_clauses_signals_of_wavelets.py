"""Clauses of the scope on convolutions, wavelets and scattering: formulas and figures; the ledger names these tests."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from gnomon.atlas.claims.signal_scattering import scattering_order1_decomposition
from gnomon.data import digits
from gnomon.scattering import (
    Scattering1d,
    WaveletTransform,
    deformation_sensitivity,
    fourier_modulus,
    roto_translation_scattering,
)


def test_the_modulus_of_the_transform_is_that_of_the_sum_over_positions():
    """fourier-transform: fourier_modulus(b)[d] = |D^(-1/2) sum_p b[p] e^(-2 pi i p d / D)| of every row of a tensor."""
    x, p = torch.randn(3, 12, generator=torch.Generator().manual_seed(0)).double(), np.arange(12)
    waves = np.exp(-2j * np.pi * np.outer(p, p) / 12)
    by_sum = np.abs(x.numpy() @ waves)
    found = fourier_modulus(x).reshape(3, -1).numpy()
    scale = by_sum[0, 0] / found[0, 0]
    np.testing.assert_allclose(found * scale, by_sum[:, : found.shape[1]], atol=1e-10)
    assert scale == pytest.approx(1.0) or scale == pytest.approx(12**0.5)


def count_multiplications(x):
    """Returns the transform of x by halving, and the number of its complex multiplications by a wave."""
    n = len(x)
    if n == 1:
        return x.astype(complex), 0
    (even, a), (odd, b) = count_multiplications(x[::2]), count_multiplications(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.r_[even + turned, even - turned], a + b + n // 2


def test_the_fast_transform_takes_n_log_n_multiplications():
    """convolution-theorem: F(f * h) = F f . F h in (n / 2) log2 n multiplications a transform, n^2 for the sums."""
    rng, counts, sizes = np.random.default_rng(0), [], (64, 256, 1024, 4096)
    for n in sizes:
        f, h = rng.normal(size=(2, n))
        (a, count), (b, _) = count_multiplications(f), count_multiplications(h)
        counts.append(count)
        if n <= 256:
            by_sum = np.array([sum(f * h[(u - np.arange(n)) % n]) for u in range(n)])
            np.testing.assert_allclose(np.fft.ifft(a * b).real, by_sum, atol=1e-9)
    assert counts == [n // 2 * int(np.log2(n)) for n in sizes]
    assert 1.0 < np.polyfit(np.log(sizes), np.log(counts), 1)[0] < 1.2


def test_strided_convolutions_sum_over_their_input_channels():
    """conv-downsampling-filterbank: y[n, l'] = sum_l (x[., l] * k_(l', l))[2 n], which no product of filters replaces."""
    rng = np.random.default_rng(0)
    x, k = rng.normal(size=(2, 16)), rng.normal(size=(3, 2, 4))
    found = functional.conv1d(torch.from_numpy(x)[None], torch.from_numpy(k), stride=2)[0].numpy()
    for out in range(3):
        whole = sum(np.correlate(x[c], k[out, c], "valid") for c in range(2))
        np.testing.assert_allclose(found[out], whole[::2], atol=1e-12)
    assert np.linalg.matrix_rank(k.reshape(3, 8)) == 3 > np.linalg.matrix_rank(np.outer(k[:, 0].ravel(), k[0, 1]))


def test_a_cascade_of_short_filters_approximates_gabor_functions():
    """fast-wavelet-transform: cascade for J = 3 and four angles in the plane: Gabor wavelets to 10 % in every scale."""
    n = 64
    w = 2 * np.pi * np.fft.fftfreq(n)
    plane = np.stack(np.meshgrid(w, w, indexing="ij"), -1)
    copies = [np.array([a, b]) * 2 * np.pi for a in (-1, 0, 1) for b in (-1, 0, 1)]
    gauss = lambda v, s: np.exp(-(v**2).sum(-1) * s / 2)  # noqa: E731

    def on_grid(f, v):  # a filter with integer positions has a spectrum of period 2 pi
        v = (v + np.pi) % (2 * np.pi) - np.pi
        return sum(f(v + c) for c in copies)

    window = lambda v: on_grid(lambda z: gauss(z, 0.8), v)  # noqa: E731
    low = lambda v: on_grid(lambda z: gauss(2 * z, 0.8), v) / window(v)  # noqa: E731
    for turn in range(4):
        xi = 1.8 * np.array([np.cos(np.pi * turn / 4), np.sin(np.pi * turn / 4)])
        high = lambda v, xi=xi: on_grid(lambda z: gauss(2 * z - xi, 4.0), v) / window(v)  # noqa: E731
        cascade = window(plane)
        for j in range(3):
            made, exact = high(2**j * plane) * cascade, gauss(2 ** (j + 1) * plane - xi, 4.0)
            assert 0 < np.linalg.norm(made - exact) <= 0.1 * np.linalg.norm(exact)
            assert np.linalg.norm(high(2**j * plane) - exact) > 0.1 * np.linalg.norm(exact) or j == 0
            cascade = low(2**j * plane) * cascade


def test_the_fourier_modulus_of_a_warped_packet_has_the_published_distances():
    """fourier-modulus-instability: 0.19, 0.36, 0.69, 1.16 at w_0 = 5, 10, 20, 40 and s = 0.05; scattering stays below 0.04."""
    n = 1024
    u = (np.arange(n) - n / 2) * 16 / n
    found, stable = [], []
    scattering = Scattering1d(7, n, Q=1)
    for w0 in (5.0, 10.0, 20.0, 40.0):
        rows = np.stack([np.exp(1j * w0 * v - v**2 / 2) for v in (u, u - 0.05 * u)])
        sizes = np.abs(np.fft.fft(rows, norm="ortho"))
        found.append(np.linalg.norm(sizes[1] - sizes[0]) / np.linalg.norm(sizes[0]))
        s = scattering(torch.from_numpy(rows.real)) * scattering.gains()[:, None]
        stable.append(float((s[1] - s[0]).norm() / np.linalg.norm(rows.real[0])))
    np.testing.assert_allclose(found, [0.19, 0.36, 0.69, 1.16], atol=0.012)
    assert max(stable) <= 0.04


def test_moduli_change_by_less_than_the_phase_model_errs_but_in_the_same_order():
    """wavelet-translation-phase: the modulus changes in first order of a as the phase model errs (slope 1), and by less."""
    n = 4096
    w = 2 * np.pi * np.fft.fftfreq(n)
    psi = np.exp(-(((w - 1.0) / 0.05) ** 2) / 2)
    noise, impulse = np.random.default_rng(0).normal(size=n), np.eye(n)[n // 2]
    shares = []
    for x in (noise, impulse):
        y = np.fft.ifft(np.fft.fft(x) * psi)
        rows = []
        for a in (1, 2, 4):
            moved = np.roll(y, -a)
            rows.append([np.linalg.norm(np.abs(moved) - np.abs(y)), np.linalg.norm(moved - np.exp(1j * a) * y)])
        shares.append(np.array(rows))
    for rows in shares:
        np.testing.assert_allclose(np.polyfit(np.log([1, 2, 4]), np.log(rows), 1)[0], 1.0, atol=0.1)
        assert bool((rows[:, 0] <= rows[:, 1] * (1 + 1e-9)).all())


def test_commutators_of_wavelets_are_bounded_over_warps_and_those_of_fourier_filters_are_not():
    """wavelet-deformation-commutator: |[psi_j, L]| / |grad tau| over amplitudes and frequencies of tau: max / min <= 3."""
    n = 256
    u, w = np.arange(n), 2 * np.pi * np.fft.fftfreq(n)
    phases = np.exp(1j * np.outer(u, w)) / n
    ratios = {"wavelet": [], "fourier": []}
    for amplitude, period in ((0.5, 64), (1.0, 64), (2.0, 128)):
        tau, slope = amplitude * np.sin(2 * np.pi * u / period), 2 * np.pi * amplitude / period
        warp = np.exp(1j * np.outer(u - tau, w)) @ np.linalg.inv(np.exp(1j * np.outer(u, w)))
        for kind in ratios:
            norms = []
            for f in (0.4, 1.2):
                psi = np.exp(-((w - f) ** 2) / (2 * (f / 4 if kind == "wavelet" else 0.4 / 16) ** 2))
                matrix = phases @ (psi[:, None] * np.exp(-1j * np.outer(w, u)))
                window = np.exp(-((w - f) ** 2) / (2 * f**2))
                narrow = phases @ (window[:, None] * np.exp(-1j * np.outer(w, u)))
                norms.append(np.linalg.norm((matrix @ warp - warp @ matrix) @ narrow, 2) / slope)
            ratios[kind].append(norms)
    wavelet, fourier = np.array(ratios["wavelet"]), np.array(ratios["fourier"])
    assert wavelet.max() <= 3 * wavelet.min() and fourier.max() > 3 * fourier.min()


def test_commutators_of_all_scales_together_grow_no_faster_than_their_number():
    """wavelet-deformation-commutator: |[W_J, L]| <= C J |grad tau|: over J = 1 ... 4 scales the ratio to J does not grow."""
    n = 256
    u, w = np.arange(n), 2 * np.pi * np.fft.fftfreq(n)
    back, forth = np.exp(1j * np.outer(u, w)) / n, np.exp(-1j * np.outer(w, u))
    tau = np.sin(2 * np.pi * u / 64)
    warp = np.exp(1j * np.outer(u - tau, w)) @ forth / n
    filters = [back @ (np.exp(-((w - 1.6 / 2**j) ** 2) / (2 * (0.4 / 2**j) ** 2))[:, None] * forth) for j in range(4)]
    smooth = back @ (np.exp(-(w**2) / 2)[:, None] * forth)
    norms = [
        np.linalg.norm(np.concatenate([f @ warp - warp @ f for f in filters[:k]]) @ smooth, 2) for k in range(1, 5)
    ]
    ratios = np.array(norms) / (np.arange(1, 5) * 2 * np.pi / 64)
    assert (np.diff(norms) > 0).all() and ratios.max() <= 1.01 * ratios[0] and ratios[0] > 0.1


def test_three_parts_of_the_change_have_norms_of_its_order():
    """scattering-order1-decomposition: |change| <= sum of the norms of three parts <= 10 |change|, for a sine warp."""
    x, W, A, L = scattering_order1_decomposition.problem(64, 3, 0)
    u = np.abs(W @ x)
    parts = (np.abs(W @ L @ x) - u @ L.T) @ A.T, u @ (A @ L - L @ A).T, u @ (L @ A - A).T
    whole = np.linalg.norm(scattering_order1_decomposition.predicted(64, 3, 0))
    sizes = [np.linalg.norm(part) for part in parts]
    assert whole <= sum(sizes) <= 10 * whole and min(sizes) > 0.01 * whole


def test_coefficients_of_shifted_signals_are_shifted_coefficients_with_their_phases():
    """wavelet-translation-covariance: W L_a x = L_a W x as complex numbers, to 1e-10, and not for the reversed signal."""
    transform, x = WaveletTransform(3, 64), torch.randn(64, generator=torch.Generator().manual_seed(0)).double()
    torch.testing.assert_close(transform(x.roll(5)), transform(x).roll(5, -1), rtol=0, atol=1e-10)
    assert float((transform(x.flip(0)) - transform(x).flip(-1)).abs().max()) > 0.1


def test_the_second_order_holds_half_of_what_the_first_two_leave_on_digits():
    """scattering-transform: energy of order 2 >= 0.5 (1 - energy of orders 0 and 1) on digits; |Sx - Sy| <= |x - y|."""
    images = digits(12, 0, seed=0).x[:, 0].double()
    transform, fields, kept = WaveletTransform(2, (8, 8), L=4), images[:, None], []
    for _ in range(3):
        parts = transform(fields)
        kept.append(parts[:, :, 0].abs().square().sum((1, 2, 3)) / images.square().sum((1, 2)))
        fields = parts[:, :, 1:].abs().flatten(1, 2)
    left = 1 - kept[0] - kept[1]
    assert float((kept[2] / left).mean()) >= 0.5 and float(left.min()) > 0


def test_scattering_brings_no_two_of_a_thousand_images_further_apart():
    """scattering-nonexpansive: |S x - S y| <= |x - y| for 1000 pairs of digits and of noise, two orders."""
    split = digits(1000, 0, seed=0)
    images = torch.cat(
        [split.x[:, 0].double(), torch.randn(1000, 8, 8, generator=torch.Generator().manual_seed(0)).double()]
    )
    x, y = images[::2], images[1::2]
    transform, found, fields = WaveletTransform(2, (8, 8), L=2), 0, [x[:, None], y[:, None]]
    for _ in range(2):
        parts = [transform(field) for field in fields]
        found = found + (parts[0][:, :, 0] - parts[1][:, :, 0]).abs().square().sum((1, 2, 3))
        fields = [part[:, :, 1:].abs().flatten(1, 2) for part in parts]
    ratio = found.sqrt() / (x - y).flatten(1).norm(dim=1)
    assert len(ratio) == 1000 and float(ratio.max()) <= 1 + 1e-9 and float(ratio.min()) > 0.02


def test_roto_translation_coefficients_are_their_sums_over_places_and_angles():
    """roto-translation-scattering: S_0 = mean x, S_1 = mean |x * psi_(j, t)|, and S_2 by sums over t' with psi_k(t - t')."""
    x, j, angles = torch.rand(16, 16, generator=torch.Generator().manual_seed(0)).double(), 2, 4
    found = roto_translation_scattering(x, J=j, L=angles)
    spectra = WaveletTransform(j, (16, 16), L=angles).spectra[1:].reshape(j, angles, 16, 16)
    fields = torch.fft.ifft2(torch.fft.fft2(x) * spectra).abs()
    assert float(found[0]) == pytest.approx(float(x.mean()))
    torch.testing.assert_close(found[1 : 1 + j], fields.mean((1, 2, 3)), rtol=1e-6, atol=1e-9)
    circle = WaveletTransform((2 * angles).bit_length() - 2, 2 * angles).spectra
    rows = []
    for turn in range(angles):
        # |x * psi_(1, t')| * psi_(2, turn + t') over a whole turn: half a turn conjugates a wavelet
        seen = []
        for t in range(2 * angles):
            k = turn + t
            psi = spectra[1, k % angles]
            psi = psi if (k // angles) % 2 == 0 else psi.flip(0, 1).roll((1, 1), (0, 1))
            seen.append(torch.fft.ifft2(torch.fft.fft2(fields[0, t % angles]) * psi))
        along = torch.fft.ifft(torch.fft.fft(torch.stack(seen, -1)) * circle[:, None, None])
        rows.append(along.abs().mean((1, 2, 3)))
    torch.testing.assert_close(found[1 + j :].sort().values, torch.cat(rows).sort().values, rtol=1e-5, atol=1e-9)


def test_sensitivity_of_a_module_is_measured_as_that_of_a_function():
    """fourier-modulus-instability: deformation_sensitivity() of a network that computes the modulus grows as w_0."""

    class Modulus(nn.Module):
        def forward(self, x):
            return torch.fft.rfft(x, norm="ortho").abs()

    octaves = tuple(2.0**-k for k in (7, 6, 5, 4))
    made = deformation_sensitivity(Modulus(), 2048, frequencies=octaves, warps=(0.002,), width=128.0)
    assert made.growth == pytest.approx(1.0, abs=0.1)
