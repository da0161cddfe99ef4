"""Clauses of the scope on Fourier transforms, wavelets and scattering; the ledger names these tests."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from gnomon.atlas.claims.signal_scattering import averaging_operator_bound
from gnomon.data import digits
from gnomon.scattering import (
    Scattering2d,
    WaveletTransform,
    gabor_fit,
    roto_translation_scattering,
    scattering_moments,
)

TRANSFORM = WaveletTransform(3, 256)


def test_the_unitary_transform_is_the_sum_over_positions():
    """fourier-transform: b^[d] = D^(-1/2) sum_p b[p] e^(-2 pi i p d / D), and the integral of e^(-2 pi i t u) f(t)."""
    b, p = np.random.default_rng(0).normal(size=12), np.arange(12)
    by_sum = np.array([(b * np.exp(-2j * np.pi * p * d / 12)).sum() for d in p]) / 12**0.5
    np.testing.assert_allclose(np.fft.fft(b, norm="ortho"), by_sum, atol=1e-12)
    t = np.linspace(-8, 8, 4001)
    for u in (0.0, 0.3, 1.1):  # exp(-pi t^2) is its own transform
        integral = np.trapezoid(np.exp(-2j * np.pi * t * u) * np.exp(-np.pi * t * t), t)
        assert abs(integral - np.exp(-np.pi * u * u)) < 1e-10


def test_shifts_by_f_of_t_plus_d_pass_through_convolutions():
    """convolution-shift-equivariance: f_D(t) = f(t + D); (f_D * h)(t) = (f * h)(t + D), not (t - D)."""
    rng, n, shift = np.random.default_rng(0), 11, 3
    f, h, t = rng.normal(size=n), rng.normal(size=n), np.arange(n)
    circular = lambda a, b: np.array([(a * b[(u - t) % n]).sum() for u in t])  # noqa: E731
    left, whole = circular(f[(t + shift) % n], h), circular(f, h)
    np.testing.assert_allclose(left, whole[(t + shift) % n], atol=1e-12)
    assert np.abs(left - whole[(t - shift) % n]).max() > 0.1


@pytest.mark.parametrize(("n", "m"), [(5, 3), (20, 4)])
def test_a_convolution_has_m_numbers_where_its_matrix_has_n_times_n_plus_m_minus_one(n, m):
    """conv-toeplitz-matrix: H is (n + m - 1) x n, constant along diagonals, with m different numbers other than 0."""
    h = np.random.default_rng(0).normal(size=m)
    matrix = np.stack([np.convolve(e, h) for e in np.eye(n)], 1)
    assert matrix.shape == (n + m - 1, n) and matrix.size == n * (n + m - 1)
    assert len(np.unique(matrix[matrix != 0].round(12))) == m
    np.testing.assert_array_equal(matrix[1:, 1:], matrix[:-1, :-1])


def test_the_kernel_of_eight_neighbors_sees_neither_constants_nor_ramps():
    """edge-kernel-laplacian: [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]] sums to 0; only edges answer; conv-example: 51 or 6."""
    kernel = -torch.ones(1, 1, 3, 3)
    kernel[0, 0, 1, 1] = 8.0
    rows, columns = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    assert float(kernel.sum()) == 0
    for image, answers in ((torch.ones(12, 12), 0), (2 * rows - 3 * columns + 1, 0), ((columns >= 6).float(), 2)):
        y = nn.functional.conv2d(image[None, None], kernel)[0, 0]
        assert int((y.abs() > 1e-5).any(0).sum()) == answers  # columns of the edge


def test_filters_of_the_cascade_are_those_of_the_two_scale_relation():
    """fast-wavelet-transform: phi^(w) = 2^(-1/2) h^(w/2) phi^(w/2), psi^(w) = 2^(-1/2) g^(w/2) phi^(w/2), for Haar."""
    w = np.linspace(0.1, 20.0, 50)
    box = lambda v: (1 - np.exp(-1j * v)) / (1j * v)  # noqa: E731  transform of the box on [0, 1]
    low, high = ((1 + s * np.exp(-1j * w / 2)) / 2**0.5 for s in (1, -1))
    np.testing.assert_allclose(2**-0.5 * low * box(w / 2), box(w), atol=1e-12)
    wave = box(w / 2) / 2 - np.exp(-1j * w / 2) * box(w / 2) / 2  # +1 on [0, 1/2], -1 on [1/2, 1]
    np.testing.assert_allclose(2**-0.5 * high * box(w / 2), wave, atol=1e-12)


def test_windows_of_wavelets_have_mean_one_and_the_least_product_of_spreads():
    """wavelet-definition: s_t s_w >= 1/2, Gaussians attain it; morlet: the mean of psi is 0 to 1e-10, that of phi is 1."""
    t = np.linspace(-40, 40, 2**14)

    def product(f):
        power = np.abs(f) ** 2 / (np.abs(f) ** 2).sum()
        spectrum = np.abs(np.fft.fft(f)) ** 2
        spectrum, w = spectrum / spectrum.sum(), 2 * np.pi * np.fft.fftfreq(len(t), t[1] - t[0])
        spread = lambda p, v: (p * (v - (p * v).sum()) ** 2).sum() ** 0.5  # noqa: E731
        return spread(power, t) * spread(spectrum, w)

    for xi in (0.0, 5.0):
        assert product(np.exp(-t * t / 2 + 1j * xi * t)) == pytest.approx(0.5, abs=1e-6)
    assert product(t * np.exp(-t * t / 2)) == pytest.approx(1.5, abs=1e-4)  # the next Hermite function
    kappa = np.exp(-(2.0**2) / 2)
    window = np.exp(-t * t / 2) / (2 * np.pi) ** 0.5
    mean = np.trapezoid(window * (np.exp(2j * t) - kappa), t)
    assert abs(mean) <= 1e-10 < abs(np.trapezoid(window * np.exp(2j * t), t))
    plane = np.exp(-(t[::8, None] ** 2 + t[::8] ** 2) / 2) / (2 * np.pi)  # phi in the plane, variance 1
    assert plane.sum() * (t[8] - t[0]) ** 2 == pytest.approx(1.0, abs=1e-10)


def test_gabor_functions_do_not_explain_random_filters():
    """first-layer-gabor-fit: median R^2 of fresh filters of 11 x 11 <= 0.3; a planted C e^(-u D u) cos(u xi) has 1."""
    torch.manual_seed(0)
    layer = nn.Conv2d(1, 10, 11, bias=False)
    assert float(gabor_fit(layer).explained.median()) <= 0.3
    u = torch.stack(torch.meshgrid(torch.arange(-5.0, 6), torch.arange(-5.0, 6), indexing="ij"), 2)
    d, xi = torch.tensor([[0.08, 0.02], [0.02, 0.12]]), torch.tensor([0.8, 1.1])
    layer.weight.data[0, 0] = 1.7 * torch.exp(-torch.einsum("abi,ij,abj->ab", u, d, u)) * torch.cos(u @ xi)
    assert float(gabor_fit(layer).explained[0]) > 0.95


def test_the_fourier_modulus_does_not_see_shifts_and_changes_in_proportion_to_the_frequency_under_warps():
    """fourier-modulus-instability: |x^| of a shift is the same; under t(u) = s u its change is about w_0 s."""
    n, u, changes = 4096, (np.arange(4096) - 2048.0) / 128, []
    phi = lambda x: np.abs(np.fft.fft(x, norm="ortho"))  # noqa: E731
    for w0 in (5.0, 10.0, 20.0):
        wave = lambda v: np.exp(1j * w0 * v - v * v / 2)  # noqa: E731, B023
        np.testing.assert_allclose(phi(np.roll(wave(u), 37)), phi(wave(u)), atol=1e-10)
        changes.append(np.linalg.norm(phi(wave(u * 1.02)) - phi(wave(u))) / np.linalg.norm(phi(wave(u))))
    assert np.polyfit(np.log((5, 10, 20)), np.log(changes), 1)[0] == pytest.approx(1.0, abs=0.15)
    assert len(u) == n and 0.3 < changes[1] / (10.0 * 0.02) < 1.0


def test_energies_lie_between_the_least_and_the_largest_sum_of_spectra():
    """wavelet-isometry-littlewood-paley: min LP <= |W x|^2 / |x|^2 <= max LP; 1 to 1e-6 for tight frames."""
    n = 64
    w, draw = 2 * np.pi * np.fft.fftfreq(n), np.random.default_rng(0)
    average = np.exp(-((w / 0.3) ** 2) / 2)
    waves = [np.exp(-(((w - c) / (c / 3)) ** 2) / 2) for c in (2.2, 1.1, 0.55)]
    flip = lambda f: np.roll(f[::-1], 1)  # noqa: E731
    total = average**2 + sum(f**2 + flip(f) ** 2 for f in waves) / 2
    tight, ratios = WaveletTransform(3, n), []
    for _ in range(50):
        x = draw.normal(size=n)
        parts = [np.abs(np.fft.ifft(np.fft.fft(x) * f)) ** 2 for f in (average, *waves)]
        ratios.append(sum(part.sum() for part in parts) / (x**2).sum())
        kept = tight(torch.from_numpy(x)).abs().square().sum() / (x**2).sum()
        assert float(kept) == pytest.approx(1.0, abs=1e-6)
    assert total.min() <= min(ratios) < max(ratios) <= total.max()
    for at, bound in ((total.argmin(), total.min()), (total.argmax(), total.max())):  # both ends are reached
        x = np.cos(w[at] * np.arange(n))
        parts = [np.abs(np.fft.ifft(np.fft.fft(x) * f)) ** 2 for f in (average, *waves)]
        assert sum(part.sum() for part in parts) / (x**2).sum() == pytest.approx(bound, rel=1e-9)


def test_averages_move_half_as_much_with_each_scale():
    """averaging-operator-bound: log2 of the norm of L A_J - A_J falls by 1 +- 0.1 with each J."""
    scales = np.arange(1, 5)
    norms = np.array(averaging_operator_bound.observed(scales, 0.5))
    assert np.polyfit(scales, np.log2(norms), 1)[0] == pytest.approx(-1.0, abs=0.1)
    assert abs(np.polyfit(scales, np.log2(averaging_operator_bound.control(scales, 0.5)), 1)[0]) < 0.1


def test_means_of_filtered_noise_vanish_and_means_of_moduli_do_not():
    """expectation-convolution-commute: |mean of X * psi| <= 3 standard errors, mean |X * psi| > 10 standard errors."""
    x = torch.from_numpy(np.random.default_rng(0).laplace(size=(400, 128)) + 2.0)
    y = torch.fft.ifft(torch.fft.fft(x) * WaveletTransform(3, 128).spectra[1])[:, 0]
    for values, low, high in ((y.real, 0, 3), (y.abs(), 10, np.inf)):
        assert low <= abs(float(values.mean() / (values.std() / 400**0.5))) <= high


def test_the_mean_of_many_estimates_is_the_moment_of_a_long_signal():
    """scattering-moment-estimator: the mean over 200 realizations is within 3 standard errors of a long-run value."""
    draw = torch.Generator().manual_seed(0)
    short = torch.stack(
        [scattering_moments(TRANSFORM, torch.randn(256, generator=draw).double()).second for _ in range(200)]
    )
    long = scattering_moments(WaveletTransform(3, 2**14), torch.randn(2**14, generator=draw).double())
    error = (short.var(0) / 200 + long.second_error**2) ** 0.5
    off = (short.mean(0) - long.second).abs() / error
    assert float(off.max()) <= 4.0 and float((off <= 3.0).double().mean()) >= 0.9
    assert float(((0.5 * short.mean(0) - long.second).abs() / error).min()) > 10


def test_moments_are_means_of_moduli():
    """scattering-moments: S[a] = E|X * psi_a|, S[a, b] = E||X * psi_a| * psi_b|, by Fourier transforms of all positions."""
    x = torch.randn(256, generator=torch.Generator().manual_seed(0)).double()
    found, spectra = scattering_moments(TRANSFORM, x), TRANSFORM.spectra[1:]
    moduli = lambda z, s: torch.fft.ifft(torch.fft.fft(z) * s).abs()  # noqa: E731
    first = torch.stack([moduli(x, s).mean() for s in spectra])
    second = torch.stack([moduli(moduli(x, spectra[a]), spectra[b]).mean() for a, b in found.pairs])
    torch.testing.assert_close(found.first, first)
    torch.testing.assert_close(found.second, second)


@pytest.mark.parametrize("kind", ["Gaussian", "digits"])
def test_energy_grows_with_the_order_to_95_percent(kind):
    """scattering-energy-preservation: orders 0 to 2 hold >= 0.95 of E|X|^2; each order adds to it, never above 1."""
    if kind == "digits":
        x = digits(20, 0, seed=0).x.flatten(1).double()
    else:
        x = torch.randn(20, 64, generator=torch.Generator().manual_seed(0)).double()
    transform, fields, kept = WaveletTransform(3, 64), x[:, None], [torch.zeros(len(x)).double()]
    for _ in range(4):
        parts = transform(fields)
        kept.append(kept[-1] + parts[:, :, 0].abs().square().sum((1, 2)) / x.square().sum(1))
        fields = parts[:, :, 1:].abs().flatten(1, 2)
    assert all(bool((b > a).all()) for a, b in zip(kept, kept[1:], strict=False))
    assert float(kept[1].mean()) < 0.95 <= float(kept[3].mean()) and float(kept[4].max()) <= 1 + 1e-9


@pytest.mark.parametrize("degrees", [15, 45])
def test_images_turned_by_any_angle_keep_joint_scattering_to_five_percent(degrees):
    """roto-translation-scattering: |S(turned) - S| <= 5 % of |S| for smooth images; plain scattering changes >= 20 %."""
    rows, columns = (
        torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")[k].double() - 15.5 for k in (0, 1)
    )

    def image(angle):
        a = np.radians(angle)
        u, v = rows * np.cos(a) + columns * np.sin(a), -rows * np.sin(a) + columns * np.cos(a)
        return torch.exp(-(u**2 + v**2) / 60) * torch.cos(1.1 * u)

    joint = [roto_translation_scattering(image(a), J=3, L=8) for a in (0, degrees)]
    plain = [Scattering2d(3, (32, 32), L=8)(image(a)) for a in (0, degrees)]
    change = lambda s: float((s[1] - s[0]).norm() / s[0].norm())  # noqa: E731
    assert change(joint) <= 0.05 and change(plain) >= 0.2


def test_wavelet_moduli_of_turned_images_are_turned():
    """scattering-rotation-covariance: S(g x)(u, a) = S x(g^-1 u, g^-1 a): a quarter turn adds L / 2 to the angle."""
    x = digits(1, 0, seed=0).x[0, 0].double()
    x = nn.functional.pad(x, (4, 4, 4, 4))
    field = lambda z: WaveletTransform(2, (16, 16), L=4)(z)[1:].reshape(2, 4, 16, 16).abs()  # noqa: E731
    turned = field(torch.rot90(x.roll((1, 1), (0, 1)), 1, (0, 1)))
    by_hand = torch.rot90(field(x.roll((1, 1), (0, 1))), 1, (2, 3))
    for shift in range(4):
        close = float((turned - by_hand.roll(shift, 1)).abs().max() / turned.abs().max())
        assert close < 1e-4 if shift == 2 else close > 0.05


def test_poisson_and_gaussian_rows_of_one_spectrum_are_told_apart():
    """scattering-moments: spectra differ by at most their errors, second moments by more than 5 of theirs."""
    rng = np.random.default_rng(0)
    rare = (rng.random((60, 256)) < 0.02) * rng.choice([-1.0, 1.0], (60, 256)) / 0.02**0.5
    even = rng.normal(size=(60, 256))
    power = [np.abs(np.fft.rfft(x, norm="ortho")) ** 2 for x in (rare, even)]
    assert stats.ttest_ind(*(p.mean(1) for p in power)).pvalue > 0.05
    second = [torch.stack([scattering_moments(TRANSFORM, torch.from_numpy(r)).second for r in x]) for x in (rare, even)]
    gap = (second[0].mean(0) - second[1].mean(0)).abs()
    error = ((second[0].var(0) + second[1].var(0)) / 60) ** 0.5
    assert float((gap / error).max()) >= 5
