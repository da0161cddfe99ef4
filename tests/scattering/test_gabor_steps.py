"""The parts of the fit of Gabor functions, one by one: starts, slopes and conventions of signs."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.core import InputError
from gnomon.scattering import Scattering1d, WaveletTransform, filter_report, gabor_fit, scattering_moments
from gnomon.scattering.gabor import _near, _places, _shape, _slopes, _starts, _waves


def test_frequencies_within_four_places_on_the_circle_are_near():
    for place, side in ((1, 12), (11, 12), (6, 20)):
        found = _near(torch.tensor([place]), side)[0].tolist()
        assert found == [min((i - place) % side, (place - i) % side) <= 4 for i in range(side)]


def test_widths_are_between_two_fifths_of_a_pixel_and_twice_the_side():
    p = torch.tensor([[0.1, -0.2, -50.0, 0.5, 0.3, 1.0, 2.0], [0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0]]).double()
    center, spread, turn, xi = _shape(p, (5, 7))
    assert_allclose(spread, [[0.4, 0.4 + np.exp(0.5)], [14.0, 1.4]])
    assert_allclose(center[0], [0.1, -0.2])
    assert_allclose(xi[0], [1.0, 2.0])
    assert_allclose(turn[0], [[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]])


def test_starts_are_centers_of_energy_and_the_largest_peaks_of_the_spectrum():
    size, side = (6, 9), 36
    rows, columns = np.meshgrid(np.arange(6) - 2.5, np.arange(9) - 4.0, indexing="ij")
    window = np.exp(-((rows - 0.7) ** 2 / 4 + (columns + 1) ** 2 / 6))
    waves = [window * np.cos(1.1 * rows - 1.9 * columns + 0.4), window * np.cos(0.9 * rows + 0.5)]
    patterns = torch.from_numpy(np.stack([wave.ravel() for wave in waves]))
    found = _starts(patterns, size).numpy()
    assert found.shape == (2, 6, 7)
    for wave, starts in zip(waves, found, strict=True):
        energy = wave**2 / (wave**2).sum()
        power = np.abs(np.fft.fft2(wave, s=(side, side)))[:, : side // 2 + 1]
        power[:, 0] *= 0.999  # of the two equal peaks at w and -w in this column the first one counts
        for k in range(3):
            row, column = np.unravel_index(power.argmax(), power.shape)
            signed = row if row <= side // 2 else row - side
            xi = 2 * np.pi * np.array([signed, column]) / side
            for start, share in zip(starts[2 * k : 2 * k + 2], (0.12, 0.3), strict=True):
                assert_allclose(start[:2], [(energy * rows).sum(), (energy * columns).sum()], rtol=1e-9)
                assert_allclose(start[2:4], np.log(share * 9))
                assert_allclose(start[4], np.arctan2(xi[1], xi[0]))
                assert_allclose(start[5:], xi)
            for i in range(side):
                for j in range(side // 2 + 1):
                    far = (min(abs(i - row), side - abs(i - row)), min(abs(j - column), side - abs(j - column)))
                    power[i, j] = 0 if max(far) <= 4 else power[i, j]


def test_slopes_are_derivatives_of_the_function_outside_the_plane_of_both_waves():
    size = (6, 7)
    places = _places(size)
    p = torch.tensor([[0.3, -0.4, 0.6, 0.2, 0.7, 1.1, -0.6], [0.1, 0.2, 4.0, 0.4, -0.3, 0.5, 0.9]]).double()
    targets = torch.randn(2, 42).double()
    found = _slopes(p, targets, places, size)
    for i in range(2):
        waves = _waves(p[[i]], places, size)[0].numpy()
        amounts = np.linalg.lstsq(waves, targets[i].numpy(), rcond=None)[0]
        jacobian = torch.autograd.functional.jacobian(
            lambda q, a=amounts: _waves(q[None], places, size)[0] @ torch.from_numpy(a), p[i]
        ).numpy()
        q, _ = np.linalg.qr(waves)
        assert_allclose(found[i], jacobian - q @ (q.T @ jacobian), atol=1e-6)


@pytest.mark.parametrize("xi", [(-0.9, 0.0), (0.9, 0.0), (0.7, -1.0), (-0.7, 1.0)])
def test_waves_go_to_the_right_or_down(xi):
    u = torch.stack(torch.meshgrid(*(torch.arange(9).double() - 4,) * 2, indexing="ij"), -1)
    center = torch.tensor([0.4, -0.3]).double()
    window = torch.exp(-((u - center).square() / torch.tensor([6.0, 9.0])).sum(-1))
    layer = nn.Conv2d(1, 1, 9, bias=False).double()
    wave = torch.cos(((u - center) * torch.tensor(xi).double()).sum(-1) + 0.5)
    layer.weight.data = (1.7 * window * wave)[None, None]
    fit = gabor_fit(layer)
    sign = 1.0 if xi[1] > 1e-9 or (abs(xi[1]) < 1e-9 and fit.frequency[0, 0] * xi[0] > 0) else -1.0
    assert_allclose(fit.frequency[0], sign * np.array(xi), atol=1e-4)
    assert float(fit.frequency[0, 1]) > -1e-9
    assert_allclose([float(fit.amplitude[0]), float(fit.phase[0])], [1.7, sign * 0.5], atol=1e-3)
    assert_allclose(fit.precision[0], np.diag([1 / 6, 1 / 9]), atol=1e-4)
    assert_allclose(fit.center[0], center, atol=1e-3)
    assert float(fit.explained[0]) > 1 - 1e-8


def test_what_explains_nothing_of_several_channels_is_counted():
    torch.manual_seed(3)
    layer = nn.Conv2d(3, 2, 7).double()
    fit = gabor_fit(layer)
    places = _places((7, 7)).numpy()
    for k in range(2):
        w = layer.weight.detach().numpy()[k].reshape(3, 49)
        u, s, v = np.linalg.svd(w, full_matrices=False)
        away = places - fit.center[k].numpy()
        window = np.exp(-np.einsum("pi,ij,pj->p", away, fit.precision[k].numpy(), away))
        made = float(fit.amplitude[k]) * window * np.cos(away @ fit.frequency[k].numpy() + float(fit.phase[k]))
        v[0] *= np.sign(u[np.abs(u[:, 0]).argmax(), 0])  # the strongest channel has the sign of the function
        residual = (s**2).sum() - s[0] ** 2 + ((s[0] * v[0] - made) ** 2).sum()
        wanted = 1 - residual / ((w - w.mean()) ** 2).sum()
        assert_allclose(float(fit.explained[k]), wanted, atol=1e-6)


def test_kernels_longer_than_the_grid_are_refused_along_either_axis():
    for shape in ((3, 9), (9, 3)):
        with pytest.raises(InputError, match="size=9"):
            filter_report(nn.Conv2d(1, 1, shape), size=8)
        assert filter_report(nn.Conv2d(1, 1, shape), size=9).redundancy == 1.0
    assert filter_report(nn.Conv1d(1, 1, 3)).littlewood_paley.shape == (64,)


def test_moments_of_silence_hold_nothing():
    found = scattering_moments(WaveletTransform(2, 16), torch.zeros(3, 16))
    assert found.share == 0.0 and found.mean == 0.0 and float(found.first.abs().max()) == 0.0


def test_defaults_of_transforms():
    transform = Scattering1d(4, 64)
    assert transform.waves[0] == Scattering1d(4, 64, Q=8, oversampling=0, max_order=2).waves[0]
    assert max(path.order for path in transform.paths()) == 2
