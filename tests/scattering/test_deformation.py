"""Sensitivity to deformations, computed packet by packet."""

import numpy as np
import torch
from numpy.testing import assert_allclose

from gnomon.scattering import deformation_sensitivity, fourier_modulus


def packet(t, frequency, width, warp=0.0):
    at = (1 - warp) * t
    return np.exp(-(at**2) / (2 * width**2)) * np.cos(2 * np.pi * frequency * at)


def test_sensitivity_is_the_change_per_warp_and_per_size():
    frequencies, warps, t = (0.05, 0.1, 0.3), (0.01, 0.04), np.arange(256) - 128.0
    for width in (None, 20.0):
        found = deformation_sensitivity(lambda x: 3 * x**2, 256, frequencies=frequencies, warps=warps, width=width)
        wanted = np.zeros((3, 2))
        for i, f in enumerate(frequencies):
            for j, s in enumerate(warps):
                before, after = (packet(t, f, width or 32.0, w) for w in (0.0, s))
                wanted[i, j] = np.linalg.norm(3 * after**2 - 3 * before**2) / (s * np.linalg.norm(before))
        assert_allclose(found.sensitivity, wanted, rtol=1e-9)
        assert_allclose(found.growth, np.polyfit(np.log(frequencies), np.log(wanted[:, 0]), 1)[0], rtol=1e-9)
        assert_allclose(found.spread, wanted[:, 0].max() / wanted[:, 0].min(), rtol=1e-9)


def test_the_fourier_modulus_is_that_of_the_unitary_sum():
    x = torch.randn(2, 6).double()
    waves = np.exp(-2j * np.pi * np.outer(np.arange(6), np.arange(6)) / 6) / 6**0.5
    assert_allclose(fourier_modulus(x), np.abs(x.numpy() @ waves.T), rtol=1e-12)
