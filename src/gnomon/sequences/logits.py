"""Measures how large attention logits are; if too large, softmax picks one position and passes no gradient.

    scale[h] = standard deviation of q.k / sqrt(d_k) over keys, at the mean over queries                   (1)
    top[h]   = mean over queries of the largest weight

Queries and keys with entries of variance one give a scale of one; without the factor 1/sqrt(d_k) it is sqrt(d_k).
Reference: [vaswani2017attention].
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Finding, Plot, Reference, Result, Value
from gnomon.findings import structured as kinds

__all__ = ["LogitScale", "logit_scale"]

MAX_EXAMPLES = 16
"""Maximum number of sequences used."""
SATURATED_WEIGHT = 0.99
"""Mean largest weight above which a softmax passes less than a hundredth of its gradient: p (1 - p) < 0.01."""
MIN_KEYS = 4
"""With at most this number of keys, one key may have nearly all of the weight without being a problem."""


@dataclass(frozen=True, slots=True)
class LogitScale(Result):
    """Result: the size of the attention logits and the mean largest attention weight of every head.

    See equation (1) of the module docstring.

    >>> LogitScale(("attention",), ((1.0, 0.5),), ((0.4, 0.3),), (8,)).findings
    ()
    """

    layers: tuple[str, ...]
    scale: tuple[tuple[float, ...], ...]
    top: tuple[tuple[float, ...], ...]
    keys: tuple[int, ...]

    @property
    def verdict(self) -> str:
        """States the range of attention logit sizes over all heads, in one sentence."""
        flat = [s for row in self.scale for s in row]
        high = max(t for row in self.top for t in row)
        return (
            f"The attention logits of {len(flat)} heads have scales of {min(flat):.2g} to {max(flat):.2g}; the "
            f"largest attention weight is "
            f"{high:.2g}."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding for each layer in which every attention head attends to a single position."""
        found = []
        for name, scale, top, keys in zip(self.layers, self.scale, self.top, self.keys, strict=True):
            if keys > MIN_KEYS and min(top) > SATURATED_WEIGHT:
                values = {"top": min(top), "keys": keys}
                found.append(Finding(kinds.ATTENTION_SATURATED, name, values, (Value("logit scale", max(scale)),)))
        return tuple(found)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the size of each attention head's logits as a bar."""
        names = [f"{name} head {i}" for name, row in zip(self.layers, self.scale, strict=True) for i in range(len(row))]
        bars = Bars("scale", names, [s for row in self.scale for s in row])
        marks = (bars, Reference("queries and keys of variance one", 1.0, vertical=True))
        return (Plot("Scale of the logits", marks, Axis("standard deviation of the logits")),)


@add_call_to_errors
def logit_scale(module: nn.Module, data: Any) -> LogitScale:
    """Measures the size of the attention logits of every nn.MultiheadAttention in a network on data.

    See equation (1) of the module docstring.

    Args:
        module: a network with nn.MultiheadAttention, also inside nn.TransformerEncoderLayer.
        data: inputs, or a data set; the first 16 examples are used.

    Hypotheses: masks hide positions and do not shift logits; hidden positions still count in the scale.
    Reference: [vaswani2017attention].
    Cost: one forward pass, and computing the logits of every layer a second time.

    >>> layer = nn.MultiheadAttention(8, 2, batch_first=True)
    >>> class Attend(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.a = layer
    ...     def forward(self, x):
    ...         return self.a(x, x, x)[0]
    >>> _ = layer.in_proj_weight.data.zero_()
    >>> logit_scale(Attend(), torch.randn(3, 5, 8)).top                             # equal weights of five keys
    ((0.2, 0.2),)
    """
    check_module(module)
    found = [(name, m) for name, m in module.named_modules() if isinstance(m, nn.MultiheadAttention)]
    if not found:
        what = f"{type(module).__name__} contains no nn.MultiheadAttention"
        raise InputError(what, accepted="at least one nn.MultiheadAttention", fix="Pass a network that has one")
    inputs = as_input_source(data, module).first(MAX_EXAMPLES).x
    seen: dict[str, tuple[Tensor, Tensor]] = {}
    with preserve(module):
        hooks = [m.register_forward_pre_hook(_watch(name, m, seen), with_kwargs=True) for name, m in found]
        try:
            with torch.enable_grad():  # Without gradients, torch's fused path would skip the attention module.
                run_module(module, inputs)
        finally:
            for hook in hooks:
                hook.remove()
    names = [name for name, _ in found if name in seen]
    if not names:
        raise InputError(
            "forward never calls an attention layer",
            accepted="at least one call",
            fix="Pass inputs for which forward calls attention",
        )
    return LogitScale(
        tuple(names),
        tuple(_round_all(seen[n][0].double().std(-1, correction=0).mean((0, 2))) for n in names),  # (1)
        tuple(_round_all(seen[n][1].double().amax(-1).mean((0, 2))) for n in names),
        tuple(seen[n][0].shape[-1] for n in names),
    )


def _round_all(values: Tensor) -> tuple[float, ...]:
    return tuple(round(v, 6) for v in values.tolist())


def _watch(name: str, m: nn.MultiheadAttention, seen: dict[str, tuple[Tensor, Tensor]]) -> Any:
    def hook(_: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        query, key = (args[i] if len(args) > i else options[k] for i, k in enumerate(("query", "key")))
        with torch.no_grad():
            weights = m.forward(*args[:4], **{**options, "need_weights": True, "average_attn_weights": False})[1]
            q, k = (t if m.batch_first or t.dim() < 3 else t.transpose(0, 1) for t in (query.detach(), key.detach()))
            assert weights is not None  # need_weights=True makes attention return its weights.
            seen[name] = (_logits(m, q, k), weights.detach().reshape(-1, *weights.shape[-3:]))

    return hook


def _logits(m: nn.MultiheadAttention, query: Tensor, key: Tensor) -> Tensor:
    """Returns the attention logits q.k / sqrt(d_k), of shape (n, heads, queries, keys)."""
    d = m.embed_dim
    if m.in_proj_weight is not None:
        wq, wk = m.in_proj_weight[:d], m.in_proj_weight[d : 2 * d]
    else:
        wq, wk = m.q_proj_weight, m.k_proj_weight
    bias = m.in_proj_bias
    q = nn.functional.linear(query, wq, None if bias is None else bias[:d])
    k = nn.functional.linear(key, wk, None if bias is None else bias[d : 2 * d])
    q, k = (t.reshape(*t.shape[:-1], m.num_heads, m.head_dim).transpose(-3, -2) for t in (q, k))
    found = q @ k.transpose(-1, -2) / sqrt(m.head_dim)
    return found if found.dim() == 4 else found.unsqueeze(0)
