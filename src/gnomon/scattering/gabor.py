"""Fits Gabor functions (a plane wave times a Gaussian window) to the filters of a convolution."""

from dataclasses import dataclass
from math import log, pi
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_type
from gnomon.core.results import Line, Plot, Result, Scatter
from gnomon.core.results.plot import Axis

__all__ = ["GaborFit", "gabor_fit"]

PARAMETER_COUNT = 9
"""Parameters of a Gabor function (1); kernels need at least twice as many entries."""
FIT_STEPS = 60
"""Steps of the fit."""
MIN_EXPLAINED_VARIANCE = 0.7
"""Share of the variance at which a filter is called a Gabor function."""


@dataclass(frozen=True, slots=True)
class GaborFit(Result):
    """Result: the Gabor function (wave times Gaussian window) fitted to each filter, with one entry per filter per
    field.

    ``frequency`` is xi in radians per pixel, rows first; ``precision`` the matrix D in 1 / pixels^2, ``center`` the
    place in pixels from the middle of the kernel, ``amplitude`` and ``phase`` describe the wave; ``explained`` the
    share of the filter's variance that the function explains, R^2.

    >>> fit = GaborFit(torch.ones(1, 2), torch.eye(2)[None], torch.zeros(1, 2), torch.ones(1), torch.zeros(1),
    ...                torch.tensor([0.9]))
    >>> print(fit.verdict)
    1 of 1 filters are Gabor functions (R^2 of at least 0.7); the median R^2 is 0.90.
    """

    frequency: Tensor
    precision: Tensor
    center: Tensor
    amplitude: Tensor
    phase: Tensor
    explained: Tensor

    @property
    def verdict(self) -> str:
        """States how many filters of the layer a Gabor function explains."""
        good = int((self.explained >= MIN_EXPLAINED_VARIANCE).sum())
        median = float(self.explained.median())
        return (
            f"{good} of {len(self.explained)} filters are Gabor functions (R^2 of at least {MIN_EXPLAINED_VARIANCE}); "
            f"the median R^2 is {median:.2f}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the frequencies of the fitted Gabor functions, and how well they fit."""
        good = self.explained >= MIN_EXPLAINED_VARIANCE
        groups = [(f"R^2 of at least {MIN_EXPLAINED_VARIANCE}", good), ("others", ~good)]
        points = tuple(
            Scatter(name, self.frequency[mask, 1], self.frequency[mask, 0]) for name, mask in groups if bool(mask.any())
        )
        plane = Plot(
            "Frequencies of the filters", points, Axis("across, radians per pixel"), Axis("down"), self.verdict
        )
        order = self.explained.sort(descending=True).values
        ranked = Line("R^2", torch.arange(1, len(order) + 1), order)
        return plane, Plot("Fit of Gabor functions", (ranked,), Axis("filters, best first"), Axis("R^2"), self.verdict)


@add_call_to_errors
def gabor_fit(layer: nn.Conv2d) -> GaborFit:
    """Fits a Gabor function to each filter of a convolution, and measures how well the functions fit.

        w(u) ~ A e^{-(u - c)^T D (u - c)} cos(xi . (u - c) + p),    least squares over A, p, c, D, xi            (1)
        R^2 = 1 - |w - fit|^2 / |w - mean w|^2                                                                (2)

    Learned first layers look at pixels, whose places are known, and often end as such localized waves: so do cells of
    the visual cortex, and the wavelets of scattering. Nine numbers also fit noise a little: about 9 / k^2 of the
    variance of random k x k kernels is explained by chance, and more for small k; compare with a fresh layer.

    Filters of several input channels are first split into a spatial pattern times one vector over channels, their
    leading singular pair; what that leaves out counts as not explained.

    Args:
        layer: an ``nn.Conv2d`` with kernels of at least 18 entries; it is not changed.

    Hypotheses: none; the least squares are local, from several starts, so R^2 is a lower bound of the best one.
    Reference: [olshausen1996emergence].
    Cost: 60 Levenberg-Marquardt steps for all filters and starts at once; about a second for 64 kernels of 11 x 11.

    >>> u = torch.arange(9.0) - 4
    >>> layer = nn.Conv2d(1, 1, 9, bias=False)
    >>> wave = torch.exp(-(u[:, None] ** 2 + u**2) / 8) * torch.cos(1.2 * u + 0.3)
    >>> layer.weight.data = wave[None, None].clone()
    >>> fit = gabor_fit(layer)
    >>> bool(fit.explained[0] > 0.9999), bool((fit.frequency[0].abs() - torch.tensor([0.0, 1.2])).abs().max() < 1e-3)
    (True, True)
    """
    check_type("layer", layer, nn.Conv2d, fix="Pass an nn.Conv2d, such as the first of your model")
    weight = layer.weight.detach().cpu().double()
    if weight[0, 0].numel() < 2 * PARAMETER_COUNT:
        found = (
            f"the kernels of the layer have {weight[0, 0].numel()} entries, and a Gabor function has "
            f"{PARAMETER_COUNT} numbers"
        )
        wanted = f"kernels of at least {2 * PARAMETER_COUNT} entries"
        raise InputError(found, accepted=wanted, fix="Pass a layer with larger kernels")
    if not bool(weight.isfinite().all()):
        fix = "Pass the layer as it was before training diverged"
        raise InputError("the weights are not finite", accepted="finite weights", fix=fix)
    patterns = _patterns(weight)
    places = _places(weight.shape[2:])
    starts = _starts(patterns, weight.shape[2:])  # (filters, starts, 7)
    count = starts.shape[1]
    targets = patterns.repeat_interleave(count, 0)
    ends = _levenberg_marquardt(starts.flatten(0, 1), targets, places, tuple(weight.shape[2:]))
    losses = _residual(ends, targets, places, tuple(weight.shape[2:])).square().sum(1).unflatten(0, (-1, count))
    best = ends.unflatten(0, (-1, count))[torch.arange(len(weight)), losses.argmin(1)]
    # Energy of the filters that one spatial pattern, shared by all channels, cannot represent.
    missed = weight.square().sum((1, 2, 3)) - patterns.square().sum(1)
    return _record(best, patterns, weight, places, losses.amin(1) + missed)


def _record(best: Tensor, patterns: Tensor, weight: Tensor, places: Tensor, residual: Tensor) -> GaborFit:
    """Returns the fitted Gabor functions as a `GaborFit`; by convention all waves travel to the right."""
    size = tuple(weight.shape[2:])
    total = (weight - weight.mean((1, 2, 3), keepdim=True)).square().sum((1, 2, 3))
    explained = (1 - residual / total.clamp(min=1e-300)).where(total > 0, 0.0)  # (2)
    # The two numbers of each wave are (A cos p, -A sin p), for amplitude A and phase p.
    amounts = _amounts(_waves(best, places, size), patterns)
    amplitude, phase = amounts.norm(dim=1), torch.atan2(-amounts[:, 1], amounts[:, 0])
    center, spread, turn, xi = _shape(best, size)
    root = turn / spread[..., None]
    left = (xi[:, 1] < 0) | ((xi[:, 1] == 0) & (xi[:, 0] < 0))
    sign = torch.where(left, -1.0, 1.0)
    return GaborFit(xi * sign[:, None], root.mT @ root / 2, center, amplitude, phase * sign, explained)


def _patterns(weight: Tensor) -> Tensor:
    """Returns the main spatial pattern of each filter: the first singular vector over positions, times the singular
    value.

    The result has the shape (filters, entries).
    """
    channels, values, vectors = torch.linalg.svd(weight.flatten(2), full_matrices=False)
    shares = channels[:, :, 0]
    sign = shares.gather(1, shares.abs().argmax(1, keepdim=True)).sign()
    return sign * values[:, :1] * vectors[:, 0]


def _places(size: Any) -> Tensor:
    rows, columns = (torch.arange(n, dtype=torch.float64) - (n - 1) / 2 for n in size)
    return torch.stack(torch.meshgrid(rows, columns, indexing="ij"), -1).flatten(0, 1)


def _starts(patterns: Tensor, size: Any) -> Tensor:
    """Returns starting points for fitting Gabor functions: the energy center and three spectral peaks, two window
    sizes.
    """
    planes = patterns.unflatten(1, tuple(size))
    energy = patterns.square() / patterns.square().sum(1, keepdim=True).clamp(min=1e-300)
    center = energy @ _places(size)
    side = 4 * max(size)
    power = torch.fft.rfft2(planes, s=(side, side)).abs()
    power[:, :, 0] *= 0.999  # Makes one of two equal peaks lower, so that the choice does not depend on rounding.
    found = []
    for _ in range(3):
        peak = power.flatten(1).argmax(1)
        row, column = peak // power.shape[2], peak % power.shape[2]
        xi = 2 * pi * torch.stack([torch.where(row > side // 2, row - side, row), column], 1).double() / side
        for share in (0.12, 0.3):
            spread = torch.full((len(patterns), 3), log(share * max(size)), dtype=torch.float64)
            spread[:, 2] = torch.atan2(xi[:, 1], xi[:, 0])
            found.append(torch.cat([center, spread, xi], 1))
        near = _near(row, side)[:, :, None] & _near(column, side)[:, None, : power.shape[2]]
        power = power.where(~near, 0.0)
    return torch.stack(found, 1)


def _near(place: Tensor, side: int) -> Tensor:
    """Returns a mask of the frequency indices (periodic, ``side`` of them) within 4 of a given index."""
    gap = (torch.arange(side) - place[:, None]).abs()
    return torch.minimum(gap, side - gap) <= 4


def _shape(p: Tensor, size: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Converts the free parameters of a Gabor fit to centers, widths, directions and frequencies."""
    spread = (0.4 + p[:, 2:4].exp()).clamp(max=2.0 * max(size))
    c, s = p[:, 4].cos(), p[:, 4].sin()
    turn = torch.stack([torch.stack([c, s], 1), torch.stack([-s, c], 1)], 1)
    return p[:, :2], spread, turn, p[:, 5:]


def _waves(p: Tensor, places: Tensor, size: tuple[int, ...]) -> Tensor:
    """Returns the cosine and the sine wave of each Gabor function, times its window, (count, entries, 2)."""
    center, spread, turn, xi = _shape(p, size)
    u = places - center[:, None]
    window = torch.exp(-(u @ turn.mT / spread[:, None]).square().sum(2) / 2)
    angle = (u * xi[:, None]).sum(2)
    return window[..., None] * torch.stack([angle.cos(), angle.sin()], 2)


def _amounts(waves: Tensor, targets: Tensor) -> Tensor:
    """Returns the least-squares coefficients of each filter pattern on its cosine and sine waves, (count, 2)."""
    gram = waves.mT @ waves
    ridge = 1e-9 * gram.diagonal(dim1=1, dim2=2).sum(1) + 1e-300
    normal = gram + ridge[:, None, None] * torch.eye(2, dtype=waves.dtype)
    return torch.linalg.solve(normal, waves.mT @ targets[..., None])[..., 0]


def _residual(p: Tensor, targets: Tensor, places: Tensor, size: tuple[int, ...]) -> Tensor:
    """Returns the residual of each filter pattern after the best fit of amplitude and phase of its Gabor function."""
    waves = _waves(p, places, size)
    return targets - (waves @ _amounts(waves, targets)[..., None])[..., 0]


def _slopes(p: Tensor, targets: Tensor, places: Tensor, size: tuple[int, ...]) -> Tensor:
    """Returns derivatives of the Gabor functions with respect to their parameters, for the least-squares fit."""
    center, spread, turn, xi = _shape(p, size)
    waves = _waves(p, places, size)
    amounts = _amounts(waves, targets)
    value = (waves @ amounts[..., None])[..., 0]
    # Derivative of the wave with respect to its phase.
    other = (waves @ torch.stack([amounts[:, 1], -amounts[:, 0]], 1)[..., None])[..., 0]
    u = places - center[:, None]
    q = u @ turn.mT / spread[:, None]
    wide = (p[:, 2:4].exp() / spread).where(spread < 2.0 * max(size), 0.0)
    ratio = spread[:, 1] / spread[:, 0]
    by_center = value[..., None] * ((q / spread[:, None]) @ turn) - other[..., None] * xi[:, None]
    by_width = value[..., None] * q.square() * wide[:, None]
    by_angle = value * q[..., 0] * q[..., 1] * (1 / ratio - ratio)[:, None]
    slopes = torch.cat([by_center, by_width, by_angle[..., None], other[..., None] * u], 2)
    basis = torch.linalg.qr(waves + 1e-12 * waves.abs().amax((1, 2), keepdim=True).clamp(min=1e-150))[0]
    return slopes - basis @ (basis.mT @ slopes)


def _levenberg_marquardt(p: Tensor, targets: Tensor, places: Tensor, size: tuple[int, ...]) -> Tensor:
    """Fits all Gabor functions at once by Levenberg-Marquardt steps; rejects steps that raise the error."""
    damping, reach = torch.full((len(p),), 1e-2, dtype=p.dtype), 0.75 * max(size)
    loss = _residual(p, targets, places, size).square().sum(1)
    for _ in range(FIT_STEPS):
        left, slopes = _residual(p, targets, places, size), _slopes(p, targets, places, size)
        normal = slopes.mT @ slopes
        scale = normal.diagonal(dim1=1, dim2=2)
        scale = scale + 1e-9 * scale.sum(1, keepdim=True) + 1e-300
        step = torch.linalg.solve(normal + torch.diag_embed(damping[:, None] * scale), slopes.mT @ left[..., None])
        tried = p + step[..., 0].clamp(-1, 1)
        tried[:, :2] = tried[:, :2].clamp(-reach, reach)
        after = _residual(tried, targets, places, size).square().sum(1)
        better = after < loss
        p, loss = torch.where(better[:, None], tried, p), torch.where(better, after, loss)
        damping = torch.where(better, damping * 0.3, damping * 4).clamp(1e-9, 1e9)
    return p
