"""Reading nn.TransformerEncoderLayer and nn.TransformerEncoder, from the parts that have rules of their own.

norm_first:  x + attend(norm1(x)), then x + W_2 phi(W_1 norm2(x))                                     (1)
else:        norm1(x + attend(x)), then norm2(x + W_2 phi(W_1 x))                                     (2)
"""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.program.affine import linear
from gnomon.program.branches import add
from gnomon.program.builder import Builder
from gnomon.program.elementwise import activation_module, elementwise
from gnomon.program.multihead import attend, read_mask
from gnomon.program.normalization import dropout, layer_norm
from gnomon.program.values import Call, Fixed, Random


def encoder_layer(b: Builder, call: Call) -> Random:
    """One nn.TransformerEncoderLayer(src, src_mask)."""
    if call.get(2, "src_key_padding_mask") is not None:
        raise b.unread(call, "is given a src_key_padding_mask; masks that are the same for all inputs have a rule")
    mask = read_mask(b, call, call.get(1, "src_mask"))
    return _layer(b, call, call.args[0], mask)


def encoder(b: Builder, call: Call) -> Any:
    """nn.TransformerEncoder(src, mask): its layers one after the other, and the norm at the end."""
    if call.get(2, "src_key_padding_mask") is not None:
        raise b.unread(call, "is given a src_key_padding_mask; masks that are the same for all inputs have a rule")
    module, value = call.module, call.args[0]
    mask = read_mask(b, call, call.get(1, "mask"))
    _check_drawn(b, call, module)
    for i, layer in enumerate(module.layers):
        value = _layer(b, _part(call, f"layers.{i}", layer, value), value, mask)
    return value if module.norm is None else layer_norm(b, _part(call, "norm", module.norm, value))


def _check_drawn(b: Builder, call: Call, module: nn.TransformerEncoder) -> None:
    """PyTorch makes the layers as copies of one, with equal weights: that is weight sharing across depth."""
    first = [layer.linear1.weight for layer in module.layers if isinstance(layer, nn.TransformerEncoderLayer)]
    if any(torch.equal(a, c) for a, c in zip(first[:-1], first[1:], strict=True) if not a.is_meta):
        raise b.refuse(
            call,
            "has layers with equal weights: nn.TransformerEncoder copies the layer that it is given",
            "independent weights in every layer: no weight sharing across depth",
            "Draw them anew: for p in net.parameters(): p.dim() > 1 and torch.nn.init.xavier_uniform_(p), and pass "
            'init="measured"',
        )


def _layer(b: Builder, call: Call, value: Any, mask: Tensor | None) -> Random:
    m = call.module
    if type(m).forward is not nn.TransformerEncoderLayer.forward:
        raise b.unread(call, f"is a {type(m).__name__} with a forward of its own")
    if m.norm_first:
        value = _sum(b, call, value, _attention(b, call, _norm(b, call, "norm1", value), mask))
        return _sum(b, call, value, _feed(b, call, _norm(b, call, "norm2", value)))  # (1)
    value = _norm(b, call, "norm1", _sum(b, call, value, _attention(b, call, value, mask)))
    return _norm(b, call, "norm2", _sum(b, call, value, _feed(b, call, value)))  # (2)


def _norm(b: Builder, call: Call, name: str, value: Any) -> Any:
    return layer_norm(b, _part(call, name, getattr(call.module, name), value))


def _attention(b: Builder, call: Call, value: Any, mask: Tensor | None) -> Any:
    out = attend(b, _part(call, "self_attn", call.module.self_attn, value), [value] * 3, mask)
    return dropout(b, _part(call, "dropout1", call.module.dropout1, out))


def _feed(b: Builder, call: Call, value: Any) -> Any:
    m = call.module
    hidden = linear(b, _part(call, "linear1", m.linear1, value))
    phi = m.activation
    if isinstance(phi, nn.Module):
        active = activation_module(b, _part(call, "activation", phi, hidden))
    else:
        name = getattr(phi, "__name__", str(phi))
        active = elementwise(b, Call(call.node, name, f"{call.where}.activation", (hidden,), {}, None, call.result))
    dropped = dropout(b, _part(call, "dropout", m.dropout, active))
    return dropout(b, _part(call, "dropout2", m.dropout2, linear(b, _part(call, "linear2", m.linear2, dropped))))


def _sum(b: Builder, call: Call, x: Any, y: Random) -> Random:
    if isinstance(x, Fixed):
        x = b.enter(x, len(x.shape) - 1, call.where)
    return add(b, Call(call.node, "add", f"{call.where}.add", (x, y), {}, None, call.result))


def _part(call: Call, name: str, module: Any, value: Any) -> Call:
    """The call of one part on one value."""
    where = f"{call.where}.{name}" if call.where else name
    return Call(call.node, type(module).__name__, where, (value,), {}, module, call.result)
