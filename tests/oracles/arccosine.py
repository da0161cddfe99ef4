"""Kernels of fully connected ReLU networks and what follows from them, by dense formulas of numpy.

Layer l of the recursion has K = w^2 E[relu relu] + b^2 and T = K + w^2 E[relu' relu'] T, with Cho and Saul's angles; T of
the first `fixed` layers is zero. Smoothers are written as matrices and inverted. Shares nothing with the package.
"""

import numpy as np
from scipy.linalg import expm


def kernels(x, z=None, *, depth, w=2**0.5, b=1.0, fixed=0):
    """NNGP and NTK between rows of x and z."""
    z = x if z is None else z
    d = x.shape[1]
    k = w**2 * x @ z.T / d + b**2
    kx, kz = w**2 * (x**2).sum(1) / d + b**2, w**2 * (z**2).sum(1) / d + b**2
    t = np.zeros_like(k) if fixed > 0 else k.copy()
    for layer in range(1, depth + 1):
        size = np.sqrt(np.outer(kx, kz))
        angle = np.arccos(np.clip(k / size, -1, 1))
        k = w**2 * size * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / (2 * np.pi) + b**2
        kx, kz = w**2 * kx / 2 + b**2, w**2 * kz / 2 + b**2
        t = t * w**2 * (np.pi - angle) / (2 * np.pi) + (0 if layer < fixed else k)
    return k, t


def standardized(x, *others, weights=None):
    """Columns of x at mean 0 and deviation 1, and other tables by the same numbers."""
    mean = np.average(x, axis=0, weights=weights)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weights))
    return [(a - mean) / scale for a in (x, *others)]


def ridge_map(gram, cross, ridge):
    """The matrix from targets to predictions, with the ridge in units of the mean diagonal."""
    return cross @ np.linalg.inv(gram + ridge * np.diag(gram).mean() * np.eye(len(gram)))


def flow_map(gram, cross, t):
    """The matrix from targets to predictions of gradient flow until t, by the exponential of a matrix."""
    n = len(gram)
    return cross @ np.linalg.solve(gram, np.eye(n) - expm(-gram * t / n))


def spread(smoother, prior, prior_cross, prior_test):
    """Variance at test points over functions f - A f(X) with f ~ N(0, prior)."""
    joint = np.block([[prior_test, prior_cross], [prior_cross.T, prior]])
    linear = np.hstack([np.eye(len(prior_test)), -smoother])
    return np.diag(linear @ joint @ linear.T)
