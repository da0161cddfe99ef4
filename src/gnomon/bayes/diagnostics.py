"""Diagnostics of Markov chains: R-hat (do chains agree?), effective sample size, and burn-in.

For chains x_c[t] of one coordinate, c = 1..m, t = 1..n, with W the mean of the variances inside the chains and
B / n the variance of their means:

    R = sqrt((W (n - 1) / n + B / n) / W)                                                              (1)
    ESS = var(x) / var(mean),    var(mean) = var(y) tau / (number of y),
    tau = -1 + 2 sum_k (rho[2 k] + rho[2 k + 1])                                                       (2)
    burn-in = argmin_t  var(x[t:]) / (n - t)                                                           (3)

R is taken of the ranks, mapped to a normal distribution, of chains cut in half; rho is the autocorrelation of all
chains, and its sum over pairs ends at the first negative pair, each pair at most the one before it. In (2) y
are the means of four draws in a row. That the sum may end at a negative pair is proven for chains whose every step has
the same reversible law. `HMC` draws paths of evenly spread lengths, one from each quarter in any four draws: draws two
apart are then correlated negatively, the sum over single draws ends before that is counted, and errors were up to 1.8
times too wide on Gaussian targets. From one four to the next the law hardly changes.

Hypotheses: chains started far apart; they are stationary after the burn-in.
Reference: [vehtari2021rank], equations 1-4 and 10-13; [geyer1992practical]; [white1997effective] for (3).
"""

from math import nan

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors

__all__ = ["burn_in", "effective_sample_size", "r_hat"]

DRAWS_PER_BLOCK = 4
"""Number of consecutive draws whose mean is one y of (2)."""
MIN_DRAWS_FOR_BLOCKS = 64
"""Minimum length of a chain at which draws are averaged in blocks."""
MIN_DRAWS_PER_CHAIN = 8
"""Minimum number of draws in a chain: fewer do not determine a variance and an autocorrelation of its halves."""


