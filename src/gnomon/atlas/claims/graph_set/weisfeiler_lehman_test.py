"""Message passing cannot distinguish a ring of six nodes from two triangles, although these graphs differ.

    C_6 and 2 C_3: equal colors, equal outputs, and different graphs                                          (1)

C_n is a ring of n nodes. Graphs with the same colors in the Weisfeiler-Lehman test get equal outputs.
Reference: [morris2019weisfeiler].
"""

from functools import partial

import numpy as np
import torch

from gnomon.graphs import graph_classes
from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import GINLayer


def problem():
    """Returns the adjacency matrices of a ring of six nodes and of two triangles."""
    six = torch.eye(6).roll(1, 0) + torch.eye(6).roll(-1, 0)
    triangle = torch.ones(3, 3) - torch.eye(3)
    return six.double(), torch.block_diag(triangle, triangle).double()


def predicted(networks):
    """Returns 0 for each network, because both graphs have the same Weisfeiler-Lehman colors."""
    labels = graph_classes(problem()).by_colors
    return np.full(networks, float(labels[0] != labels[1]))


def differences(marked, networks, seed):
    """Returns the difference of the networks' outputs for both graphs; ``marked`` changes two nodes' features."""
    found = []
    for i in range(networks):
        torch.manual_seed(seed + i)
        layers, out = [GINLayer(1, 6).double(), GINLayer(6, 6).double()], []
        for a in problem():
            h = torch.ones(6, 1).double()
            h[[0, 1]] += marked
            for layer in layers:
                h = torch.tanh(layer(h, a))
            out.append(h.sum(0))
        found.append(float((out[0] - out[1]).abs().max().detach()))
    return np.array(found)


observed = partial(differences, marked=0.0)  # The test gives all nodes the same feature.
control = partial(differences, marked=1.0)  # Control: two neighboring nodes get another feature than the others.

CLAIM = Claim(
    id="weisfeiler-lehman-test",
    question="Which graphs can message passing not distinguish?",
    equation=r"c(C_6) = c(2\,C_3) \implies f(C_6) = f(2\,C_3)",
    axes=("network", "largest difference of the outputs"),
    source=Source("theorem", "morris2019weisfeiler"),
    premises=(Premise("all nodes start from equal features"),),
    parameters={"networks": 5},
    judge=equals(within=1e-11, because="sums of outputs of size ten"),
)
