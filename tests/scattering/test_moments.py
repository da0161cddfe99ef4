import numpy as np
import pytest
import torch

from gnomon.scattering import WaveletTransform, invert_scattering, scattering_moments, synthesize_like
from gnomon.scattering.signals import Scattering1d


@pytest.mark.parametrize("shape", [37, (11, 13), (8, 8), 2])
def test_wavelets_are_undone_exactly_for_any_size(shape):
    transform = WaveletTransform(1 if shape == 2 else 2, shape)
    x = torch.randn(3, *transform.shape, dtype=torch.float64)
    y = transform(x)
    assert torch.allclose(y.abs().square().flatten(1).sum(1), x.square().flatten(1).sum(1), rtol=1e-12)
    assert torch.allclose(transform.inverse(y), x, atol=1e-12)


def test_moments_are_means_of_moduli_with_errors_that_hold():
    transform, rng = WaveletTransform(3, 64), np.random.default_rng(0)
    x = rng.normal(size=(40, 64))
    found, spectra = scattering_moments(transform, x), transform.spectra.numpy()[1:]
    through = np.abs(np.fft.ifft(np.fft.fft(x)[:, None] * spectra))
    assert np.allclose(found.first.numpy(), through.mean((0, 2)), rtol=1e-12)
    assert np.allclose(found.first_error.numpy(), through.mean(2).std(0, ddof=1) / 40**0.5, rtol=1e-12)
    a, b = found.pairs[-1]
    second = np.abs(np.fft.ifft(np.fft.fft(through[:, a]) * spectra[b]))
    assert np.allclose(float(found.second[-1]), second.mean(), rtol=1e-12)
    exact = np.sqrt(np.pi / 4 * (spectra**2).mean(1))  # of white noise behind a filter of one side, nearly Rayleigh
    gap = np.abs(found.first.numpy() - exact)[:2]
    assert np.all(gap < 5 * found.first_error.numpy()[:2] + 0.02 * exact[:2])


def test_signals_with_given_coefficients_and_moments():
    transform = Scattering1d(1, 24, Q=1)
    x = torch.linspace(-1, 1, 24, dtype=torch.float64).sin()
    found = invert_scattering(transform, transform(x), iterations=40)
    gap = (transform(found.signal) - transform(x)).norm() / transform(x).norm()
    assert abs(float(gap) - found.error) < 1e-12 and found.error < 0.05
    waves = WaveletTransform(3, 32)
    made = synthesize_like(waves, torch.randn(32, dtype=torch.float64), iterations=20)
    assert made.error < 0.1 * made.errors[0]
