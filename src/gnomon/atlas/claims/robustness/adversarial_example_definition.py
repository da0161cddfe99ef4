"""A linear classifier's decision changes at a distance of margin / (dual norm of the weights), and no earlier.

    min { |e|_p : sign(w (x + e) + b) != sign(w x + b) } = |w x + b| / |w|_q,    1/p + 1/q = 1                (1)

x is the input, e the move, w and b are the weights. Checked for p = 2 and infinity (q = 2 and 1). For p = 0, entries
moved without bound, one entry is enough.
Reference: [szegedy2014intriguing] for the notion, [boyd2004convex] for dual norms.
"""

from functools import partial

import numpy as np
from scipy.optimize import linprog, minimize

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, repeats, seed):
    """Returns weights, a bias and an input on the positive side, for each repetition."""
    rng = np.random.default_rng(seed)
    w, b, x = rng.normal(size=(repeats, d)), rng.normal(size=repeats), rng.normal(size=(repeats, d))
    sign = np.sign((w * x).sum(1) + b)
    return sign[:, None] * w, sign * b, x


def predicted(d, repeats, seed):
    """Returns the distance, margin / dual norm, for the Euclidean norm and then for the largest-entry norm."""
    w, b, x = problem(d, repeats, seed)
    m = (w * x).sum(1) + b
    return np.r_[m / np.linalg.norm(w, axis=1), m / np.abs(w).sum(1)]


def smallest_moves(bend, d, repeats, seed):
    """Returns the shortest moves that change the decision, by optimization; ``bend`` adds a square to the score."""
    w, b, x = problem(d, repeats, seed)
    round_, flat = [], []
    for i in range(repeats):

        def score(e, i=i):
            return w[i] @ (x[i] + e) + b[i] + bend * e @ e

        start = -(w[i] @ x[i] + b[i]) * w[i] / (w[i] @ w[i])
        found = minimize(lambda e: e @ e, 1.3 * start, jac=lambda e: 2 * e, method="SLSQP",
                         constraints={"type": "eq", "fun": score}, options={"ftol": 1e-14, "maxiter": 200})  # fmt: skip
        round_.append(found.fun**0.5)
        rows = np.block([[np.eye(d), -np.ones((d, 1))], [-np.eye(d), -np.ones((d, 1))], [w[i][None], np.zeros((1, 1))]])
        limits = np.r_[np.zeros(2 * d), -(w[i] @ x[i] + b[i])]
        flat.append(linprog(np.r_[np.zeros(d), 1], rows, limits, bounds=[(None, None)] * d + [(0, None)]).fun)
    return np.r_[round_, flat]


observed = partial(smallest_moves, bend=0.0)  # The test's classifier has an affine score.
control = partial(smallest_moves, bend=0.3)  # Control: a square is added to the score, so the boundary is curved.

CLAIM = Claim(
    id="adversarial-example-definition",
    question="How far is the nearest adversarial example of a linear classifier?",
    equation=r"\min \{ \|\eta\|_p : f(x + \eta) \ne f(x) \} = |w^T x + b| / \|w\|_q",
    axes=("random classifier (Euclidean, then largest-entry norm)", "smallest move that changes the decision"),
    source=Source("theorem", "boyd2004convex", "Section 2.6.4"),
    premises=(Premise("the score is affine in the input"),),
    parameters={"d": 6, "repeats": 4},
    full={"d": 30, "repeats": 100},
    judge=equals(within=1e-5, because="the programs stop at about 1e-6"),
)
