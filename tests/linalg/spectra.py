"""Matrices with a planted spectrum, and eigenvalues in long double by Jacobi's rotations: the tests' second road."""

import numpy as np


def planted(eigenvalues, seed=0, dtype=np.float64):
    """A symmetric matrix with these eigenvalues, in a random basis, exactly symmetric."""
    n = len(eigenvalues)
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    matrix = (basis * np.asarray(eigenvalues, dtype=float)) @ basis.T
    return ((matrix + matrix.T) / 2).astype(dtype)


def jacobi(matrix, sweeps=30):
    """Eigenvalues of a symmetric matrix by cyclic rotations in long double, ascending."""
    a = np.array(matrix, dtype=np.longdouble)
    n = len(a)
    for _ in range(sweeps):
        for p in range(n):
            for q in range(p + 1, n):
                if abs(a[p, q]) <= 1e-25 * abs(a).max():  # far under long double rounding, 1e-19
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                sign = 1 if theta >= 0 else -1
                t = sign / (abs(theta) + np.sqrt(theta * theta + 1))
                c = 1 / np.sqrt(t * t + 1)
                rotation = np.eye(n, dtype=np.longdouble)
                rotation[p, p] = rotation[q, q] = c
                rotation[p, q], rotation[q, p] = c * t, -c * t
                a = rotation.T @ a @ rotation
                a[p, q] = a[q, p] = 0
    return np.sort(np.diag(a))


def smooth_kernel(n, dtype, width=50.0, seed=0):
    """A Gaussian kernel far wider than its data: positive definite, and singular in any short float."""
    x = np.random.default_rng(seed).standard_normal((n, 2))
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    return np.exp(-squares / width).astype(dtype)
