"""Converts BERT models of the package transformers layer by layer, because their forward chooses masks at run time.

    h = norm(word + position + segment 0),   then for each layer  h = norm(h + attend(h)),  h = norm(h + W_2 phi(W_1 h))
    pooled = tanh(W h[0] + b),   logits = V pooled + c                                                     (1)

All maps and tables are drawn from N(0, initializer_range^2) and biases are zero. Every token is seen by every other,
but for those that an attention mask of the data hides; there is one segment.
"""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.program import layout as lay
from gnomon.program.affine import dense, join
from gnomon.program.builder import Builder, extract
from gnomon.program.elementwise import elementwise
from gnomon.program.encoder import add_branch, part
from gnomon.program.layout import LayoutAxis, Role
from gnomon.program.multihead import padding_step
from gnomon.program.normalization import dropout, layer_norm
from gnomon.program.steps import MultiheadAttention, Reorder, Weights
from gnomon.program.tokens import Indicators, Places, table
from gnomon.program.values import Call, Fixed, Random

ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "gelu": ("gelu", {}),
    "gelu_new": ("gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("gelu", {"approximate": "tanh"}),
    "relu": ("relu", {}),
    "silu": ("silu", {}),
    "swish": ("silu", {}),
    "tanh": ("tanh", {}),
}


class Constant(nn.Module):
    """A module that returns BERT's segment indicators, which are one for every token: (n, positions, 1)."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, x: Tensor) -> Tensor:
        """Returns a tensor of ones for every token."""
        return torch.ones(len(x), self.count, 1, dtype=torch.float64, device=x.device)


class Unseen(nn.Module):
    """A module that returns True for each token that an attention mask hides (mask value zero)."""

    def __init__(self, function: nn.Module) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        """Returns a mask that is True for hidden tokens."""
        found: Tensor = self.function(x)
        return found == 0


def bert(b: Builder, call: Call) -> Random:
    """Converts BertForSequenceClassification, or BertModel up to its pooled output, to program steps."""
    m, tokens, mask = call.module, call.get(0, "input_ids"), call.get(1, "attention_mask")
    config = m.config
    others = [name for name, value in call.options.items() if name not in ("input_ids", "attention_mask")]
    if others or len(call.args) > 2:
        raise b.unread(call, f"is called with {others or 'three arguments'}; tokens and attention_mask have a rule")
    if config.is_decoder or config.hidden_act not in ACTIVATIONS:
        raise b.unread(
            call, f"is a decoder, or has the activation {config.hidden_act!r}; encoders with gelu have a rule"
        )
    if not isinstance(tokens, Fixed) or len(tokens.shape) != 2:
        raise b.unread(call, "takes tokens (batch, positions) that are data")
    body, where = (m.bert, join(call.where, "bert")) if hasattr(m, "bert") else (m, call.where)
    value = _embed(b, call, body.embeddings, join(where, "embeddings"), tokens)
    padding = _hide_padding(b, call, mask)
    for i, layer in enumerate(body.encoder.layer):
        value = _layer(b, call, layer, join(where, f"encoder.layer.{i}"), value, padding)
    if body is m and body.pooler is None:
        return value
    first = _first(b, call, value)
    pooled = _dense(b, call, body.pooler.dense, join(where, "pooler.dense"), first)
    pooled = _active(b, call, "tanh", {}, pooled)
    if body is m:
        return pooled
    pooled = dropout(b, part(call, "dropout", m.dropout, pooled))
    return _dense(b, call, m.classifier, join(call.where, "classifier"), pooled)


def _hide_padding(b: Builder, call: Call, mask: Any) -> tuple[int, ...]:
    """Adds a program step that hides padding tokens, if there is an attention mask; returns the index of the step, or
    ().
    """
    if mask is None:
        return ()
    if not isinstance(mask, Fixed):
        raise b.unread(
            call, "has an attention mask that depends on parameters; one that depends on the data has a rule"
        )
    return (padding_step(b, call, mask, Unseen(extract(b.root, b.graph, mask.node))),)


def _embed(b: Builder, call: Call, m: Any, where: str, tokens: Fixed) -> Any:
    """Adds the program steps for the normalized sum of BERT's three embedding tables."""
    count, size = tokens.shape[1], m.word_embeddings.embedding_dim
    words = m.word_embeddings
    functions = {
        "word_embeddings": Indicators(extract(b.root, b.graph, tokens.node), words.num_embeddings, words.padding_idx),
        "position_embeddings": Places(count),
        "token_type_embeddings": Constant(count),
    }
    rows = {"word_embeddings": words.num_embeddings, "position_embeddings": count, "token_type_embeddings": 1}
    total: Any = None
    for name, function in functions.items():
        weights = _weights(b, call, getattr(m, name), join(where, name), rows[name])
        made = table(b, function, weights, (b.batch, count, size), join(where, name))
        total = made if total is None else add_branch(b, call, total, made)
    return _normalize(b, call, m, where, total)


