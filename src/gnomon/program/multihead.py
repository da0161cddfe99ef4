"""Converts nn.MultiheadAttention to program steps: maps to queries, keys and values, attention, an output map.

    logits_h[p, s] = q_h(p) . k_h(s) / sqrt(d_k)
    y(p) = W_o concat_h sum_s softmax_s(logits_h + mask)[p, s] v_h(s)                                     (1)

PyTorch draws the packed map of queries, keys and values by Xavier's rule, of variance 2 / (d + 3 d), with biases zero.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.program import layout as lay
from gnomon.program.affine import dense, join
from gnomon.program.builder import Builder, constant_value, extract, varies
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.steps import Input, MultiheadAttention, Weights
from gnomon.program.values import Call, Fixed, Random

MASKED_LOGIT = -1e30
"""Added to the logits of hidden keys."""


@dataclass(frozen=True, slots=True)
class Masks:
    """The two masks of attention: one for pairs (queries, keys), equal for all inputs, and a padding mask that is
    data.
    """

    pairs: Tensor | None = None
    padding: Fixed | None = None


def multihead(b: Builder, call: Call) -> tuple[Any, None]:
    """Converts nn.MultiheadAttention(query, key, value); its second output, the mean attention, is not available."""
    m = call.module
    assert isinstance(m, nn.MultiheadAttention)
    masks = read_masks(b, call, call.get(5, "attn_mask"), call.get(3, "key_padding_mask"))
    values = [call.get(i, name) for i, name in enumerate(("query", "key", "value"))]
    return attend(b, call, values, masks), None


def attend(b: Builder, call: Call, values: list[Any], masks: Masks) -> Random:
    """Adds program steps for attention with queries, keys and values from three sequences or from one.

    See equation (1) of the module docstring.
    """
    m = call.module
    _check(b, call, m)
    entered = [_sequence(b, call, v) for v in values]
    weights = _pack(b, call, m)
    q, k, v = (dense(b, call, x, w, m.embed_dim) for x, w in zip(entered, weights, strict=True))
    sources: tuple[int, ...] = (v.source, q.source, k.source)
    if masks.padding is not None:
        sources = (*sources, padding_step(b, call, masks.padding, extract(b.root, b.graph, masks.padding.node)))
    mixed = b.emit(MultiheadAttention(masks.pairs), sources, call.where, q.layout, gaussian=False)
    return dense(b, call, mixed, _out(b, call, m), m.embed_dim)  # (1)


def _check(b: Builder, call: Call, m: nn.MultiheadAttention) -> None:
    if not m.batch_first:
        raise b.unread(call, "takes positions first; the rule is for batch_first=True")
    if m.bias_k is not None or m.add_zero_attn:
        raise b.unread(call, "adds extra positions (add_bias_kv, add_zero_attn)")
    if m.training and m.dropout:
        raise b.refuse(
            call,
            "drops entries of the attention in training mode",
            "masks act on infinitely many channels",
            "Call net.eval()",
        )


def _sequence(b: Builder, call: Call, value: Any) -> Random:
    if isinstance(value, Fixed):
        value = b.enter(value, len(value.shape) - 1, call.where)
    value = b.flush(value, call)
    shape, roles = lay.shape_of(value.layout), [{a.role for a in d} for d in value.layout]
    if len(shape) != 3 or roles[0] != {Role.BATCH} or roles[1] - {Role.POSITION} or roles[2] != {Role.CHANNEL}:
        raise b.unread(call, f"receives shape {shape}; it takes (batch, positions, channels)")
    positions: lay.Layout = (value.layout[0], (LayoutAxis(shape[1], Role.POSITION),), value.layout[2])
    return b.settle(value, positions, call.where)


class Hidden(nn.Module):
    """A module that computes from the data what padding adds to attention logits, with one channel: (n, 1, keys)."""

    def __init__(self, function: nn.Module) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        """Returns a large negative finite number for hidden keys, so that their attention weight is zero."""
        found: Tensor = self.function(x)
        low = found.bool() * MASKED_LOGIT if found.dtype is torch.bool else found.clamp(min=MASKED_LOGIT)
        return low.double().unsqueeze(1)


def padding_step(b: Builder, call: Call, mask: Fixed, function: nn.Module) -> int:
    """Adds a program step with the padding mask of each sample; ``function`` computes the mask, true for
    hidden keys.
    """
    count, keys = mask.shape if len(mask.shape) == 2 else (0, 0)
    if count != b.batch:
        raise b.unread(call, f"has a padding mask of shape {mask.shape}; (batch, keys) has a rule")
    layout: lay.Layout = (
        (LayoutAxis(count, Role.BATCH),),
        (LayoutAxis(1, Role.CHANNEL),),
        (LayoutAxis(keys, Role.POSITION),),
    )
    return b.emit(Input(Hidden(function), 1), (), call.where, layout, gaussian=False).source


def read_masks(b: Builder, call: Call, pairs: Any, padding: Any) -> Masks:
    """Converts both masks of an attention layer; ``padding`` may depend on the data, ``pairs`` may not."""
    if padding is not None and not isinstance(padding, Fixed):
        raise b.unread(call, "has a padding mask that depends on parameters; one that depends on the data has a rule")
    return Masks(read_mask(b, call, pairs), padding)


def read_mask(b: Builder, call: Call, mask: Any) -> Tensor | None:
    """Returns the numbers that a mask adds to attention logits: zero for visible positions, -inf for hidden ones."""
    if mask is None:
        return None
    if not isinstance(mask, Fixed | Tensor) or (isinstance(mask, Fixed) and varies(mask)):
        raise b.unread(
            call, "has a mask of pairs that depends on the data; only a padding mask of keys may depend on the data"
        )
    found = mask if isinstance(mask, Tensor) else constant_value(b, mask)
    kind = mask.dtype if isinstance(mask, Tensor) else mask.node.meta["result"].dtype
    if found.dim() != 2:
        raise b.unread(call, f"has a mask of shape {tuple(found.shape)}; (queries, keys) has a rule")
    if kind is torch.bool:
        return torch.zeros(found.shape, dtype=torch.float64).masked_fill(found.bool(), float("-inf"))
    return found.double()


def _pack(b: Builder, call: Call, m: nn.MultiheadAttention) -> list[Weights]:
    """Returns the weights of queries, keys and values of attention: rows of one matrix, or three separate matrices."""
    bias = join(call.where, "in_proj_bias") if m.in_proj_bias is not None else None
    if bias:
        b.account(bias, call.where)
    trained = bias is not None and m.in_proj_bias.requires_grad
    if m.in_proj_weight is not None:
        path, std = join(call.where, "in_proj_weight"), sqrt(2 / (4 * m.embed_dim))
        b.account(path, call.where)
        own = (m.in_proj_weight.requires_grad, trained)
        return [
            Weights(f"{path}.{part}", "MultiheadAttention", path, bias, m.embed_dim, own, (std, 0.0))
            for part in ("query", "key", "value")
        ]
    found = []
    for part, size in (("q", m.embed_dim), ("k", m.kdim), ("v", m.vdim)):
        path, matrix = join(call.where, f"{part}_proj_weight"), getattr(m, f"{part}_proj_weight")
        b.account(path, call.where)
        drawn = (sqrt(2 / (m.embed_dim + size)), 0.0)
        own = (matrix.requires_grad, trained)
        found.append(Weights(path, "MultiheadAttention", path, bias, size, own, drawn))
    return found


def _out(b: Builder, call: Call, m: nn.MultiheadAttention) -> Weights:
    path, linear = join(call.where, "out_proj"), m.out_proj
    weight, bias = f"{path}.weight", f"{path}.bias" if linear.bias is not None else None
    for name in (weight, bias):
        if name:
            b.account(name, call.where)
    trained = (linear.weight.requires_grad, bias is not None and linear.bias.requires_grad)
    return Weights(path, "Linear", weight, bias, m.embed_dim, trained, (1 / sqrt(3 * m.embed_dim), 0.0))
