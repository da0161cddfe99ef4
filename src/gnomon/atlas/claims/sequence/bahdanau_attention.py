"""Attention that is trained to reverse a sequence puts its largest weight on the input at the mirrored position.

    a_ij = softmax_j(v.tanh(W q_i + U k_j)),   c_i = sum_j a_ij z_j,    argmax_j a_ij = T - 1 - i             (1)

q_i are queries, k_j keys, z_j embedded inputs of a sequence of length T; v, W and U are weights. The network knows
positions only from queries and keys. Reference: [bahdanau2015neural].
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models import sinusoidal_positions


def predicted():
    """Returns 0.9, the lower bound on the share of outputs aligned with the mirrored input."""
    return 0.9


def aligned_share(places, length, steps, seed):
    """Returns the share of outputs with their largest weight at the mirrored input, after training on letters."""
    torch.manual_seed(seed)
    p = sinusoidal_positions(length, 16)
    embed, read = nn.Embedding(8, 16), nn.Linear(16, 8)
    w, u, v = nn.Linear(16, 32), nn.Linear(16, 32), nn.Linear(32, 1)
    optimizer = torch.optim.Adam([q for m in (embed, read, w, u, v) for q in m.parameters()], lr=0.02)
    for _ in range(steps):
        x = torch.randint(8, (32, length))
        scores = v(torch.tanh(w(p)[:, None] + u(places * p)[None, :]))[..., 0]
        a = torch.softmax(scores, 1)
        loss = nn.functional.cross_entropy(read(a @ embed(x)).flatten(0, 1), x.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float((a.argmax(1) == torch.arange(length).flip(0)).double().mean())


def observed(length, steps, seed):
    """Returns the share of aligned outputs if the attention keys contain their positions."""
    return np.float64(aligned_share(1.0, length, steps, seed))


def control(length, steps, seed):
    """Returns the share of aligned outputs if the attention keys contain no positions."""
    return np.float64(aligned_share(0.0, length, steps, seed))


CLAIM = Claim(
    id="bahdanau-attention",
    question="Does attention learn which input belongs to which output?",
    equation=r"a_{i j} = \mathrm{softmax}_j(v \cdot \tanh(W q_i + U k_j))",
    axes=("one training run", "share of outputs aligned with the right input"),
    source=Source("observed", "bahdanau2015neural"),
    premises=(Premise("the keys contain their positions"),),
    parameters={"length": 8, "steps": 200},
    full={"length": 16, "steps": 1000},
    judge=bounded_by("below"),
)