@add_call_to_errors
def r_hat(chains: Float[Tensor, "c n d"]) -> Float[Tensor, " d"]:
    """Returns the R-hat diagnostic of Markov chains for each coordinate: near 1 if all chains have the same
    distribution.

    See equation (1) of the module docstring.
    It is the larger of R of the ranks (location) and R of the ranks of distances from the median (scale). It is
    infinite if no chain ever moves but the chains differ.

    Hypotheses: at least 8 draws. Reference: [vehtari2021rank]. Cost: a sort of all draws.

    >>> still = torch.randn(4, 500, 1, generator=torch.Generator().manual_seed(0))
    >>> bool(r_hat(still) < 1.02), bool(r_hat(still + 3 * torch.arange(4.0)[:, None, None]) > 1.5)
    (True, True)
    """
    x = _check(chains)
    ordered = x.flatten(0, 1).sort(0).values
    folded = (x - (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2).abs()
    return torch.stack([_ratio(_normal_scores(_halves(v))) for v in (x, folded)]).max(0).values


@add_call_to_errors
def effective_sample_size(chains: Float[Tensor, "c n d"]) -> Float[Tensor, " d"]:
    """Returns for each coordinate the number of independent draws that would be as precise as the Markov chains.

    See equation (2) of the module docstring.
    The result is zero for a coordinate that never moves.

    Hypotheses: at least 8 draws in each chain. Reference: [geyer1992practical], [vehtari2021rank].
    Cost: a Fourier transform of each chain.

    >>> x = torch.randn(2, 4000, 1, generator=torch.Generator().manual_seed(0)).double()
    >>> for t in range(1, 4000):                              # autocorrelation 0.5^k: tau = (1 + 0.5) / (1 - 0.5) = 3
    ...     x[:, t] = 0.5 * x[:, t - 1] + 0.75**0.5 * x[:, t]
    >>> bool(abs(8000 / float(effective_sample_size(x)) - 3) < 0.6)                  # three standard errors of this tau
    True
    """
    x = _check(chains)
    block = DRAWS_PER_BLOCK if x.shape[1] >= MIN_DRAWS_FOR_BLOCKS else 1
    whole = x[:, x.shape[1] % block :].unflatten(1, (-1, block))
    spread, error = _variances(_halves(x))[0], _variances(_halves(whole.mean(2)))[1]
    return torch.where(spread > 0, spread / error.clamp(min=torch.finfo(x.dtype).tiny), torch.zeros_like(spread))  # (2)


def _variances(x: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the variance of one draw of the Markov chains, and the variance of the mean of all draws.

    See equation (2) of the module docstring.
    """
    m, n, _ = x.shape
    centered = x - x.mean(1, keepdim=True)
    spectrum = torch.fft.rfft(centered, 2 * n, dim=1).abs().square()
    covariance = torch.fft.irfft(spectrum, 2 * n, dim=1)[:, :n] / n
    within = covariance[:, 0].mean(0) * n / (n - 1)
    between = x.mean(1).var(0) if m > 1 else torch.zeros_like(within)
    total = within * (n - 1) / n + between
    rho = 1 - (within - covariance.mean(0) * n / (n - 1)) / total
    pairs = rho[: n - n % 2].unflatten(0, (-1, 2)).sum(1)
    kept = (pairs > 0).cumprod(0)
    tau = (2 * (pairs.clamp(min=0).cummin(0).values * kept).sum(0) - 1).clamp(min=1 / torch.log10(torch.tensor(m * n)))
    return total, total * tau / (m * n)


@add_call_to_errors
def burn_in(chains: Float[Tensor, "c n d"]) -> int:
    """Returns how many initial draws of the chains to discard so that the mean of the rest is most precise.

    See equation (3) of the module docstring.
    It is the largest over chains and coordinates, and half of the draws if a chain has not converged by then.

    Hypotheses: at least 8 draws. Reference: [white1997effective]. Cost: a few passes over the draws.

    >>> x = torch.randn(1, 400, 1, generator=torch.Generator().manual_seed(0))
    >>> x[:, :30] += 20 * 0.9 ** torch.arange(30.0)[:, None]
    >>> 20 <= burn_in(x) <= 60
    True
    """
    x = _check(chains)
    n = x.shape[1]
    left = torch.arange(n, 0, -1, dtype=x.dtype)[None, :, None]
    x = x - x.mean(1, keepdim=True)
    mean, square = (v.flip(1).cumsum(1).flip(1) / left for v in (x, x.square()))
    error = (square - mean.square()) / left  # (3)
    return int(error[:, : n // 2 + 1].argmin(1).max())


def _check(chains: Tensor) -> Tensor:
    if chains.dim() != 3 or chains.shape[1] < MIN_DRAWS_PER_CHAIN:
        shape = tuple(chains.shape)
        accepted = f"(chains, draws, coordinates) with {MIN_DRAWS_PER_CHAIN} draws or more"
        raise InputError(f"chains must be {accepted}, but the shape is {shape}")
    if not bool(chains.isfinite().all()):
        raise InputError("the draws are not finite. Check for points at which the log density is undefined")
    return chains.detach().double()


def _halves(x: Tensor) -> Tensor:
    half = x.shape[1] // 2
    return torch.cat([x[:, :half], x[:, -half:]])


def _normal_scores(x: Tensor) -> Tensor:
    """Returns normal quantiles of the ranks of the draws; equal draws get the mean of their ranks."""
    flat = x.flatten(0, 1)
    below = torch.searchsorted(flat.T.sort(1).values.contiguous(), flat.T.contiguous()).T
    upto = torch.searchsorted(flat.T.sort(1).values.contiguous(), flat.T.contiguous(), right=True).T
    rank = (below + upto + 1).to(x.dtype) / 2
    return torch.special.ndtri((rank - 0.375) / (len(flat) + 0.25)).reshape(x.shape)


def _ratio(x: Tensor) -> Tensor:
    n = x.shape[1]
    within, between = x.var(1).mean(0), x.mean(1).var(0)
    ratio = ((n - 1) / n + between / within).sqrt()  # (1)
    return torch.where(within > 0, ratio, torch.where(between > 0, torch.full_like(ratio, torch.inf), ratio + nan))
