"""BERT predicts 15 % of the tokens: 12 % are masked, 1.5 % are replaced at random, and 1.5 % are kept.

    0.15 x (0.8, 0.1, 0.1)                                                                                    (1)

15 % of the tokens are chosen; of these 80 % are masked, 10 % replaced and 10 % kept. Reference: [devlin2019bert].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.models.tokens import mask_tokens


def predicted():
    """Equation (1), for a vocabulary so large that a random token is a different one."""
    return np.array([0.12, 0.015, 0.015])


def rates(chosen_rate, tokens, repeats, seed):
    """Shares of tokens that are masked, replaced, and chosen but kept."""
    found = []
    for i in range(repeats):
        generator = torch.Generator().manual_seed(seed + i)
        ids = torch.randint(100000, (tokens,), generator=generator)
        seen, chosen = mask_tokens(ids, mask=100000, vocabulary=100000, generator=generator, rate=chosen_rate)
        kinds = (seen == 100000, chosen & (seen != ids) & (seen != 100000), chosen & (seen == ids))
        found.append([float(k.double().mean()) for k in kinds])
    return np.array(found)


observed = partial(rates, chosen_rate=0.15)  # 15 % are chosen.
control = partial(rates, chosen_rate=0.3)  # Twice as many.

CLAIM = Claim(
    id="bert-masked-lm",
    question="Which tokens does BERT hide in training?",
    equation=r"0.15 \times (0.8,\ 0.1,\ 0.1)",
    axes=("masked, replaced, kept", "share of all tokens"),
    source=Source("theorem", "devlin2019bert"),
    premises=(Premise("15 % of the tokens are chosen"),),
    parameters={"tokens": 20000, "repeats": 8},
    judge=mean_equals(resolution=0.1),
)
