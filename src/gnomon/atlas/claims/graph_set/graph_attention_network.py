"""The weights of graph attention sum to one over neighbors, and their order is the same for every node.

    sum_j q_ij = 1,    q_ij > q_ik for one i  <=>  for all i   (static attention)                             (1)

Reference: [velickovic2018graph].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import GATLayer


def predicted(nodes):
    """Sums of rows, and the number of different orders."""
    return np.append(np.ones(nodes), 1.0)


def measured(rising, nodes, seed):
    """Sums and orders of the attention; with an activation that rises, or one that falls on one side."""
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


observed = partial(measured, rising=True)  # A leaky relu.
control = partial(measured, rising=False)  # The absolute value.

CLAIM = Claim(
    id="graph-attention-network",
    title="Graph attention sums to one over neighbors, and ranks them alike for all nodes",
    equation=r"\sum_j q_{ij} = 1, \quad q_{ij} > q_{ik} \iff s_j > s_k",
    source=Source("theorem", "velickovic2018graph"),
    premises=(Premise("the activation before softmax rises"),),
    parameters={"nodes": 7},
    judge=equals(within=1e-12, because="sums of seven terms"),
)
