"""A kernel matrix whose entries are inner products of features has no negative eigenvalue.

For any vector v,

    v^T K v = sum_ij v_i <f(x_i), f(x_j)> v_j = |sum_i v_i f(x_i)|^2 >= 0                                (1)

f(x_i) are the features of point i and K is the matrix of their inner products. The Gaussian kernel and both kernels of
infinitely wide networks (NNGP and NTK) are such inner products. Reference: [aronszajn1950theory].
"""

import numpy as np
from torch import nn

from gnomon import data
from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, bounded_by


def inputs(n, seed):
    """Returns images of digits, flattened to vectors."""
    return data.digits(n, 0, seed=seed).x.flatten(1).double()


def predicted(n):
    """Returns 0, the lower bound of the eigenvalues, minus the rounding error of eigenvalues relative to the trace."""
    return -n * np.finfo(float).eps


def smallest(k):
    """Returns the smallest eigenvalue of a matrix divided by its trace."""
    return np.linalg.eigvalsh(k)[0] / np.trace(k)


def distances(x):
    """Returns the squared distances between all rows of x."""
    gram = (x @ x.T).numpy()
    return gram.diagonal()[:, None] + gram.diagonal() - 2 * gram


def observed(n, seed):
    """Returns the smallest eigenvalue of four kernels: linear, Gaussian, and NNGP and NTK of a deep ReLU network."""
    x = inputs(n, seed)
    wide = limit(nn.Sequential(nn.Linear(64, 1), nn.ReLU(), nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)))
    kernels = [(x @ x.mT).numpy(), np.exp(-distances(x) / 30), wide.nngp(x).numpy(), wide.ntk(x).numpy()]
    return [smallest(k) for k in kernels]


def control(n, seed):
    """Returns the smallest eigenvalue if near points have similarity 1 and others 0, which is not an inner product."""
    d = distances(inputs(n, seed))
    return [smallest((d <= np.quantile(d, q)).astype(float)) for q in (0.1, 0.2, 0.3, 0.4)]


CLAIM = Claim(
    id="kernel-gram-psd",
    question="Why do kernel matrices have no negative eigenvalues?",
    equation=r"\lambda_{min}(K) \ge 0",
    axes=("kernel (linear, Gaussian, NNGP, NTK)", "smallest eigenvalue / trace"),
    source=Source("theorem", "aronszajn1950theory"),
    premises=(Premise("the kernel is an inner product of features"),),
    parameters={"n": 80},
    full={"n": 600},
    judge=bounded_by("below"),
    loose_because="the theorem's bound is zero, which linear kernels reach; the prediction is the rounding error.",
)
