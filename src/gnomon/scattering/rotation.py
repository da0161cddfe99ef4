"""Scattering over positions and angles together: image features that do not change under shifts and rotations."""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs, check_integer, check_real
from gnomon.scattering.images import check_shape
from gnomon.scattering.wavelets import WaveletTransform

__all__ = ["roto_translation_scattering"]


@add_call_to_errors
def roto_translation_scattering(x: Any, *, J: int, L: int = 8, rings: int = 1) -> Tensor:
    """Computes image features that do not change under shifts and rotations but keep relative angles.

        Y1_j(u, t) = |x * psi_{j, t}(u)|,    S_0 = mean x,    S_1[j] = mean Y1_j                               (1)
        Y2(u, t) = |sum_{t'} (Y1_{j1}(., t') * psi_{j2, t2 + t'})(u) psi_k(t - t')|,    S_2 = mean Y2           (2)

    with means over places u and angles t. S_2 is for scales j1 < j2, relative angles t2 and wavelets psi_k over the
    circle of angles and their average; wavelets of the other sign would give the same means, since half a turn
    conjugates what they see. With several rings the means are over the places of each, so that coefficients say how far
    from the center something is: for objects in the middle of the image, which turn and do not move.

    Args:
        x: images (..., height, width), taken as periodic; at least 2^J pixels along each side.
        J: scales.
        L: angles over half a turn.
        rings: of equal width around the center, the last with the corners; 1 for the whole image.

    Returns the coefficients (..., rings (1 + J + J (J - 1) / 2 . L . K)), K the filters over angles, rings last.

    Hypotheses: exact for shifts (one ring), and for quarter turns of square images with an even L; other rotations to
    the accuracy of the pixels. Reference: [sifre2013rotation].
    Cost: J (J - 1) / 2 . L^2 Fourier transforms of an image, and as many times 2 K small ones over angles.

    >>> x = torch.randn(16, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    >>> s = roto_translation_scattering(x, J=2, L=4)
    >>> bool((s - roto_translation_scattering(x.rot90().roll(3, 1), J=2, L=4)).abs().max() < 1e-6 * s.abs().max())
    True
    """
    L = check_integer("L", L, least=2)
    images = check_real(as_numbers(x, "x"), "x")
    transform = WaveletTransform(J, check_shape(tuple(images.shape[-2:]), 2, check_integer("J", J)), L=L)
    circle = _angular(L)
    means = _means(transform.shape, check_integer("rings", rings))
    flat = images.reshape(-1, *transform.shape)
    check_finite_inputs(flat.detach())
    # An empty batch runs one zero image, to find the number of coefficients.
    some = flat if len(flat) else flat.new_zeros(1, *transform.shape)
    rows = torch.stack([_one(image, transform, circle, means) for image in some])[: len(flat)]
    return rows.reshape(*images.shape[:-2], rows.shape[1])


def _angular(L: int) -> Tensor:
    """Returns Fourier transforms of wavelets and of an average that act along 2 L rotation angles instead of
    positions.
    """
    return WaveletTransform((2 * L).bit_length() - 2, 2 * L).spectra


def _means(shape: tuple[int, ...], rings: int) -> Tensor:
    """Returns the matrix (positions, rings) that averages an image over concentric rings."""
    rows, columns = (torch.arange(n, dtype=torch.float64) - (n - 1) / 2 for n in shape)
    radius = (rows[:, None].square() + columns.square()).sqrt() / (min(shape) / 2)
    inside = nn.functional.one_hot((radius * rings).long().clamp(max=rings - 1).flatten(), rings).double()
    return inside / inside.sum(0).clamp(min=1)


def _one(image: Tensor, transform: WaveletTransform, circle: Tensor, means: Tensor) -> Tensor:
    """Returns the scattering coefficients over positions and angles of one image."""
    L = transform.L
    moduli = transform(image)[1:].abs().unflatten(0, (transform.J, L))  # Y1
    means = means.to(moduli)
    found = [image.to(moduli.dtype).flatten() @ means, (moduli.mean(1).flatten(1) @ means).flatten()]  # (1)
    places = torch.arange(L)[:, None] + torch.arange(L)  # t' + t2
    circle = circle.to(moduli.dtype)[:, :, None, None, None]
    for first in range(transform.J):
        spectra = torch.fft.fft2(moduli[first])[:, None]
        for second in range(first + 1, transform.J):
            waves = transform.spectra[1 + second * L : 1 + (second + 1) * L].to(moduli.dtype)
            z = torch.fft.ifft2(spectra * waves[places % L])  # shape: (first angle, second angle, height, width)
            # A wavelet rotated by 180 degrees gives the complex conjugate of the output.
            z = torch.where((places >= L)[..., None, None], z.conj(), z)
            whole = torch.fft.fft(torch.cat([z, z.conj()]), dim=0)
            # shape: (angular filters, first angle, second angle, height, width)
            y = torch.fft.ifft(whole * circle, dim=1).abs()
            found.append((y.mean(1).flatten(-2) @ means).flatten())
    return torch.cat(found)