def _layer(b: Builder, call: Call, m: Any, where: str, value: Any, padding: tuple[int, ...]) -> Any:
    own, path = m.attention.self, join(where, "attention.self")
    if own.training and own.dropout.p:
        raise b.refuse(
            call, "drops entries of the attention", "masks act on infinitely many channels", "Call net.eval()"
        )
    value = b.flush(value, call)
    q, k, v = (_dense(b, call, getattr(own, n), join(path, n), value) for n in ("query", "key", "value"))
    mixed = b.emit(MultiheadAttention(None), (v.source, q.source, k.source, *padding), path, q.layout, gaussian=False)
    out, path = m.attention.output, join(where, "attention.output")
    value = _normalize(
        b, call, out, path, _sum(b, call, out, value, _dense(b, call, out.dense, join(path, "dense"), mixed))
    )
    name, options = ACTIVATIONS[call.module.config.hidden_act]
    hidden = _dense(b, call, m.intermediate.dense, join(where, "intermediate.dense"), value)
    hidden = _active(b, call, name, options, hidden)
    out, path = m.output, join(where, "output")
    made = _dense(b, call, out.dense, join(path, "dense"), hidden)
    return _normalize(b, call, out, path, _sum(b, call, out, b.flush(value, call), made))  # (1)


def _sum(b: Builder, call: Call, m: Any, value: Any, made: Any) -> Any:
    return add_branch(b, call, value, dropout(b, part(call, "dropout", m.dropout, made)))


def _normalize(b: Builder, call: Call, m: Any, where: str, value: Any) -> Any:
    spot = Call(call.node, "LayerNorm", join(where, "LayerNorm"), (value,), {}, m.LayerNorm, call.result)
    return layer_norm(b, spot)


def _active(b: Builder, call: Call, name: str, options: dict[str, Any], value: Any) -> Any:
    return elementwise(b, Call(call.node, name, call.where, (value,), options, None, call.result))


def _dense(b: Builder, call: Call, m: Any, where: str, value: Any) -> Random:
    return dense(b, call, value, _weights(b, call, m, where, m.in_features), m.out_features)


def _weights(b: Builder, call: Call, m: Any, where: str, fan_in: int) -> Weights:
    """Returns the description of a BERT layer's weights, with the initialization that transformers uses."""
    weight, bias = join(where, "weight"), join(where, "bias") if getattr(m, "bias", None) is not None else None
    for path in (weight, bias):
        if path:
            b.account(path, where)
    trained = (m.weight.requires_grad, bias is not None and m.bias.requires_grad)
    return Weights(where, "Bert", weight, bias, fan_in, trained, (float(call.module.config.initializer_range), 0.0))


def _first(b: Builder, call: Call, value: Any) -> Random:
    """Adds a program step that selects the first token, [CLS]."""
    value = b.flush(value, call)
    layout: lay.Layout = (value.layout[0], (LayoutAxis(lay.channels(value.layout), Role.CHANNEL),))
    gaussian = b.steps[value.source].gaussian
    return b.emit(Reorder(torch.tensor([0]), ()), (value.source,), call.where, layout, gaussian=gaussian)
