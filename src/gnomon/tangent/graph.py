"""Finds the operations of an autograd graph that use each parameter.

A parameter may pass through views (a transpose, a slice) before an operation consumes it. A use is that
operation, the argument the parameter went into, and the last view. One parameter used twice has two uses, whether
a layer was called twice, a weight was tied, or a functional call was made.

>>> import torch
>>> w = torch.ones(2, 3, requires_grad=True)
>>> y = torch.nn.functional.linear(torch.ones(4, 3), w)
>>> [(u.name, u.operation, u.slot) for u in uses(nodes(y), {"w": w})]
[('w', 'MmBackward0', 1)]
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, Node

VIEWS = frozenset(
    f"{name}Backward0"
    for name in (
        *("T", "Transpose", "Permute", "View", "UnsafeView", "Reshape", "ReshapeAlias", "Alias"),
        *("Unsqueeze", "Squeeze"),
        *("Slice", "Select", "Split", "SplitWithSizes", "Unbind", "Narrow", "Detach", "Flatten", "Unflatten"),
    )
)
"""Operations that rearrange or select entries, each entry at most once."""

ROWWISE = frozenset(
    f"{name}Backward0"
    for name in (
        *("Addmm", "Mm", "Convolution", "NativeBatchNorm", "NativeLayerNorm", "NativeGroupNorm", "Embedding"),
        *("Relu", "Gelu", "Silu", "Mish", "Tanh", "Sigmoid", "Elu", "LeakyRelu", "Softplus", "Hardtanh", "Hardswish"),
        *("Add", "Sub", "Mul", "Div", "Exp", "Pow", "Sin", "Cos", "Threshold", "PreluKernel"),
        *("MaxPool2DWithIndices", "AvgPool2D", "AdaptiveAvgPool2D", "LogSoftmax", "Softmax"),
    )
)
"""Operations on the rows of a batch, each row by itself. (`checks` refuses a softmax over the batch.)"""

REARRANGING = (
    *("Index", "Gather", "Sort", "Topk", "Take", "Scatter"),
    *("Pack", "Masked", "Flip", "Roll", "Unique", "Kthvalue"),
)
"""Parts of the names of operations that may move examples."""


@dataclass(frozen=True, slots=True)
class Use:
    """An operation of an autograd graph that uses a parameter as its argument number ``slot``."""

    name: str
    node: Node
    slot: int
    view: GradientEdge

    @property
    def operation(self) -> str:
        """The name that autograd gives to the operation that uses the parameter."""
        return self.node.name()

    @property
    def output(self) -> GradientEdge:
        """The graph edge at which the gradient of the operation's result can be requested."""
        return GradientEdge(self.node, 0)

    @property
    def argument_shape(self) -> tuple[int, ...]:
        """The shape of the tensor that the operation receives: a parameter, or a view of a parameter."""
        node: Any = self.view.node
        whole = node.name() == "torch::autograd::AccumulateGrad"
        return tuple(node.variable.shape if whole else node._input_metadata[self.view.output_nr].shape)

    @property
    def signature(self) -> tuple[str, str, int]:
        """Properties of this use of a parameter that two batches must share so that one plan fits both."""
        return self.name, self.operation, self.slot


def uses(graph: list[Node], leaves: dict[str, Tensor]) -> list[Use]:
    """Returns every use of every parameter in an autograd graph, in an order that depends only on the graph's
    structure.

    Hypotheses: the graph was recorded from the leaves with gradients on.
    Cost: one visit of each node.

    >>> w = torch.ones(3, requires_grad=True)
    >>> [u.operation for u in uses(nodes(w * 2 + w[:1]), {"w": w})]
    ['AddBackward0', 'MulBackward0']
    """
    names = {id(leaf): name for name, leaf in leaves.items()}
    every: list[Use] = []
    for node in graph:
        if node.name() in VIEWS and _source(node, names) is not None:
            continue  # A view of a parameter, such as a transpose, does not use its values yet.
        for slot, (parent, number) in enumerate(node.next_functions):
            name = _source(parent, names)
            if name is not None and parent is not None:
                every.append(Use(name, node, slot, GradientEdge(parent, number)))
    return every


def nodes(y: Tensor) -> list[Node]:
    """Returns all nodes of the autograd graph of a tensor y; the list keeps the nodes alive, so that their ids stay
    valid.

    >>> [n.name() for n in nodes(torch.ones(1, requires_grad=True).exp())]
    ['ExpBackward0', 'torch::autograd::AccumulateGrad']
    """
    if y.grad_fn is None:
        return []
    order: dict[Node, None] = {}
    stack = [y.grad_fn]
    while stack:
        node = stack.pop()
        if node in order:
            continue
        order[node] = None
        stack.extend(parent for parent, _ in reversed(node.next_functions) if parent is not None)
    return list(order)


