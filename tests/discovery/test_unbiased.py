import numpy as np
import pytest

from gnomon.discovery import TermLibrary, discover
from gnomon.discovery.forms.unbiased import noise_variance, unbiased_modulus_power, unbiased_power


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5])
def test_the_mean_over_gaussian_noise_is_the_true_power(p):
    """Gauss-Hermite quadrature, exact for these powers, beside the closed form."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    v, s = 0.7, 0.4
    mean = weights @ unbiased_power(v + s * nodes, p, s * s) / weights.sum()
    assert mean == pytest.approx(v**p, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 1), (2, 1), (1, 2), (0, 2)])
def test_the_mean_over_circular_noise_is_the_true_product(a, b):
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    v, s = 0.6 - 0.5j, 0.3  # each part has the variance s^2, so that E |e|^2 = 2 s^2
    noise = s * (nodes[:, None] + 1j * nodes)
    both = np.outer(weights, weights) / weights.sum() ** 2
    mean = (both * unbiased_modulus_power(v + noise, a, b, 2 * s * s)).sum()
    assert mean == pytest.approx(v**a * abs(v) ** (2 * b), abs=1e-12)


def test_noise_is_measured_and_clean_fields_have_none():
    x, t = np.linspace(0, 9, 120)[:, None], np.linspace(0, 2, 80)
    u = np.sin(x - t) + 0.5 * np.cos(3 * x + t)
    draw = np.random.default_rng(0)
    noisy, both = u + 0.2 * draw.standard_normal(u.shape), draw.standard_normal((2, *u.shape))
    assert noise_variance(u) == 0.0 and noise_variance(noisy) == pytest.approx(0.04, rel=0.05)
    assert noise_variance(np.exp(1j * u) + 0.1 * (both[0] + 1j * both[1])) == pytest.approx(0.02, rel=0.05)


def test_a_cube_of_noisy_data_brings_no_term_of_its_own(monkeypatch):
    """u_t = u - u^3 + 0.05 u_xx; E u^3 has 3 s^2 u too much, so that u alone would seem to grow by 3 s^2 = 0.05 more."""
    rng, h = np.random.default_rng(1), 0.01
    x = np.linspace(0, 20, 200, endpoint=False)
    u = 0.8 * sum(rng.normal() / k**0.5 * np.cos(2 * np.pi * k * x / 20 + rng.uniform(0, 6)) for k in range(1, 9))
    decay = np.exp(-((2 * np.pi * np.fft.rfftfreq(200, x[1])) ** 2) * 0.05 * h / 2)
    rows = []
    for _ in range(200):
        rows.append(u)
        for _ in range(2):  # Strang's splitting, both parts exact
            u = np.fft.irfft(decay * np.fft.rfft(u), 200)
            u = u / np.sqrt(u**2 + (1 - u**2) * np.exp(-2 * h))
            u = np.fft.irfft(decay * np.fft.rfft(u), 200)
    field = np.stack(rows, 1)
    noisy = field + 0.2 * field.std() * rng.standard_normal(field.shape)
    added = 3 * (0.2 * field.std()) ** 2
    apart = []
    for measured in (noise_variance, lambda u: 0.0):
        monkeypatch.setattr("gnomon.discovery.forms.weak.noise_variance", measured)
        (found,) = discover(noisy, x[1], 2 * h, library=TermLibrary(degree=3, order=2)).equations
        assert set(found.terms) == {"u", "u^3", "u_xx"}
        apart.append(found.coefficient("u") + found.coefficient("u^3"))
    assert added > 0.045 and abs(apart[0]) < added / 4 and abs(apart[1] - added) < added / 4


@pytest.mark.parametrize("complex_numbers", [False, True])
def test_the_variance_is_the_smallest_mean_square_of_scaled_differences(complex_numbers):
    """Orders 2 to 8 along each axis, as far as an axis of 7 points has more than twice as many."""
    rng = np.random.default_rng(0)
    u = np.linspace(0, 40, 30)[:, None] ** 2 / 100 + rng.standard_normal((30, 7))
    u = u + 0.5j * rng.standard_normal((30, 7)) if complex_numbers else u
    found = []
    binomials = {2: 6, 3: 20, 4: 70, 5: 252, 6: 924, 7: 3432, 8: 12870}  # sums of squares of the weights
    for axis, orders in ((0, range(2, 9)), (1, (2, 3))):
        for k in orders:
            found.append(np.mean(np.abs(np.diff(u, k, axis=axis)) ** 2) / binomials[k])
    assert noise_variance(u) == pytest.approx(min(found), rel=1e-12)


def test_noise_below_a_thousandth_of_the_spread_is_left():
    x = np.linspace(0, 6, 3000)
    for share, seen in ((0.9e-3, False), (1.1e-3, True)):
        u = np.sin(x) + share * np.std(np.sin(x)) * np.random.default_rng(0).standard_normal(3000)
        assert (noise_variance(u) > 0) == seen
    assert noise_variance(np.arange(4.0)) == 0.0
