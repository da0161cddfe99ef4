"""The shortest move that makes two linear scores equal points along the difference of their weights.

    e = (f_1(x) - f_2(x)) / |w_2 - w_1|^2 (w_2 - w_1)                                                         (1)

e is the move, f_1 and f_2 are the scores with weights w_1 and w_2. Reference: [moosavi2016deepfool], equation 3.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, repeats, seed):
    """Returns two random scores and an input, for each repetition."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(repeats, 2, d)), rng.normal(size=(repeats, 2)), rng.normal(size=(repeats, d))


def predicted(d, repeats, seed):
    """Returns the shortest move that makes both scores equal, by the formula."""
    w, b, x = problem(d, repeats, seed)
    f = np.einsum("rkd,rd->rk", w, x) + b
    way = w[:, 1] - w[:, 0]
    return (f[:, 0] - f[:, 1])[:, None] / (way**2).sum(1, keepdims=True) * way


def nearest(bend, d, repeats, seed):
    """Returns the shortest move that makes both scores equal, by Newton's method; ``bend`` curves the scores."""
    w, b, x = problem(d, repeats, seed)
    moves = []
    for i in range(repeats):
        g, c = w[i, 0] - w[i, 1], b[i, 0] - b[i, 1]
        z = np.zeros(d + 1)
        for _ in range(60):
            e, m = z[:d], z[d]
            slope = g + 2 * bend * e
            value = g @ (x[i] + e) + c + bend * e @ e
            jacobian = np.block([[(2 + 2 * m * bend) * np.eye(d), slope[:, None]], [slope[None], np.zeros((1, 1))]])
            z = z - np.linalg.solve(jacobian, np.r_[2 * e + m * slope, value])
        moves.append(z[:d])
    return np.array(moves)


observed = partial(nearest, bend=0.0)  # Affine scores.
control = partial(nearest, bend=0.05)  # Control: a square is added to the difference of both scores.

CLAIM = Claim(
    id="affine-binary-attack",
    question="Which way is the nearest decision boundary of two linear scores?",
    equation=r"\eta = \frac{f_1(x) - f_2(x)}{\|w_2 - w_1\|^2} (w_2 - w_1)",
    axes=("coordinate of the move", "move"),
    source=Source("theorem", "moosavi2016deepfool", "equation 3"),
    premises=(Premise("the scores are affine"),),
    parameters={"d": 8, "repeats": 20},
    full={"d": 50, "repeats": 200},
    judge=equals(rounding=1e5),
)