def keeps_rows(graph: list[Node]) -> bool:
    """Whether every operation of an autograd graph computes row i of its result from row i of its arguments only.

    >>> x = torch.ones(4, 3, requires_grad=True)
    >>> keeps_rows(nodes(x.exp().flatten(1))), keeps_rows(nodes((2 * x).t())), keeps_rows(nodes((2 * x).view(2, 6)))
    (True, False, False)
    """
    for node in graph:
        name = node.name()
        if _is_leaf(node) or name in ROWWISE:
            continue
        sizes = getattr(node, "_saved_self_sym_sizes", None)
        if name not in ("ViewBackward0", "UnsafeViewBackward0", "MeanBackward1") or not sizes:
            return False
        if tuple(node._input_metadata[0].shape)[:1] != tuple(sizes)[:1]:
            return False
    return True


def rearranges(graph: list[Node]) -> bool:
    """Whether an autograd graph contains an operation that may reorder examples by their values, such as sorting.

    Sorting, gathering and packing do; so might an operation written by the user.

    >>> x = torch.ones(3, requires_grad=True)
    >>> rearranges(nodes(x.exp())), rearranges(nodes(x.sort().values)), rearranges(nodes(x[torch.tensor([2, 0])]))
    (False, True, True)
    """
    names = {node.name() for node in graph}
    return any(
        any(word in name for word in REARRANGING) or not name[-1].isdigit()
        for name in names
        if "AccumulateGrad" not in name
    )


def keep_channels_last(graph: list[Node]) -> None:
    """Keeps gradients of images in the memory layout of the images (channels last), because mixed layouts are slow.

    The gradient of a mean over positions is one number per channel, not a copy of it for every position. Only the
    graph is changed.

    >>> y = torch.ones(1, 2, 3, 3).contiguous(memory_format=torch.channels_last).requires_grad_().relu()
    >>> keep_channels_last(nodes(y))
    """
    for node in graph:
        saved = getattr(node, "_saved_result", None)
        if isinstance(saved, Tensor) and saved.dim() == 4 and not saved.is_contiguous():
            if saved.is_contiguous(memory_format=torch.channels_last):
                node.register_prehook(_channels_last)
        if node.name() == "MeanBackward1" and _over_positions(node):
            node.register_hook(_one_per_channel)


def footprint(graph: list[Node]) -> int:
    """Returns the bytes of all results in an autograd graph, an upper bound on the memory that the graph keeps.

    Parameters and their views are not counted: they are there once, whatever the number of examples.

    >>> footprint(nodes(torch.ones(10, requires_grad=True).exp()))
    40
    """
    made = (node for node in graph if not _is_leaf(node))
    return sum(prod(m.shape) * m.dtype.itemsize for node in made for m in node._input_metadata)


def entries(use: Use, leaf: Tensor) -> Tensor:
    """Returns for each entry of a parameter 1 + its index in the view that an operation used; 0 for unused entries.

    The places come from the backward pass of the view, in digits of base 2048, which every dtype holds exactly.

    Cost: a few passes over the parameter.

    >>> w = torch.ones(2, 3, requires_grad=True)
    >>> entries(uses(nodes(w.t() * 2), {"w": w})[0], w)
    tensor([[1, 3, 5],
            [2, 4, 6]])
    """
    if use.view.node.name() == "torch::autograd::AccumulateGrad":
        return torch.arange(1, leaf.numel() + 1).reshape(leaf.shape)
    shape = use.argument_shape
    place = torch.arange(1, prod(shape) + 1).reshape(shape)
    total, unit = torch.zeros(leaf.shape, dtype=torch.long), 1
    while unit <= prod(shape):
        digit = (place // unit % 2048).to(leaf)
        (back,) = torch.autograd.grad(use.view, leaf, digit, retain_graph=True)
        total += back.long().cpu() * unit
        unit *= 2048
    return total


def _source(node: Node | None, names: dict[int, str]) -> str | None:
    while node is not None and node.name() in VIEWS:
        node = node.next_functions[0][0]
    return None if node is None else names.get(id(getattr(node, "variable", None)))


def _is_leaf(node: Node | None) -> bool:
    while node is not None and node.name() in VIEWS:
        node = node.next_functions[0][0]
    return node is not None and hasattr(node, "variable")


def _channels_last(grads: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(_laid_out(g) if g is not None and g.dim() == 4 else g for g in grads)


def _laid_out(g: Tensor) -> Tensor:
    # A gradient with one number per channel, broadcast over all positions, is fast in every memory layout.
    constant = g.stride(2) == 0 and g.stride(3) == 0
    return g if constant else g.contiguous(memory_format=torch.channels_last)


def _over_positions(node: Any) -> bool:
    sizes = node._saved_self_sym_sizes
    return len(sizes) == 4 and {d % 4 for d in node._saved_dim or ()} == {2, 3}


def _one_per_channel(grads: tuple[Tensor, ...], _outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Copies one number per channel from an expanded gradient tensor, because strided access to it is slow."""
    return tuple(g if g is None else g[:, :, :1, :1].contiguous().expand_as(g) for g in grads)
