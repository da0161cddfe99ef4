"""Graph attention weights sum to one over neighbors, and every node ranks its neighbors in the same order.

    sum_j q_ij = 1,    q_ij > q_ik  <=>  s_j > s_k,    q_ij = softmax_j(h(r_i + s_j))                            (1)

q_ij is the weight of neighbor j for node i, s_j the score of j as a neighbor, r_i the score of i as a receiver, h a
leaky ReLU. The order does not depend on i: this is called static attention. Reference: [velickovic2018graph].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import GATLayer


def predicted(nodes):
    """Returns 1, the sum of each node's weights, then 1, the number of different rankings of neighbors."""
    return np.append(np.ones(nodes), 1.0)


def sums_and_rankings(rising, nodes, seed):
    """Returns the sums of weights and the number of rankings; not ``rising`` replaces the leaky ReLU by |x|."""
    torch.manual_seed(seed)
    layer, x = GATLayer(3, 4).double(), 2 * torch.randn(nodes, 3).double()
    with torch.no_grad():
        if rising:
            q = layer.attention(x, torch.ones(nodes, nodes))
        else:
            v = layer.value(x)
            q = torch.softmax((layer.own(v) + layer.other(v).T).abs(), 1)
    orders = len({tuple(row) for row in q.argsort(1).tolist()})
    return np.append(q.sum(1).numpy(), float(orders))


observed = partial(sums_and_rankings, rising=True)  # A leaky ReLU.
control = partial(sums_and_rankings, rising=False)  # The absolute value.

CLAIM = Claim(
    id="graph-attention-network",
    question="Do different nodes rank their neighbors differently in graph attention?",
    equation=r"\sum_j q_{ij} = 1, \quad q_{ij} > q_{ik} \iff s_j > s_k",
    axes=("sum of each node's weights, then number of rankings", "sum; count"),
    source=Source("theorem", "velickovic2018graph"),
    premises=(Premise("the activation before the softmax is increasing"),),
    parameters={"nodes": 7},
    judge=equals(within=1e-12, because="sums of seven terms"),
)
