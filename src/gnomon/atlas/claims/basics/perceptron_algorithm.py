"""The perceptron's weights are a sum of misclassified points; on separable data it stops, on XOR it cycles.

Each update adds y_i x_i, so from w_0 = 0, with a_i the number of mistakes on point i (label y_i),

    w_t = sum_i a_i y_i x_i                                                                              (1)

The mistakes can be counted from inner products alone. On inseparable points with integer coordinates the weights stay
bounded, so they return to an earlier state. References: [rosenblatt1958perceptron], [minsky1969perceptrons].
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

XOR = np.array([[0, 0, 1], [1, 1, 1], [0, -1, -1], [-1, 0, -1]])  # y (x, 1)


def problem(n, d, seed):
    """Returns label times point, y_i x_i, for fewer points than dimensions, which some plane always separates."""
    return np.random.default_rng(seed).normal(size=(n, d))


def predicted(n, d, seed):
    """Returns the perceptron's weights from its counts of mistakes, then 0 errors, and 1: on XOR its weights repeat."""
    z = problem(n, d, seed)
    gram, counts, clean = z @ z.T, np.zeros(n), False
    while not clean:
        before = counts.sum()
        for i in range(n):
            counts[i] += gram[i] @ counts <= 0
        clean = counts.sum() == before
    return [*(counts @ z), 0, 1]


def run_perceptron(z, w):
    """Returns the final weights, and whether the perceptron returned to an earlier state."""
    seen = set()
    while tuple(w) not in seen:
        seen.add(tuple(w))
        mistakes = 0
        for row in z:
            wrong = row @ w <= 0
            w, mistakes = w + wrong * row, mistakes + wrong
        if not mistakes:
            return w, False
    return w, True


def observed(n, d, seed):
    """Returns the weights of the perceptron, the number of errors left, and whether it cycles on XOR."""
    z = problem(n, d, seed)
    w = run_perceptron(z, np.zeros(d))[0]
    return [*w, (z @ w <= 0).sum(), run_perceptron(XOR, np.zeros(3))[1]]


def control(n, d, seed):
    """Returns the perceptron's weights if it starts from random weights instead of zero."""
    z = problem(n, d, seed)
    w = run_perceptron(z, np.random.default_rng(seed + 1).normal(size=d))[0]
    return [*w, (z @ w <= 0).sum(), run_perceptron(XOR, np.zeros(3))[1]]


CLAIM = Claim(
    id="perceptron-algorithm",
    question="What do the weights of a perceptron consist of?",
    equation=r"w_t = \sum_i a_i y_i x_i",
    axes=("weight, then errors left, then whether XOR cycles", "weight; count"),
    source=Source("theorem", "rosenblatt1958perceptron"),
    premises=(
        Premise("the weights start in the span of the data"),
        Premise("the points are separable", lambda n, d: n <= d),
    ),
    parameters={"n": 10, "d": 15},
    full={"n": 60, "d": 80},
    judge=equals(rounding=1000),  # tolerance 1000 x machine precision: about 1000 mistakes, each of which adds a vector
)
