import pytest
import torch
from torch import nn

from gnomon import InputError
from gnomon.scattering import frequency_coverage, gabor_fit


def planted(size, seed, channels=1):
    """A layer of Gabor functions, and their frequencies and centers."""
    draw = torch.Generator().manual_seed(seed)
    angle, length = (torch.rand(4, generator=draw, dtype=torch.float64) for _ in range(2))
    xi = (0.8 + length)[:, None] * torch.stack([(3.0 * angle).cos(), (3.0 * angle).sin().abs()], 1)
    center = 2 * torch.rand(4, 2, generator=draw, dtype=torch.float64) - 1
    u = torch.stack(torch.meshgrid(*(torch.arange(size).double() - (size - 1) / 2,) * 2, indexing="ij"), -1)
    at = u - center[:, None, None]
    wave = torch.exp(-(at[..., 0] ** 2 / 8 + at[..., 1] ** 2 / 5)) * torch.cos((at * xi[:, None, None]).sum(-1) + 0.4)
    layer = nn.Conv2d(channels, 4, size, bias=False).double()
    color = torch.linspace(1, 2, channels, dtype=torch.float64)
    layer.weight.data = wave[:, None] * color[:, None, None]
    return layer, xi, center


@pytest.mark.parametrize("channels", [1, 3])
def test_planted_functions_are_found(channels):
    layer, xi, center = planted(11, 0, channels)
    before = layer.weight.clone()
    fit = gabor_fit(layer)
    assert torch.equal(layer.weight, before)
    assert bool((fit.explained > 1 - 1e-6).all())
    assert torch.allclose(fit.frequency, xi, atol=1e-3) and torch.allclose(fit.center, center, atol=1e-2)
    assert torch.allclose(fit.precision, torch.diag(torch.tensor([1 / 8, 1 / 5])).double().expand(4, 2, 2), atol=1e-3)
    assert "4 of 4 filters" in fit.verdict and len(fit.plots()) == 2


def test_noise_is_not_taken_for_a_function():
    torch.manual_seed(0)
    fit = gabor_fit(nn.Conv2d(1, 6, 11))
    assert float(fit.explained.median()) < 0.3 and "0 of 6" in fit.verdict


def test_zero_filters_and_refusals():
    layer = nn.Conv2d(1, 2, 5)
    layer.weight.data.zero_()
    assert gabor_fit(layer).explained.tolist() == [0, 0]
    with pytest.raises(InputError, match="kernels of the layer have 9 entries, and a Gabor function has 9 numbers"):
        gabor_fit(nn.Conv2d(1, 2, 3))
    with pytest.raises(InputError, match="nn.Conv2d"):
        gabor_fit(nn.Linear(2, 2))
    layer.weight.data.fill_(torch.nan)
    with pytest.raises(InputError, match="not finite"):
        gabor_fit(layer)


def test_the_sum_over_the_plane_is_that_of_sampled_functions():
    """gabor-frequency-plane-visualisation: transforms of the sampled functions of norm one, up to one constant.

    What (1) leaves out is small: the halves of a transform and its copies beyond pi meet with less than e^{-9}, and the
    windows end with e^{-225 / 14}.
    """
    u = torch.stack(torch.meshgrid(*(torch.arange(31).double() - 15,) * 2, indexing="ij"), -1)
    xi = torch.tensor([[0.0, 1.5], [1.0, 1.1], [-1.2, 0.9]]).double()
    window = torch.exp(-(u.square() / torch.tensor([[14.0, 10.0], [12.0, 12.0], [10.0, 14.0]])[:, None, None]).sum(-1))
    layer = nn.Conv2d(1, 3, 31, bias=False).double()
    sizes = torch.tensor([1.0, 3.0, 0.2])[:, None, None]
    layer.weight.data = (sizes * window * torch.cos((u * xi[:, None, None]).sum(-1) + 0.4))[:, None].double()
    cover = frequency_coverage(gabor_fit(layer), points=64)
    unit = layer.weight[:, 0] / layer.weight.flatten(1).norm(dim=1)[:, None, None]
    sampled = torch.fft.fftshift(torch.fft.fft2(unit, s=(64, 64)).abs().square().sum(0)).detach()
    apart = (cover.plane / cover.plane.max() - sampled / sampled.max()).abs().max()
    assert float(apart) < 1e-3
    assert cover.coverage < 0.01 and "gaps" in cover.verdict and len(cover.plots()) == 1


def test_what_covers_all_directions_is_said_to_and_other_things_are_refused():
    angles = torch.arange(8).double() * torch.pi / 8
    u = torch.stack(torch.meshgrid(*(torch.arange(13).double() - 6,) * 2, indexing="ij"), -1)
    xi = 1.2 * torch.stack([angles.sin(), angles.cos()], 1)
    layer = nn.Conv2d(1, 8, 13, bias=False).double()
    waves = torch.cos((u * xi[:, None, None]).sum(-1) + 0.3)
    layer.weight.data = (torch.exp(-u.square().sum(-1) / 8) * waves)[:, None]
    cover = frequency_coverage(gabor_fit(layer))
    assert cover.coverage > 0.8 and "in all directions" in cover.verdict
    assert cover.band == pytest.approx((1.2, 1.2), abs=1e-3)
    with pytest.raises(InputError, match="gabor_fit"):
        frequency_coverage(layer)
