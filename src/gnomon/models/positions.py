"""Computes sinusoidal position encodings."""

import torch
from torch import Tensor

from gnomon.core.errors import add_call_to_errors

__all__ = ["sinusoidal_positions"]


@add_call_to_errors
def sinusoidal_positions(times: int, channels: int, *, base: float = 10000.0) -> Tensor:
    """Returns a table (times, channels) of sinusoidal position encodings: pairs of sine and cosine with one frequency
    each.

        p[t, 2k] = sin(w_k t),   p[t, 2k + 1] = cos(w_k t),   w_k = base^(-2k / channels)                  (1)

    A step of time is a rotation of every pair, so that p[t] . p[s] depends on t - s alone.
    Hypotheses: an even number of channels.
    Reference: [vaswani2017attention].
    Cost: computing the table.

    >>> p = sinusoidal_positions(9, 4)
    >>> torch.allclose(p[0] @ p[3], p[5] @ p[8])
    True
    """
    if channels % 2:
        channels_even = channels + 1
        return sinusoidal_positions(times, channels_even, base=base)[:, :channels]
    k = torch.arange(channels // 2, dtype=torch.float64)
    angles = torch.arange(times, dtype=torch.float64)[:, None] * base ** (-2 * k / channels)
    table = torch.stack([angles.sin(), angles.cos()], 2).flatten(1)  # (1)
    return table.to(torch.get_default_dtype())
