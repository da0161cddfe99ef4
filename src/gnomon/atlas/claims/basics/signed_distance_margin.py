"""The largest margin of a linear classifier is 1 / |w| for the shortest weights w that give all points scores >= 1.

The margin of unit weights u is g(u) = min_i y_i <u, x_i>. For g(u) > 0 the weights w = u / g(u) score y_i <w, x_i> >= 1
and have norm 1 / g(u); conversely w with y_i <w, x_i> >= 1 gives g(w / |w|) >= 1 / |w|. Hence

    max_u g(u) = 1 / min { |w| : y_i <w, x_i> >= 1 for all i }                                           (1)
Reference: [boser1992training].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(sets, n, seed):
    """Yields sets of separable points in the plane: points times labels, y_i x_i, all on one side of a line."""
    rng = np.random.default_rng(seed)
    for _ in range(sets):
        center = rng.normal(size=2)
        z = 3 * center / np.linalg.norm(center) + rng.normal(size=(10 * n, 2))
        yield z[z @ center > 0.5 * np.linalg.norm(center)][:n]


def predicted(sets, n, seed):
    """Returns 1 / |w| for the shortest weights w with all scores at least 1, by non-negative least squares."""
    from scipy.optimize import nnls

    margins = []
    for z in problem(sets, n, seed):
        stacked = np.vstack([z.T, np.ones(len(z))])
        residual = stacked @ nnls(stacked, np.array([0.0, 0.0, 1.0]))[0] - np.array([0.0, 0.0, 1.0])
        margins.append(1 / np.linalg.norm(residual[:2] / residual[2]))
    return margins


def largest_margin(z):
    """Returns the largest margin over all lines through the origin, on a grid of angles refined five times."""
    center, reach = 0.0, np.pi
    for _ in range(6):
        angles = center + np.linspace(-reach, reach, 1001)
        smallest = (z @ np.stack([np.cos(angles), np.sin(angles)])).min(0)
        center, reach = angles[smallest.argmax()], reach / 250
    return smallest.max()


def observed(sets, n, seed):
    """Returns the largest margin for each set of points."""
    return [largest_margin(z) for z in problem(sets, n, seed)]


def control(sets, n, seed):
    """Returns the largest margin if one label of each set is flipped, so that no line through the origin separates."""
    return [largest_margin(np.vstack([z[:-1], -z[-1:]])) for z in problem(sets, n, seed)]


CLAIM = Claim(
    id="signed-distance-margin",
    question="Why does a support vector machine minimize the norm of its weights?",
    equation=r"\max_{|u|=1} \min_i y_i u^T x_i = 1 / \min\{|w| : y_i w^T x_i \ge 1\}",
    axes=("data set", "largest margin"),
    source=Source("theorem", "boser1992training"),
    premises=(Premise("a line through the origin separates the points"),),
    parameters={"sets": 10, "n": 30},
    full={"sets": 100, "n": 200},
    judge=equals(within=1e-10, because="the last grid of angles has steps of 6e-15, the points lie within 8"),
)
