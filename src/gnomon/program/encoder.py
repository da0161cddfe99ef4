"""Converts nn.TransformerEncoderLayer and nn.TransformerEncoder to program steps, part by part.

norm_first:  x + attend(norm1(x)), then x + W_2 phi(W_1 norm2(x))                                     (1)
else:        norm1(x + attend(x)), then norm2(x + W_2 phi(W_1 x))                                     (2)
"""

from typing import Any

import torch
from torch import nn

from gnomon.program.affine import linear
from gnomon.program.branches import add
from gnomon.program.builder import Builder
from gnomon.program.elementwise import activation_module, elementwise
from gnomon.program.multihead import Masks, attend, read_masks
from gnomon.program.normalization import dropout, layer_norm
from gnomon.program.values import Call, Fixed, Random


def encoder_layer(b: Builder, call: Call) -> Random:
    """Converts one nn.TransformerEncoderLayer(src, src_mask, src_key_padding_mask) to program steps."""
    masks = read_masks(b, call, call.get(1, "src_mask"), call.get(2, "src_key_padding_mask"))
    return _layer(b, call, call.args[0], masks)


def encoder(b: Builder, call: Call) -> Any:
    """Converts nn.TransformerEncoder(src, mask, src_key_padding_mask): its layers in order, then the final norm."""
    module, value = call.module, call.args[0]
    masks = read_masks(b, call, call.get(1, "mask"), call.get(2, "src_key_padding_mask"))
    _note_copies(b, call, module)
    for i, layer in enumerate(module.layers):
        value = _layer(b, part(call, f"layers.{i}", layer, value), value, masks)
    return value if module.norm is None else layer_norm(b, part(call, "norm", module.norm, value))


def _note_copies(b: Builder, call: Call, module: nn.TransformerEncoder) -> None:
    """Adds a note if encoder layers start as copies of one layer, because gnomon treats their weights as
    independent.
    """
    first = [layer.linear1.weight for layer in module.layers if isinstance(layer, nn.TransformerEncoderLayer)]
    if any(torch.equal(a, c) for a, c in zip(first[:-1], first[1:], strict=True) if not a.is_meta):
        b.notes.append(
            f"'{call.where or type(module).__name__}' has layers with equal values, copies of one layer; "
            "the limit assumes layers drawn independently with the same law."
        )


def _layer(b: Builder, call: Call, value: Any, masks: Masks) -> Random:
    m = call.module
    if type(m).forward is not nn.TransformerEncoderLayer.forward:
        raise b.unread(call, f"is a {type(m).__name__} with its own forward")
    if m.norm_first:
        value = add_branch(b, call, value, _attention(b, call, _norm(b, call, "norm1", value), masks))
        return add_branch(b, call, value, _feed(b, call, _norm(b, call, "norm2", value)))  # (1)
    value = _norm(b, call, "norm1", add_branch(b, call, value, _attention(b, call, value, masks)))
    return _norm(b, call, "norm2", add_branch(b, call, value, _feed(b, call, value)))  # (2)


def _norm(b: Builder, call: Call, name: str, value: Any) -> Any:
    return layer_norm(b, part(call, name, getattr(call.module, name), value))


def _attention(b: Builder, call: Call, value: Any, masks: Masks) -> Any:
    out = attend(b, part(call, "self_attn", call.module.self_attn, value), [value] * 3, masks)
    return dropout(b, part(call, "dropout1", call.module.dropout1, out))


def _feed(b: Builder, call: Call, value: Any) -> Any:
    m = call.module
    hidden = linear(b, part(call, "linear1", m.linear1, value))
    phi = m.activation
    if isinstance(phi, nn.Module):
        active = activation_module(b, part(call, "activation", phi, hidden))
    else:
        name = getattr(phi, "__name__", str(phi))
        active = elementwise(b, Call(call.node, name, f"{call.where}.activation", (hidden,), {}, None, call.result))
    dropped = dropout(b, part(call, "dropout", m.dropout, active))
    return dropout(b, part(call, "dropout2", m.dropout2, linear(b, part(call, "linear2", m.linear2, dropped))))


def add_branch(b: Builder, call: Call, x: Any, y: Random) -> Random:
    """Adds the outputs of the two branches of a residual block."""
    if isinstance(x, Fixed):
        x = b.enter(x, len(x.shape) - 1, call.where)
    return add(b, Call(call.node, "add", f"{call.where}.add", (x, y), {}, None, call.result))


def part(call: Call, name: str, module: Any, value: Any) -> Call:
    """Returns a record of the call of one submodule on one tensor."""
    where = f"{call.where}.{name}" if call.where else name
    return Call(call.node, type(module).__name__, where, (value,), {}, module, call.result)
