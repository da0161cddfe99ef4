"""Converts self-attention to program steps: a map to values, a fixed mixing of the tokens, and an output map."""

from gnomon.core.modules.attention import AttentionLayout
from gnomon.program import layout as lay
from gnomon.program.affine import dense, read_weights
from gnomon.program.builder import Builder
from gnomon.program.layout import Role
from gnomon.program.steps import DeterministicAttention
from gnomon.program.values import Call, Fixed, Random


def self_attention(b: Builder, call: Call) -> Random:
    """Converts self-attention to program steps; with many heads its attention weights are fixed, so it mixes tokens
    linearly.
    """
    form: AttentionLayout = call.module.attention_form
    value = call.args[0]
    parts = {name: call.module.get_submodule(name) for name in (form.query_key, form.value, form.out)}
    if isinstance(value, Fixed):
        value = b.enter(value, len(value.shape) - 1, call.where)
    value = b.flush(value, call)
    if [{a.role for a in d} for d in value.layout] != [{Role.BATCH}, {Role.POSITION}, {Role.CHANNEL}]:
        raise b.unread(call, f"receives shape {lay.shape_of(value.layout)}; it takes (batch, positions, channels)")
    weights = {name: read_weights(b, part, f"{call.where}.{name}") for name, part in parts.items()}
    v = dense(b, call, value, weights[form.value], parts[form.value].out_features)
    mixed = b.emit(
        DeterministicAttention(weights[form.query_key]), (v.source, value.source), call.where, v.layout, gaussian=True
    )
    return dense(b, call, mixed, weights[form.out], parts[form.out].out_features)
