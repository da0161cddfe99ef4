"""In d dimensions, eps in every entry moves a linear score sqrt(2 d / pi) times as far as a step of length eps.

    E |w|_1 / E |w|_2 -> sqrt(2 d / pi),     w of independent normal entries                                  (1)

So eps in every entry moves a score by about sqrt(2 d / pi) times as much as a move of Euclidean length eps.
Reference: [goodfellow2015explaining], Section 3.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(sizes):
    """Returns sqrt(2 / pi), the ratio of both moves divided by sqrt(d), for each dimension d."""
    return [(2 / np.pi) ** 0.5] * len(sizes)


def ratios(draw, sizes, repeats, seed):
    """Returns the ratio of both moves, |w|_1 / |w|_2, divided by sqrt(d), for each dimension d."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in sizes:
        w = draw(rng, (repeats, int(d)))
        rows.append(np.abs(w).sum(1) / np.linalg.norm(w, axis=1) / d**0.5)
    return np.array(rows).T


observed = partial(ratios, draw=lambda rng, shape: rng.normal(size=shape))  # Normal weights.
# Control: weights fall as 1 / k, so a few large weights dominate the score.
control = partial(ratios, draw=lambda rng, shape: rng.normal(size=shape) / np.arange(1, shape[1] + 1))

CLAIM = Claim(
    id="linear-explanation-dimension",
    question="Why are high-dimensional linear models easy to attack?",
    equation=r"\|w\|_1 / \|w\|_2 \to \sqrt{2 d / \pi}",
    axes=("number of inputs d", "|w|_1 / |w|_2 / sqrt(d)", "sizes"),
    source=Source("theorem", "goodfellow2015explaining", "Section 3"),
    premises=(Premise("the weights have similar sizes"),),
    parameters={"sizes": (10, 30, 100, 300, 1000, 3000), "repeats": 200},
    full={"sizes": (10, 100, 1000, 10_000), "repeats": 200},
    judge=mean_equals(resolution=0.05, within=0.03, because="the next order is 1 / (4 d), 0.025 at d = 10"),
)
