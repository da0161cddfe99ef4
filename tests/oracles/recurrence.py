"""The kernels of an Elman network by its definition: a double loop over times, expectations by Gauss-Hermite quadrature.

Shares nothing with the package.
"""

import math

import numpy as np

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def expectation(f, a, b, c):
    """E[f(u) f(v)] for variances a, b and covariance c."""
    if a <= 0 or b <= 0:
        return sum(WEIGHTS * f(math.sqrt(max(a, 0)) * NODES)) * sum(WEIGHTS * f(math.sqrt(max(b, 0)) * NODES))
    r = max(-1.0, min(1.0, c / math.sqrt(a * b)))
    u = math.sqrt(a) * NODES[:, None]
    v = math.sqrt(b) * (r * NODES[:, None] + math.sqrt(1 - r * r) * NODES[None])
    return float(WEIGHTS @ (f(u) * f(v)) @ WEIGHTS)


def kernels(x, y, w_in, w, b2, tangent, phi, slope):
    """NNGP and NTK of phi(u_T) for two sequences (times, features); weights of variance w_in^2 / d and w^2 / n.

    ``tangent`` has the factors of the tangents of the input map, the recurrent map and the biases.
    """
    d, times = x.shape[1], len(x)
    pairs = {"xy": (x, y), "xx": (x, x), "yy": (y, y)}
    k = {name: np.zeros((times, times)) for name in pairs}
    t = np.zeros((times, times))
    for i in range(times):
        for j in range(times):
            for name, (p, q) in pairs.items():
                gram = p[i] @ q[j] / d
                k[name][i, j] = w_in**2 * gram + b2
                first, second = ("xx" if name[0] == "x" else "yy"), ("xx" if name[1] == "x" else "yy")
                moment = 0.0
                if i and j:
                    args = (k[first][i - 1, i - 1], k[second][j - 1, j - 1], k[name][i - 1, j - 1])
                    moment = expectation(phi, *args)
                    k[name][i, j] += w**2 * moment
                if name == "xy":
                    t[i, j] = tangent[0] * gram + tangent[1] * moment + tangent[2]
                    if i and j:
                        t[i, j] += w**2 * expectation(slope, *args) * t[i - 1, j - 1]
    args = (k["xx"][-1, -1], k["yy"][-1, -1], k["xy"][-1, -1])
    moment = expectation(phi, *args)
    return moment, expectation(slope, *args) * t[-1, -1]
