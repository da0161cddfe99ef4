"""Scattering moments of random signals: wavelet moduli averaged over all positions, with standard errors."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.results import Line, Plot, Result
from gnomon.core.results.plot import Axis
from gnomon.scattering.wavelets import WaveletTransform

__all__ = ["ScatteringMoments", "moment_vector", "scattering_moments"]

BLOCK_COUNT = 8
"""Blocks of the signal whose means give the standard error, at most."""


@dataclass(frozen=True, slots=True)
class ScatteringMoments(Result):
    """Result: scattering moments (mean wavelet moduli) of a stationary random process, with standard errors.

    ``pairs`` are the numbers of the wavelets of each moment of the second order, ``share`` the part of the mean square
    of the process that the squares of the moments hold; never above 1.

    >>> one = torch.ones(1)
    >>> print(ScatteringMoments(0.0, one, one, 0.01 * one, 0.01 * one, ((0, 1),), 0.9).verdict)
    The moments up to order 2 hold 90.0% of the mean square of the process.
    """

    mean: float
    first: Tensor
    second: Tensor
    first_error: Tensor
    second_error: Tensor
    pairs: tuple[tuple[int, int], ...]
    share: float

    @property
    def verdict(self) -> str:
        """States which share of the mean square of the process the scattering moments hold."""
        return f"The moments up to order 2 hold {self.share:.1%} of the mean square of the process."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the scattering moments of both orders, in the order of their index."""
        lines = tuple(
            Line(name, torch.arange(len(m)), m) for name, m in (("order 1", self.first), ("order 2", self.second))
        )
        return (Plot("Scattering moments", lines, Axis("number of the path"), Axis("moment", log=True), self.verdict),)


@add_call_to_errors
def scattering_moments(transform: WaveletTransform, x: Any) -> ScatteringMoments:
    """Estimates the mean wavelet moduli of a stationary random process, by averages over positions and realizations.

        S[k] = E |X * psi_k|,    S[k, l] = E ||X * psi_k| * psi_l|,    psi_l slower than psi_k                 (1)
        S[k]^2 and S[k, l]^2 sum, with (E X)^2, to at most E X^2                                               (2)

    Standard errors are those over realizations; of a single one, over eight blocks of it, which is right for processes
    that forget within a block.

    Args:
        transform: the wavelets.
        x: realizations (n, *shape), or one (*shape).

    Hypotheses: a stationary process. Reference: [bruna2013invariant], Section 2.4.
    Cost: a Fourier transform for each moment.

    >>> noise = torch.randn(64, 128, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    >>> transform = WaveletTransform(4, 128)
    >>> found = scattering_moments(transform, noise)
    >>> energy = transform.spectra[1].square().mean()                    # of white noise through the first wavelet
    >>> bool((found.first[0] / (torch.pi * energy / 4) ** 0.5 - 1).abs() < 0.02)       # a Rayleigh variable's mean
    True
    """
    signals = torch.as_tensor(x)
    signals = signals[None] if signals.dim() == len(transform.shape) else signals.flatten(0, -1 - len(transform.shape))
    with torch.no_grad():
        rows = torch.cat([moment_vector(transform, part, blocks=len(signals) == 1) for part in signals.split(1)])
    rows = rows.double()
    means, errors = rows.mean(0), rows.std(0) / len(rows) ** 0.5
    count = 1 + len(transform.scales)
    share = float(means.square().sum() / signals.double().square().mean().clamp_min(1e-300))  # (2)
    return ScatteringMoments(
        float(means[0]), means[1:count], means[count:], errors[1:count], errors[count:], transform.pairs(), share
    )


def moment_vector(transform: WaveletTransform, x: Tensor, *, blocks: bool = False) -> Tensor:
    """Returns the mean and the scattering moments of both orders for each realization, (n, moments), differentiable.

        S[k] = mean |x * psi_k|,    S[k, l] = mean ||x * psi_k| * psi_l|                                       (1)

    With ``blocks`` each realization gives one row for each of eight blocks along its first axis.

    Hypotheses: none. Reference: [bruna2013invariant], Section 2.4.
    Cost: a Fourier transform for each moment.

    >>> moment_vector(WaveletTransform(2, 16), torch.ones(3, 16)).shape
    torch.Size([3, 7])
    """
    dims = len(transform.shape)
    moduli = transform(x)[(slice(None), slice(1, None))].abs()
    parts = [x[:, None], moduli]
    for k in range(len(transform.scales)):
        slower = [1 + b for a, b in transform.pairs() if a == k]
        if slower:
            parts.append(transform(moduli[:, k])[:, slower].abs())
    fields = torch.cat(parts, 1)  # (1)
    if not blocks:
        return fields.mean(tuple(range(-dims, 0)))
    pieces = fields.tensor_split(min(BLOCK_COUNT, transform.shape[0]), dim=-dims)
    return torch.cat([piece.mean(tuple(range(-dims, 0))) for piece in pieces])
