"""A linear unit's score, divided by the norm of its weights, is the signed distance to its decision boundary.

The boundary is {z : <w, z> + b = 0}. The nearest boundary point z to x differs from x along w, x = z + t w / |w|, hence

    <w, x> + b = t |w|,    t = (<w, x> + b) / |w|                                                        (1)

and sgn(<w, x> + b) says on which side x lies. Reference: [rosenblatt1958perceptron].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(n, d, seed):
    """Returns random planes (weights and biases) and a random point for each."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(n, d))


def predicted(n, d, seed):
    """Returns the signed distance between each plane and each point."""
    w, b, x = problem(n, d, seed)
    return ((w * x).sum(1) + b) / np.linalg.norm(w, axis=1)


def observed(n, d, seed):
    """Returns the distance to the nearest point of the plane, found by least squares, with the sign of the side."""
    distances = []
    for w, b, x in zip(*problem(n, d, seed), strict=True):
        axis = np.abs(w).argmax()
        foot = np.zeros(d)
        foot[axis] = -b / w[axis]  # a point on the decision boundary
        along = np.linalg.svd(w[None])[2][1:].T  # directions within the boundary
        nearest = foot + along @ np.linalg.lstsq(along, x - foot, rcond=None)[0]
        distances.append(np.linalg.norm(x - nearest) * np.sign(w @ (x - nearest)))
    return distances


def control(n, d, seed):
    """Returns the shortest distance between each plane and point if one may move only along a coordinate axis."""
    distances = []
    for w, b, x in zip(*problem(n, d, seed), strict=True):
        steps = (w @ x + b) / np.abs(w)  # signed distance of x to the boundary along each axis
        distances.append(steps[np.abs(steps).argmin()])
    return distances


CLAIM = Claim(
    id="linear-threshold-unit",
    question="What does the score of a linear classifier measure?",
    equation=r"t = (w^T x + b) / |w|",
    axes=("random plane and point", "signed distance"),
    source=Source("theorem", "rosenblatt1958perceptron"),
    premises=(Premise("distance is Euclidean"),),
    parameters={"n": 50, "d": 6},
    full={"n": 1000, "d": 30},
    judge=equals(rounding=10_000),  # tolerance: sums of d terms, a factorization, and a `foot` far from x lose digits
)
