"""Of all tokens 15 % are asked for: 12 % are hidden, 1.5 % replaced by a random one, 1.5 % left as they are.

    0.15 x (0.8, 0.1, 0.1)                                                                                    (1)

Reference: [devlin2019bert].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.models.tokens import mask_tokens


def predicted():
    """Equation (1), for a vocabulary so large that a random token is another one."""
    return np.array([0.12, 0.015, 0.015])


def rates(asked, tokens, repeats, seed):
    """Shares of tokens that are hidden, replaced, and asked for though left."""
    found = []
    for i in range(repeats):
        generator = torch.Generator().manual_seed(seed + i)
        ids = torch.randint(100000, (tokens,), generator=generator)
        seen, chosen = mask_tokens(ids, mask=100000, vocabulary=100000, generator=generator, rate=asked)
        kinds = (seen == 100000, chosen & (seen != ids) & (seen != 100000), chosen & (seen == ids))
        found.append([float(k.double().mean()) for k in kinds])
    return np.array(found)


observed = partial(rates, asked=0.15)  # As it is done.
control = partial(rates, asked=0.3)  # Twice as many.

CLAIM = Claim(
    id="bert-masked-lm",
    title="Masked language models hide 12 % of tokens, replace 1.5 % and keep 1.5 % of those they ask for",
    equation=r"0.15 \times (0.8,\ 0.1,\ 0.1)",
    source=Source("theorem", "devlin2019bert"),
    premises=(Premise("one token in 20 / 3 is asked for"),),
    parameters={"tokens": 20000, "repeats": 8},
    judge=mean_equals(resolution=0.1),
)
