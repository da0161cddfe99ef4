import numpy as np
import pytest
import torch
from torch import nn

from gnomon import NotFiniteError
from gnomon.scattering import (
    Scattering1d,
    Scattering2d,
    deformation_sensitivity,
    energy_by_order,
    filter_report,
    fourier_modulus,
    roto_translation_scattering,
)

OCTAVES = [0.25 * 2.0**-k for k in range(6)]


def test_sensitivity_to_deformations_is_flat_for_scattering_and_linear_for_the_fourier_modulus():
    scattering = Scattering1d(10, 8192, Q=1)

    def stable(x):
        return scattering(x) * scattering.gains()[:, None]

    settings = {"frequencies": OCTAVES, "warps": (0.002,), "width": 256.0}
    flat = deformation_sensitivity(stable, 8192, **settings)
    steep = deformation_sensitivity(fourier_modulus, 8192, **settings)
    assert flat.spread < 1.5 and abs(flat.growth) < 0.1  # five octaves
    assert 0.9 < steep.growth < 1.1
    assert "are stable" in flat.verdict and "are unstable" in steep.verdict and len(flat.plots()) == 1


def test_frame_bounds_of_a_convolution_are_singular_values_of_its_matrix():
    layer = nn.Conv2d(2, 3, 3, padding=1, padding_mode="circular", bias=False).double()
    units = torch.eye(2 * 25, dtype=torch.float64).reshape(-1, 2, 5, 5)
    values = torch.linalg.svdvals(layer(units).flatten(1))
    found = filter_report(layer, size=5)
    assert abs(found.upper**0.5 - values[0]) < 1e-10 and abs(found.lower**0.5 - values[-1]) < 1e-10


def test_energy_of_wavelet_transforms_is_between_the_frame_bounds():
    from gnomon.scattering.report import _spectra

    for scattering in (Scattering2d(2, (16, 16), 8), Scattering1d(4, 128, Q=4)):
        found = filter_report(scattering)
        waves, average = _spectra(scattering)
        x = np.random.default_rng(0).normal(size=average.shape)
        axes = tuple(range(-average.ndim, 0))
        through = np.fft.ifftn(np.fft.fftn(x) * np.concatenate([waves, average[None]]), axes=axes)
        ratio = (np.abs(through) ** 2).sum() / (x**2).sum()
        assert found.lower <= ratio <= found.upper
        assert found.upper < 1.01 and 0.5 < found.analyticity <= 1


def test_energy_by_order_sums_to_one():
    shares = energy_by_order(Scattering2d(2, (16, 16)), torch.rand(3, 16, 16)).shares
    assert abs(sum(shares) - 1) < 1e-12 and shares[0] > shares[1] > shares[2] > 0


def test_rings_share_out_the_means_over_an_image_and_do_not_see_quarter_turns():
    x = torch.randn(2, 16, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    whole = roto_translation_scattering(x, J=2, L=4)
    rings = roto_translation_scattering(x, J=2, L=4, rings=3)
    turned = roto_translation_scattering(x.rot90(1, (1, 2)), J=2, L=4, rings=3)
    assert (rings - turned).abs().max() < 1e-6 * rings.abs().max()  # the filters are summed over five periods
    place = np.arange(16) - 7.5
    radius = np.hypot(place[:, None], place)
    shares = [np.mean(radius < 8 / 3), np.mean((radius >= 8 / 3) & (radius < 16 / 3)), np.mean(radius >= 16 / 3)]
    mean = rings.unflatten(1, (-1, 3)) @ torch.tensor(shares)
    assert torch.allclose(mean, whole, rtol=1e-12, atol=1e-14)
    assert roto_translation_scattering(x[:0], J=2, L=4, rings=3).shape == (0, *rings.shape[1:])
    with pytest.raises(NotFiniteError, match=r"roto_translation_scattering\(x\): example 1"):
        roto_translation_scattering(torch.stack([x[0], x[1] / 0]), J=2, L=4)
