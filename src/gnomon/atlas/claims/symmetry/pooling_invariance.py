"""A sum of filter responses over all elements of a group does not change if the group moves the input.

    f(x) = sum_i <g_i K, x>,    f(g x) = sum_i <g^-1 g_i K, x> = f(x)                                              (1)

x is the input, K a filter, g_i are the group elements. Reference: [cohen2016group].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def features(n, seed):
    """Returns a signal, and a function that gives its rectified products with all shifts of a kernel."""
    rng = np.random.default_rng(seed)
    x, k = rng.normal(size=(2, n))
    shifts = np.stack([np.roll(k, i) for i in range(n)])
    return x, lambda z: np.maximum(shifts @ z, 0)


def predicted(n):
    """Returns 0, the change of the sum, for each shift of the input."""
    return np.zeros(n)


def observed(n, seed):
    """Returns the change of the sum over all shifts of the kernel, for each shift of the input."""
    x, layer = features(n, seed)
    return [abs(layer(np.roll(x, s)).sum() - layer(x).sum()) for s in range(n)]


def control(n, seed):
    """Returns the change of a sum over only half of the kernel's shifts, for each shift of the input."""
    x, layer = features(n, seed)
    return [abs(layer(np.roll(x, s))[: n // 2].sum() - layer(x)[: n // 2].sum()) for s in range(n)]


CLAIM = Claim(
    id="pooling-invariance",
    question="Why does pooling over all positions give invariance?",
    equation=r"\sum_i \langle g_i K, g x\rangle = \sum_i \langle g_i K, x\rangle",
    axes=("shift of the input", "change of the sum"),
    source=Source("theorem", "cohen2016group"),
    premises=(Premise("the sum runs over the whole group"),),
    parameters={"n": 24},
    full={"n": 200},
    judge=equals(within=1e-11, because="sums of n products of numbers of size 1"),
    covers=("full-averaging-constant",),
)
