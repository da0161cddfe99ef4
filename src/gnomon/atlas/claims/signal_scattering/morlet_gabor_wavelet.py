"""A Morlet wavelet is a Gabor function minus a multiple of its window, chosen so that the mean is zero.

    psi(u) = (e^{i xi u} - kappa) e^{-|u|^2 / 2 sigma} / (2 pi sigma),    kappa = e^{-sigma |xi|^2 / 2}       (1)
    psi^(w) = e^{-sigma |w - xi|^2 / 2} - kappa e^{-sigma |w|^2 / 2},    psi^(0) = 0,    phi^(0) = 1          (2)

xi is the frequency, sigma the variance of the window, phi the window, and ^ the Fourier transform.
Reference: [bruna2013invariant].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(sigma, xi):
    """Returns the Fourier transforms of the wavelet and its window in closed form, along the wavelet's frequency."""
    w = 2 * np.pi * np.fft.fftfreq(64)
    kappa = np.exp(-sigma * xi**2 / 2)
    phi = np.exp(-sigma * w**2 / 2)
    return [np.exp(-sigma * (w - xi) ** 2 / 2) - kappa * phi, phi]


def spectra(sigma, xi, kappa):
    """Returns the Fourier transforms of the sampled wavelet and window; ``kappa`` times the window is subtracted."""
    u = np.arange(64) - 32
    x, y = np.meshgrid(u, u, indexing="ij")
    phi = np.exp(-(x**2 + y**2) / (2 * sigma)) / (2 * np.pi * sigma)
    psi = phi * (np.exp(1j * xi * x) - kappa)
    return [np.fft.fft2(np.fft.ifftshift(f))[:, 0].real for f in (psi, phi)]


def observed(sigma, xi):
    """Returns the transforms of wavelet and window, with kappa chosen so that the wavelet's mean is zero."""
    return spectra(sigma, xi, np.exp(-sigma * xi**2 / 2))


control = partial(spectra, kappa=0.0)  # Control: a plain Gabor function (kappa = 0), whose mean is not zero.

CLAIM = Claim(
    id="morlet-gabor-wavelet",
    question="How does a Morlet wavelet get mean zero?",
    equation=r"\psi \propto e^{-|u|^2 / 2 \sigma} (e^{i \xi u} - \kappa), \quad \kappa = e^{-\sigma |\xi|^2 / 2}",
    axes=("frequency (wavelet, then window)", "spectrum"),
    source=Source("definition", "bruna2013invariant"),
    premises=(
        Premise("the window is subtracted with the factor kappa"),
        Premise(
            "the spectrum has fallen below 1e-10 at the highest frequency, pi",
            lambda sigma, xi: np.exp(-sigma * (np.pi - xi) ** 2 / 2) < 1e-10,
        ),
    ),
    grid={"xi": (0.2, 0.4, 0.6, 0.8, 1.2, 1.6, 2.4)},
    parameters={"sigma": 9.0, "xi": 0.8},
    judge=equals(within=1e-10, because="the Gaussian is negligible at the border, in space and in frequency"),
)
