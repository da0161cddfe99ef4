"""Converts tables of vectors to program steps: nn.Embedding of tokens, and parameters that differ between positions.

Looking up row i of a table is a linear map of the indicator of i, without bias:

    e(i) = W^T 1_i,    E[e(i)_c e(j)_c] = std^2 [i = j]                                                   (1)

so an embedding is an affine layer on indicators, with as many inputs as the table has rows. An embedding that does not
train is a fixed function of the data, with the values that it has.
"""

from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnomon.program import layout as lay
from gnomon.program.builder import Builder, extract, varies
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.steps import Dense, Input, Weights
from gnomon.program.values import Call, Fixed, Parameter, Random


class Indicators(nn.Module):
    """A module that converts tokens to one-hot rows (n, *positions, rows), with zeros for the padding token."""

    def __init__(self, tokens: nn.Module, rows: int, padding: int | None) -> None:
        super().__init__()
        self.tokens, self.rows, self.padding = tokens, rows, padding

    def forward(self, x: Tensor) -> Tensor:
        """Returns a one-hot row for each token; tokens without a batch axis are shared by all samples."""
        tokens = self.tokens(x)
        if tokens.dim() < 2 or len(tokens) != len(x):
            tokens = tokens.reshape(1, -1).expand(len(x), -1)
        hot = functional.one_hot(tokens.long(), self.rows).double()
        if self.padding is not None:
            hot[..., self.padding] = 0.0
        return hot


class Places(nn.Module):
    """A module that returns an identity matrix, one one-hot row per position, for every sample."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, x: Tensor) -> Tensor:
        """Returns an identity matrix for each sample."""
        return torch.eye(self.count, dtype=torch.float64, device=x.device).expand(len(x), -1, -1)


def embedding(b: Builder, call: Call) -> Any:
    """Converts nn.Embedding of tokens from the data to one-hot rows and an affine layer.

    See equation (1) of the module docstring.
    """
    module, tokens = call.module, call.args[0]
    assert isinstance(module, nn.Embedding)
    path = f"{call.where}.weight" if call.where else "weight"
    b.account(path, call.where)
    if not module.weight.requires_grad:
        return Fixed(call.node, call.shape)
    if not isinstance(tokens, Fixed):
        raise b.unread(call, "looks up token numbers that depend on parameters")
    if module.max_norm is not None or module.scale_grad_by_freq:
        raise b.unread(call, "rescales its rows or its gradients; plain nn.Embedding has a rule")
    rows = module.num_embeddings
    shape = call.shape if varies(tokens) else (b.batch, prod(call.shape[:-1]), call.shape[-1])
    function = Indicators(extract(b.root, b.graph, tokens.node), rows, module.padding_idx)
    weights = Weights(call.where or "weight", "Embedding", path, None, rows, (True, False), (1.0, 0.0))
    return table(b, function, weights, shape, call.where)


def table(b: Builder, function: nn.Module, weights: Weights, shape: tuple[int, ...], where: str) -> Random:
    """Adds program steps for one-hot rows and for the affine layer that multiplies them."""
    places = tuple((LayoutAxis(s, Role.POSITION),) if s > 1 else () for s in shape[1:-1])
    batch = (LayoutAxis(shape[0], Role.BATCH),)
    before: lay.Layout = (batch, *places, (LayoutAxis(weights.fan_in, Role.CHANNEL),))
    after: lay.Layout = (batch, *places, (LayoutAxis(shape[-1], Role.CHANNEL),))
    entered = b.emit(Input(function, len(shape) - 1), (), where, before, gaussian=False)
    return b.emit(Dense(weights), (entered.source,), where, after, gaussian=True)  # (1)


def position_table(b: Builder, call: Call, parameter: Parameter, count: int, channels: int) -> Random:
    """Converts a position table, a parameter of shape (positions, channels), to a branch (batch, positions, channels).

    See equation (1) of the module docstring.
    """
    b.account(parameter.path, call.where)
    tensor = parameter.tensor
    if prod(tensor.shape) != count * channels or tensor.shape[-1] != channels:
        raise b.unread(
            call, f"adds a parameter of shape {tuple(tensor.shape)} to {count} positions of {channels} channels"
        )
    weights = Weights(parameter.path, "Parameter", parameter.path, None, count, (tensor.requires_grad, False))
    return table(b, Places(count), weights, (b.batch, count, channels), call.where)
