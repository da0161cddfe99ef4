"""BERT hides 15 % of the tokens; a hidden token is easier to predict from both neighbors than from the past.

    0.15 x (0.8, 0.1, 0.1) of the tokens are masked, replaced at random, and kept,
    H(x_t | x_{t-1}) - H(x_t | x_{t-1}, x_{t+1}) = sum_ijk r_i P_ij P_jk log(P_jk / (P^2)_ik)                 (1)

x_t are the tokens of a Markov chain with transition matrix P and stationary probabilities r, and H is the conditional
entropy: the smallest mean loss of a prediction. Reference: [devlin2019bert].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.models.tokens import mask_tokens

TOKEN_COUNT = 5
MASK = 100_000  # id of the mask token; the vocabulary is so large that a random token is another token


def problem(seed):
    """Returns random transition probabilities between the tokens."""
    return 0.02 + 0.9 * np.random.default_rng(seed).dirichlet(0.5 * np.ones(TOKEN_COUNT), TOKEN_COUNT)


def predicted(seed):
    """Returns the three shares of hidden tokens, then the entropy given the past minus that given both neighbors."""
    p = problem(seed)
    rest = np.linalg.matrix_power(p, 1000)[0]
    paths = rest[:, None, None] * p[:, :, None] * p
    return np.array([0.12, 0.015, 0.015, (paths * np.log(p[None] / (p @ p)[:, None])).sum()])


def shares_and_gap(follow, length, repeats, seed):
    """Returns the shares of hidden tokens, then the loss from the past minus the loss from both neighbors."""
    rng, p, rows = np.random.default_rng([seed, 1]), problem(seed), []
    for i in range(repeats):
        x = np.empty((length, 200), int)  # 200 texts of tokens; the first 160 are used for counting
        x[0] = rng.integers(TOKEN_COUNT, size=200)
        for t in range(1, length):
            steps = p[x[t - 1]] if follow else np.full((200, TOKEN_COUNT), 1 / TOKEN_COUNT)
            x[t] = (steps.cumsum(1) < rng.random((200, 1))).sum(1)
        generator = torch.Generator().manual_seed(seed + i)
        ids = torch.from_numpy(x[20:])
        seen, chosen = mask_tokens(ids, mask=MASK, vocabulary=MASK, generator=generator, rate=0.15)
        kinds = (seen == MASK, chosen & (seen != ids) & (seen != MASK), chosen & (seen == ids))
        counts = np.full((TOKEN_COUNT,) * 3, 0.1)
        np.add.at(counts, tuple(x[20 + k : length - 2 + k, :160] for k in range(3)), 1.0)
        both, past = counts / counts.sum(1, keepdims=True), counts.sum(2) / counts.sum((1, 2))[:, None]
        a, b, c = (x[20 + k : length - 2 + k, 160:][chosen[1:-1, 160:].numpy()] for k in range(3))
        rows.append([*(float(kind.double().mean()) for kind in kinds), np.log(both[a, b, c] / past[a, b]).mean()])
    return np.array(rows)


observed = partial(shares_and_gap, follow=True)  # Tokens follow the transition matrix of a Markov chain.
control = partial(shares_and_gap, follow=False)  # Control: tokens are independent, so neighbors do not help.

CLAIM = Claim(
    id="bert-masked-lm",
    question="Which tokens does BERT hide in training, and why does it read in both directions?",
    equation=r"0.15 \times (0.8,\ 0.1,\ 0.1), \quad H(x_t | x_{t-1}) - H(x_t | x_{t-1}, x_{t+1}) > 0",
    axes=("masked, replaced, kept, gap of the entropies", "share of all tokens; nats"),
    source=Source("derived", "devlin2019bert"),
    premises=(Premise("a token depends on the token before it"),),
    parameters={"length": 320, "repeats": 14},
    full={"length": 1020, "repeats": 20},
    judge=mean_equals(confidence=0.999, resolution=0.15, within=0.002, because="80 numbers from 48,000 counts"),
)
