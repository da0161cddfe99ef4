"""A separating plane exists if and only if the convex hulls of both classes are disjoint; more points leave fewer.

V(S) = {(w, b) : y_i (<w, x_i> + b) > 0 for all i} is the set of separating planes, half-spaces intersected. By Gordan,

    V(S) is empty   exactly if   sum_i u_i y_i (x_i, 1) = 0  for some u >= 0 that is not 0                (1)

which says that the convex hulls of the two classes meet. V(S + point) is contained in V(S).
Reference: [minsky1969perceptrons].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(sets, n, d, seed):
    """Returns sets of Gaussian points with coin-flip labels; about half of the sets are separable."""
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(n, d)), rng.choice((-1.0, 1.0), size=n)) for _ in range(sets)]


def predicted(sets, n, d, seed):
    """Returns per training set whether the hulls of its classes are disjoint, then 0: no set of planes has grown."""
    from scipy.optimize import nnls

    apart = []
    for x, y in problem(sets, n, d, seed):
        z = y[:, None] * np.hstack([x, np.ones((n, 1))])
        apart.append(nnls(np.vstack([z.T, np.ones(n)]), np.eye(d + 2)[-1])[1] > 1e-9)
    return [*apart, 0]


def feasible(z):
    """Returns whether some weights v give every point a score <v, z_i> of at least 1, by linear programming."""
    from scipy.optimize import linprog

    return linprog(np.zeros(z.shape[1]), A_ub=-z, b_ub=-np.ones(len(z)), bounds=(None, None)).status == 0


def growths(sets, n, d, seed):
    """Returns how often the share of 1000 random planes that classify the first k points correctly grows with k."""
    planes = np.random.default_rng(seed + 1).normal(size=(d + 1, 1000))
    total = 0
    for x, y in problem(sets, n, d, seed):
        right = np.hstack([x, np.ones((n, 1))]) @ planes * y[:, None] > 0
        total += (np.diff([right[:k].all(0).mean() for k in range(1, n + 1)]) > 0).sum()
    return total


def observed(sets, n, d, seed):
    """Returns whether a plane exists by linear programming, then how often the set of planes grew."""
    ones = np.ones((n, 1))
    found = [feasible(y[:, None] * np.hstack([x, ones])) for x, y in problem(sets, n, d, seed)]
    return [*found, growths(sets, n, d, seed)]


def control(sets, n, d, seed):
    """Returns whether a plane through the origin separates the classes, per set; then 0: the planes never get more."""
    return [*(feasible(y[:, None] * x) for x, y in problem(sets, n, d, seed)), 0]


CLAIM = Claim(
    id="version-space",
    question="When does a separating plane exist?",
    equation=r"V(S) = \{(w,b): y_i(w^T x_i + b) > 0\} \ne \emptyset \iff 0 \notin \mathrm{conv}\{y_i (x_i, 1)\}",
    axes=("data set, then number of times the set of planes grew", "1 if separable; count"),
    source=Source("theorem", "minsky1969perceptrons"),
    premises=(Premise("planes may pass anywhere, not only through the origin"),),
    parameters={"sets": 60, "n": 8, "d": 3},
    full={"sets": 400, "n": 20, "d": 9},
    judge=equals(rounding=0),
)
