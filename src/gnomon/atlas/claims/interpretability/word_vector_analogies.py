"""If words share attributes, word vectors from co-occurrence counts solve analogies (a is to b as c to d).

    v(b) - v(a) + v(c) = v(d)    for a : b = c : d, if log co-occurrence is a sum over attributes            (1)

v(a) is the vector of word a.
"""

from functools import partial

import numpy as np
import torch

from gnomon.attribution.cues import analogy_score
from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Returns 0.9, the lower bound on the share of solved analogies."""
    return 0.9


def measure(values, contexts, seed, mixing):
    """Returns the share of analogies solved by word vectors from log co-occurrence, for words with two attributes."""
    draw = np.random.default_rng(seed)
    rows, columns = (draw.standard_normal((values, contexts)) for _ in range(2))
    own = draw.standard_normal((values, values, contexts))
    table = (1 - mixing) * (rows[:, None] + columns[None]) + mixing * own
    table = table.reshape(values * values, contexts)
    left, size, _ = np.linalg.svd(table, full_matrices=False)
    rank = 2 * values
    words = torch.tensor(left[:, :rank] * size[:rank])
    pairs = [(i, j, k, m) for i, j, k, m in np.ndindex(values, values, values, values) if i != k and j != m]
    quadruples = [(i * values + j, i * values + m, k * values + j, k * values + m) for i, j, k, m in pairs]
    return analogy_score(words, quadruples)


observed = partial(measure, mixing=0.1)  # Words share attributes, which mostly decide how often they occur together.
control = partial(measure, mixing=1.0)  # Independent words.

CLAIM = Claim(
    id="word-vector-analogies",
    question="Why do word vectors solve analogies?",
    equation=r"v_b - v_a + v_c \approx v_d",
    axes=("one vocabulary", "share of solved analogies"),
    source=Source("derived"),
    premises=(Premise("log co-occurrence is a sum over attributes"),),
    parameters={"values": 5, "contexts": 60},
    full={"values": 8, "contexts": 300},
    judge=bounded_by("below"),
)
