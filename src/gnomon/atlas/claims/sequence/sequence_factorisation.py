"""If each factor is a token's probability given earlier tokens, their product is a distribution over sequences.

    p(y_1, ..., y_T) = prod_t p(y_t | y_1, ..., y_{t-1}),    sum over all sequences = 1                       (1)

y_t are tokens and p is the model. Reference: [cover2006elements].
"""

from functools import partial
from itertools import product

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns 1, the sum of the probabilities of all sequences."""
    return 1.0


def total(future, times, tokens, seed):
    """Returns the sum of the products over all sequences; with ``future`` a factor also depends on the next token."""
    rng = np.random.default_rng(seed)
    weights, ahead = rng.normal(size=(times, times, tokens, tokens)), future * rng.normal(size=(tokens, tokens))
    found = 0.0
    for y in product(range(tokens), repeat=times):
        p = 1.0
        for t in range(times):
            logits = sum((weights[t, s, y[s]] for s in range(t)), np.zeros(tokens))
            logits = logits + (ahead[y[t + 1]] if t + 1 < times else 0.0)
            p *= np.exp(logits[y[t]]) / np.exp(logits).sum()
        found += p
    return found


observed = partial(total, future=0.0)  # Each factor is conditioned on earlier tokens only.
control = partial(total, future=1.0)  # Control: factors also depend on the next token, so the sum is not one.

CLAIM = Claim(
    id="sequence-factorisation",
    question="Why do autoregressive models give valid probabilities?",
    equation=r"\sum_{y} \prod_t p(y_t \mid y_{<t}) = 1",
    axes=("one model", "sum over all sequences"),
    source=Source("theorem", "cover2006elements"),
    premises=(Premise("a factor sees only the tokens before it"),),
    parameters={"times": 5, "tokens": 3},
    judge=equals(rounding=1e4),
)
