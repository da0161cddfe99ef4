"""Three ways to write one sum: convolution by its definition, convolution in the other order, correlation.

    (f * h)[u] = sum_t f[t] h[u - t],    f * h = h * f,    sum_t f[u + t] h[t] = (f * h-)[u],  h-[t] = h[-t]  (1)

Convolutional layers compute the third, a correlation.
References: [mallat2009wavelet], Sections 2.1 and 3.3; [lecun1998gradient], Section II.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, m, seed):
    """A signal and a kernel."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=m)


def term_by_term(n, m, seed):
    """The first sum of (1), without the terms that lie outside."""
    f, h = inputs(n, m, seed)
    return [sum(f[t] * h[u - t] for t in range(max(0, u - m + 1), min(n, u + 1))) for u in range(n + m - 1)]


def by_numpy(n, m, seed):
    """numpy's convolution."""
    return np.convolve(*inputs(n, m, seed))


def by_torch(n, m, seed):
    """What torch calls a convolution, which does not flip the kernel."""
    f, h = (torch.from_numpy(x)[None, None] for x in inputs(n, m, seed))
    return functional.conv1d(f, h, padding=m - 1)[0, 0]


def shifted_copies(n, m, seed):
    """f * h as copies of h, shifted and weighted by f."""
    f, h = inputs(n, m, seed)
    out = np.zeros(n + m - 1)
    for t in range(n):
        out[t : t + m] += f[t] * h
    return out


def exchanged(n, m, seed):
    """h * f, by numpy."""
    f, h = inputs(n, m, seed)
    return np.convolve(h, f)


def correlated(n, m, seed):
    """The correlation of h with f."""
    f, h = inputs(n, m, seed)
    return np.correlate(h, f, "full")


def with_flipped_kernel(n, m, seed):
    """The convolution with the flipped kernel, where the kernel is inside the signal."""
    f, h = inputs(n, m, seed)
    return np.convolve(f, h[::-1], "valid")


def layer(n, m, seed):
    """A convolutional layer of torch."""
    f, h = (torch.from_numpy(x)[None, None] for x in inputs(n, m, seed))
    made = nn.Conv1d(1, 1, m, bias=False).double()
    made.weight.data = h
    return made(f)[0, 0].detach()


def flips_the_signal(n, m, seed):
    """The sum of f[t] h[u + t], which flips the signal instead of the kernel."""
    f, h = inputs(n, m, seed)
    return [sum(f[t] * h[u + t] for t in range(n) if 0 <= u + t < m) for u in range(-(n - m), 1)]


ROWS = (
    ("discrete-convolution", "The convolution of finite signals is a finite sum with one of them flipped",
     r"(f * h)[u] = \sum_t f[t]\, h[u - t]", Source("theorem", "mallat2009wavelet", "Section 3.3"),
     "the kernel is flipped", term_by_term, by_numpy, by_torch, ""),
    ("convolution-commutes", "Convolution commutes", r"f * h = h * f",
     Source("theorem", "mallat2009wavelet", "Section 2.1"),
     "one of the functions is flipped: a convolution, not a correlation", shifted_copies, exchanged, correlated, ""),
    ("cross-correlation", "A convolutional layer correlates: it convolves with the flipped kernel",
     r"(f \star h)[u] = \sum_t f[u + t] h[t] = (f * \bar h)[u]", Source("theorem", "lecun1998gradient", "Section II"),
     "the kernel stays and the signal is shifted, not the other way round", with_flipped_kernel, layer,
     flips_the_signal,
     "Sometimes printed as the sum of f[t] h[u + t]; that flips f instead of h, and is the control."),
)  # fmt: skip

CLAIMS = tuple(
    Claim(
        id=name,
        title=title,
        equation=equation,
        source=source,
        premises=(Premise(premise),),
        parameters={"n": 40, "m": 7},
        full={"n": 500, "m": 50},
        judge=equals(rounding=1000),
        predicted=predicted,
        observed=observed,
        control=control,
        remark=remark,
    )
    for name, title, equation, source, premise, predicted, observed, control, remark in ROWS
)
