"""Finds convolutions that affect the outputs only through one pooled value per channel, to compute the NTK faster.

When each unit of a convolution passes through elementwise operations and is then pooled over all positions,
z_ic = pool_t phi(h_ict), every output o depends on it through z alone, so its gradient factors:

    d f_o / d h_ict = s_oic H_ict,      s_oic = d f_o / d z_ic,      H_ict = d z_ic / d h_ict              (1)

H does not depend on o: the per-example gradients of all k outputs are one set of sums E_ic = sum_t H_ict a_it,
scaled by s. This holds by the structure of the graph, for the last convolution of most image networks.

>>> import torch
>>> from gnomon.tangent.graph import nodes
>>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1))
>>> y = net(torch.ones(3, 1, 8, 8))
>>> convolution = y.grad_fn.next_functions[0][0].next_functions[0][0]
>>> gate(convolution, consumers(nodes(y))).node.name()
'MeanBackward1'
"""

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, Node

ELEMENTWISE = frozenset(
    f"{name}Backward0"
    for name in (
        *("Relu", "Gelu", "Silu", "Mish", "Tanh", "Sigmoid", "Elu", "LeakyRelu", "Softplus", "Hardtanh", "Hardswish"),
        *("Threshold", "Exp", "Sin", "Cos", "Abs", "Neg", "Add", "Sub", "Mul", "Div", "NativeBatchNorm"),
    )
)
"""Operations whose result at a unit and position depends on their arguments there alone (batch norm: in evaluation)."""

POOLS = frozenset({"MeanBackward1", "SumBackward1", "AvgPool2DBackward0", "AdaptiveAvgPool2DBackward0"})


def consumers(graph: list[Node]) -> dict[Node, list[Node]]:
    """Returns, for each node of an autograd graph, the nodes that use its result, once for each use.

    >>> from gnomon.tangent.graph import nodes
    >>> w = torch.ones(2, requires_grad=True)
    >>> sorted(len(users) for users in consumers(nodes((w * 2).exp())).values())
    [1, 1]
    """
    users: dict[Node, list[Node]] = {}
    for node in graph:
        for parent, _ in node.next_functions:
            if parent is not None:
                users.setdefault(parent, []).append(node)
    return users


def gate(node: Node, users: dict[Node, list[Node]]) -> GradientEdge | None:
    """Returns the autograd edge of a convolution's pooled value if the outputs depend on the convolution only through
    it.
    """
    shape = tuple(node._input_metadata[0].shape)
    while len(users.get(node, ())) == 1:
        node = users[node][0]
        result = tuple(node._input_metadata[0].shape)
        if node.name() in POOLS and result[:2] == shape[:2] and all(size == 1 for size in result[2:]):
            return GradientEdge(node, 0)
        mixes = node.name() == "NativeBatchNormBackward0" and getattr(node, "_saved_training", True)
        if node.name() not in ELEMENTWISE or result != shape or mixes:
            return None
    return None


def readout(edge: GradientEdge, below: GradientEdge) -> Tensor:
    """Returns the gradient of each pooled value with respect to the convolution's output."""
    pooled = edge.node._input_metadata[edge.output_nr]
    ones = torch.ones(tuple(pooled.shape), dtype=pooled.dtype, device=pooled.device)
    (gradient,) = torch.autograd.grad([edge], [below], [ones], retain_graph=True)
    return gradient  # (1)
