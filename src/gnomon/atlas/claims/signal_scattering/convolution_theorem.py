"""The Fourier transform of a circular convolution is the product of the Fourier transforms.

    F(f * h) = F f . F h,    (f * h)[u] = sum_t f[t] h[u - t]  (1)

F is the Fourier transform, f and h are signals. Reference: [mallat2009wavelet], Section 3.3.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, seed):
    """Returns two random signals to convolve."""
    return torch.randn(2, n, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def predicted(n, seed):
    """Returns the circular convolution of both signals, by the product of their Fourier transforms."""
    f, h = inputs(n, seed)
    return torch.fft.ifft(torch.fft.fft(f) * torch.fft.fft(h)).real


def circular_sums(n, wrap, seed):
    """Returns the circular convolution by sums; without ``wrap``, signals are zero before their start."""
    f, h = inputs(n, seed)
    lag = torch.arange(n)[:, None] - torch.arange(n)
    inside = torch.ones_like(lag, dtype=torch.bool) if wrap else lag >= 0
    return (h[lag % n] * inside) @ f


observed = partial(circular_sums, wrap=True)  # Circular.
control = partial(circular_sums, wrap=False)  # Control: the signal is zero before its start instead of periodic.

CLAIM = Claim(
    id="convolution-theorem",
    question="Why are convolutions computed by Fourier transforms?",
    equation=r"F(f * h) = Ff \cdot Fh",
    axes=("position", "convolution"),
    source=Source("theorem", "mallat2009wavelet", "Section 3.3"),
    premises=(Premise("the convolution is circular"),),
    parameters={"n": 200},
    full={"n": 3000},
    judge=equals(rounding=1000),
)
