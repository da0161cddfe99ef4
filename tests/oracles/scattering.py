"""Scattering of images and signals, slowly: every convolution in full, every subsampling by taking every k-th value."""

import numpy as np


def plane_waves(n1, n2, J, L):
    """Spectra of the wavelets {(j, t): array} and of the average, from their formulas in space."""

    def gabor(sigma, angle, xi, slant):
        total = 0
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        curvature = rotation @ np.diag([1, slant**2]) @ rotation.T / (2 * sigma**2)
        for e1 in (-2, -1, 0, 1, 2):
            for e2 in (-2, -1, 0, 1, 2):
                u = np.stack(np.mgrid[e1 * n1 : e1 * n1 + n1, e2 * n2 : e2 * n2 + n2], -1)
                phase = xi * (u @ rotation[:, 0])
                total = total + np.exp(1j * phase - np.einsum("abi,ij,abj->ab", u, curvature, u))
        return total / (2 * 3.1415 * sigma**2 / slant)

    waves = {}
    for j in range(J):
        for t in range(L):
            angle = (int(L - L / 2 - 1) - t) * np.pi / L
            wave = gabor(0.8 * 2**j, angle, 0.75 * np.pi / 2**j, 4 / L)
            window = gabor(0.8 * 2**j, angle, 0.0, 4 / L)
            waves[j, t] = np.fft.fft2(wave - wave.sum() / window.sum() * window).real
    return waves, np.fft.fft2(gabor(0.8 * 2 ** (J - 1), 0.0, 0.0, 1.0)).real


def cut(spectrum, level):
    """The lowest frequencies of a spectrum, those of a grid coarser by 2^level."""
    for axis in range(spectrum.ndim):
        n = spectrum.shape[axis]
        m = n >> level
        order = np.fft.fftfreq(n, 1 / n)
        spectrum = (
            spectrum.take(np.flatnonzero((order >= -(m // 2)) & (order < (m + 1) // 2)), axis) if level else spectrum
        )
    return spectrum


def scattering_2d(x, J, L, mode="reflect"):
    """Coefficients of one image."""
    step = 2**J
    sizes = [((n + step) // step + 1) * step for n in x.shape]
    padded = np.pad(x, [((m - n) // 2, (m - n + 1) // 2) for n, m in zip(x.shape, sizes, strict=True)], mode=mode)
    waves, average = plane_waves(*sizes, J, L)

    def through(u, spectrum, every):
        return np.fft.ifft2(np.fft.fft2(u) * spectrum)[::every, ::every]

    def last(u, level):
        return through(u, cut(average, level), 2 ** (J - level)).real[1:-1, 1:-1]

    first, second = [], []
    for (j1, _), wave in waves.items():
        u = np.abs(through(padded, wave, 2**j1))
        first.append(last(u, j1))
        for (j2, _), next_wave in waves.items():
            if j2 > j1:
                second.append(last(np.abs(through(u, cut(next_wave, j1), 2 ** (j2 - j1))), j2))
    return np.stack([last(padded, 0), *first, *second])


def scattering_1d(x, widths, waves, T, oversampling=0, mode="reflect"):
    """Coefficients of one signal, padded by ``widths``; ``waves`` are (xi, sigma, level) of both transforms."""
    padded = np.pad(x, widths, mode=mode)
    size, last = len(padded), max(int(np.log2(T)) - oversampling, 0)
    periods = (np.arange(size) + size * np.arange(-5, 6)[:, None]) / size

    def unit(spectrum):
        return spectrum / np.abs(np.fft.ifft(spectrum)).sum()

    def bell(xi, sigma):
        return np.exp(-((periods - xi) ** 2) / (2 * sigma**2)).sum(0)

    def wavelet(xi, sigma):
        return unit(bell(xi, sigma) - bell(xi, sigma)[0] / bell(0, sigma)[0] * bell(0, sigma))

    def rate(level):
        return max(min(level, int(np.log2(T))) - oversampling, 0)

    def through(u, filtering, every):
        k = size // len(u)  # what was subsampled k times sees the mean of the k places that fold onto one
        return np.fft.ifft(np.fft.fft(u) * filtering.reshape(k, -1).mean(0))[::every]

    window = unit(bell(0, 0.1 / T))
    kept = slice(-(-widths[0] // 2**last), -(-(widths[0] + len(x)) // 2**last))

    def average(u, at):
        return through(u, window, 2 ** (last - at)).real[kept]

    first, second = [], []
    for xi, sigma, level in waves[0]:
        at = rate(level)
        u = np.abs(through(padded, wavelet(xi, sigma), 2**at))
        first.append(average(u, at))
        for xi2, sigma2, level2 in waves[1]:
            if level2 > level:
                later = max(rate(level2), at)
                second.append(average(np.abs(through(u, wavelet(xi2, sigma2), 2 ** (later - at))), later))
    return np.stack([average(padded, 0), *first, *second])
