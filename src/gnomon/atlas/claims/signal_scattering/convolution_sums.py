"""Convolution in both orders and correlation are sums of the same kind: products of two shifted signals.

    (f * h)[u] = sum_t f[t] h[u - t],    f * h = h * f,    sum_t f[u + t] h[t] = (f * h-)[u],  h-[t] = h[-t]  (1)

f is the signal and h the kernel. Convolutional layers compute the third sum, a correlation.
References: [mallat2009wavelet], Sections 2.1 and 3.3; [lecun1998gradient], Section II.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, m, seed):
    """Returns a random signal and a random kernel."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=m)


def term_by_term(n, m, seed):
    """Returns sum_t f[t] h[u - t] by loops, without terms outside the signals."""
    f, h = inputs(n, m, seed)
    return [sum(f[t] * h[u - t] for t in range(max(0, u - m + 1), min(n, u + 1))) for u in range(n + m - 1)]


def by_numpy(n, m, seed):
    """Returns the convolution f * h of signal and kernel, computed by numpy."""
    return np.convolve(*inputs(n, m, seed))


def by_torch(n, m, seed):
    """Returns torch's convolution of signal and kernel, which does not flip the kernel."""
    f, h = (torch.from_numpy(x)[None, None] for x in inputs(n, m, seed))
    return functional.conv1d(f, h, padding=m - 1)[0, 0]


def shifted_copies(n, m, seed):
    """Returns the convolution f * h as a sum of copies of h, shifted and weighted by the values of f."""
    f, h = inputs(n, m, seed)
    out = np.zeros(n + m - 1)
    for t in range(n):
        out[t : t + m] += f[t] * h
    return out


def convolve_in_other_order(n, m, seed):
    """Returns the convolution h * f in the other order, computed by numpy."""
    f, h = inputs(n, m, seed)
    return np.convolve(h, f)


def correlate(n, m, seed):
    """Returns the correlation of the kernel h with the signal f: sums of f[u + t] h[t]."""
    f, h = inputs(n, m, seed)
    return np.correlate(h, f, "full")


def with_flipped_kernel(n, m, seed):
    """Returns the convolution with the flipped kernel, at all positions inside the signal."""
    f, h = inputs(n, m, seed)
    return np.convolve(f, h[::-1], "valid")


def layer(n, m, seed):
    """Returns the output of torch's convolutional layer for the signal and the kernel."""
    f, h = (torch.from_numpy(x)[None, None] for x in inputs(n, m, seed))
    made = nn.Conv1d(1, 1, m, bias=False).double()
    made.weight.data = h
    return made(f)[0, 0].detach()


def flips_the_signal(n, m, seed):
    """Returns sums of f[t] h[u + t], which flip the signal instead of the kernel, a usual mistake."""
    f, h = inputs(n, m, seed)
    return [sum(f[t] * h[u + t] for t in range(n) if 0 <= u + t < m) for u in range(-(n - m), 1)]


ROWS = (
    ("discrete-convolution", "The convolution of finite signals is a finite sum with one of them flipped",
     "How is the convolution of two finite signals computed?",
     r"(f * h)[u] = \sum_t f[t]\, h[u - t]", Source("definition", "mallat2009wavelet", "Section 3.3"),
     "the kernel is flipped", term_by_term, by_numpy, by_torch, ""),
    ("convolution-commutes", "Convolution does not depend on the order of its two signals",
     "Does the order of the two signals in a convolution matter?", r"f * h = h * f",
     Source("theorem", "mallat2009wavelet", "Section 2.1"),
     "one of the functions is flipped: a convolution, not a correlation", shifted_copies, convolve_in_other_order,
     correlate, ""),
    ("cross-correlation", "A convolutional layer correlates: it convolves with the flipped kernel",
     "Does a convolutional layer compute a convolution?",
     r"(f \star h)[u] = \sum_t f[u + t] h[t] = (f * \bar h)[u]",
     Source("definition", "lecun1998gradient", "Section II"),
     "the kernel stays and the signal is shifted, not the other way round",
     with_flipped_kernel, layer, flips_the_signal,
     "Sometimes printed as the sum of f[t] h[u + t]; that flips f instead of h, and is the control."),
)  # fmt: skip

CLAIMS = tuple(
    Claim(
        id=name,
        title=title,
        question=question,
        axes=("position u", "sum"),
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
    for name, title, question, equation, source, premise, predicted, observed, control, remark in ROWS
)
