"""After k layers of message passing, a node depends on exactly the nodes that are at most k edges away.

    dh_i / dx_j = 0   if the distance of i and j is larger than k                                             (1)

h_i is the output of node i and x_j the input of node j. On a path of n nodes the ends see each other after n - 1
layers. Reference: [xu2019powerful].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import GCNLayer, gcn_matrix


def predicted(nodes, layers):
    """Returns 1 for pairs of nodes at most ``layers`` edges apart on a path, else 0."""
    place = np.arange(nodes)
    return (np.abs(place[:, None] - place) <= layers).astype(float)


def dependence(everywhere, nodes, layers, seed):
    """Returns 1 if a node's output depends on a node's input, else 0; ``everywhere`` adds the mean over all nodes."""
    torch.manual_seed(seed)
    path = torch.diag(torch.ones(nodes - 1), 1).double()
    matrix = gcn_matrix(path + path.T)
    stack = [GCNLayer(4, 4).double() for _ in range(layers)]
    x = torch.randn(nodes, 4).double().requires_grad_()
    h = x
    for layer in stack:
        h = torch.tanh(layer(h, matrix)) + everywhere * h.mean(0)
    rows = [torch.autograd.grad(h[i].sum(), x, retain_graph=True)[0].abs().sum(1) > 0 for i in range(nodes)]
    return torch.stack(rows).double().numpy()


observed = partial(dependence, everywhere=0.0)  # Messages pass along the edges of the graph only.
control = partial(dependence, everywhere=1.0)  # Control: each layer also adds the mean over all nodes to each node.

CLAIM = Claim(
    id="message-passing",
    question="How far does a graph network see?",
    equation=r"\partial h_i^{(k)} / \partial x_j \ne 0 \iff d(i, j) \le k",
    axes=("pair of nodes", "1 if the output depends on the input"),
    source=Source("theorem", "xu2019powerful"),
    premises=(Premise("messages go only along edges"),),
    parameters={"nodes": 9, "layers": 3},
    covers=("gcn-depth-diameter",),
    judge=equals(rounding=0),
)
