"""Measures over how many positions attention heads spread, and whether tokens become more similar with depth.

    H[h] = mean over queries of -sum_s A[t, s] log A[t, s] / log(number of keys)                           (1)
    r_l  = |X_l - 1 mean(X_l)| / |X_l|     over the tokens that enter attention l                          (2)

(1) is 1 for a head that averages all positions, and 0 for a head that looks at one. (2) falls doubly exponentially with
depth if attention has no skip connections [dong2021attention].
"""

from dataclasses import dataclass, field
from math import log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.results import Axis, Bars, Finding, Line, Plot, Result, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import structured as kinds
from gnomon.sequences.batch import first_examples
from gnomon.sequences.observe import observe_attention

__all__ = ["AttentionMaps", "attention_maps"]

MIN_RELATIVE_DISTANCE = 0.05
"""Tokens that differ by less than this share of their size carry the same information."""


@dataclass(frozen=True, slots=True)
class AttentionMaps(Result):
    """Result: attention maps, the entropy of each head, and how different the tokens are, layer by layer.

    See equations (1) and (2) of the module docstring.
    ``maps`` has one tensor (n, heads, queries, keys) for each layer; ``rank`` is the mean number of singular values of
    a map above 0.01; the largest is at least 1, because each row of a map sums to 1.

    >>> AttentionMaps(("0",), ((0.5, 1.0),), (2.0,), (0.75,), ()).findings
    ()
    """

    layers: tuple[str, ...]
    entropy: tuple[tuple[float, ...], ...]
    rank: tuple[float, ...]
    difference: tuple[float, ...]
    maps: tuple[Tensor, ...] = field(metadata=HIDDEN_IN_JSON, repr=False)

    @property
    def verdict(self) -> str:
        """States over how many positions attention heads spread, and how different the tokens are at the last layer."""
        flat = [e for row in self.entropy for e in row]
        first, last = f"{self.difference[0]:.0%}", f"{self.difference[-1]:.0%}"
        low, high = f"{min(flat):.0%}", f"{max(flat):.0%}"
        heads = "The attention head has" if len(flat) == 1 else f"The {len(flat)} attention heads have"
        places = f"{first} of their size" if first == last else (
            f"{first} of their size at the first attention and by {last} at the last"
        )  # fmt: skip
        return (
            f"{heads} an attention entropy of {low if low == high else f'{low} to {high}'} of the largest possible "
            f"entropy (100 %: even attention to all tokens). The tokens of a sequence differ by {places}; near 0 % all "
            "tokens would carry the same information."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the tokens have become nearly equal at some layer."""
        worst = min(range(len(self.layers)), key=self.difference.__getitem__)
        if self.difference[worst] >= MIN_RELATIVE_DISTANCE or self.difference[0] < MIN_RELATIVE_DISTANCE:
            return ()
        values = {"difference": self.difference[worst]}
        evidence = (Value("difference of tokens", self.difference[worst]),)
        return (Finding(kinds.TOKENS_ALIKE, self.layers[worst], values, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the entropy of each attention head, and the difference between tokens by layer."""
        names = [
            f"{name} head {i}" for name, row in zip(self.layers, self.entropy, strict=True) for i in range(len(row))
        ]
        bars = Bars("entropy", names, [e for row in self.entropy for e in row])
        line = Line("difference", list(range(len(self.layers))), list(self.difference))
        return (
            Plot(
                "How widely heads look",
                (bars,),
                Axis("entropy / log(number of keys)"),
                caption="At 1 a head attends evenly to all tokens, at 0 to a single one.",
                id="how-widely-heads-look",
            ),
            Plot(
                "Difference of tokens",
                (line,),
                Axis("attention layer"),
                Axis("relative difference", log=True),
                "How much the tokens of a sequence differ before each attention layer, relative to their size; near 0 "
                "all tokens carry the same information.",
                id="difference-of-tokens",
            ),
        )


@add_call_to_errors
def attention_maps(module: nn.Module, data: Any) -> AttentionMaps:
    """Returns the attention maps of every attention layer of a network, on a batch of inputs.

    Finds ``nn.MultiheadAttention``, ``scaled_dot_product_attention``, and any product of a softmax with values, so
    that networks of other libraries need no changes.
    Hypotheses: attention computes softmax(q k^T) v; linear attention has no maps.
    Reference: [dong2021attention].
    Cost: one forward pass; memory for n x heads x keys^2 numbers per layer.

    >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> attention_maps(layer, torch.randn(3, 5, 8)).maps[0].shape
    torch.Size([3, 2, 5, 5])
    """
    check_module(module)
    calls = observe_attention(module, first_examples(data, module))
    return AttentionMaps(
        tuple(call.name for call in calls),
        tuple(tuple(_entropy(call.weights).tolist()) for call in calls),
        tuple(float((torch.linalg.svdvals(call.weights.double()) > 0.01).double().sum(-1).mean()) for call in calls),
        tuple(_difference(call.tokens) for call in calls),
        tuple(call.weights for call in calls),
    )


def _entropy(a: Tensor) -> Tensor:
    """Returns the entropy of each attention head's weights, from 0 (one position) to 1 (uniform).

    See equation (1) of the module docstring.
    """
    h = -(a * a.clamp(min=1e-30).log()).sum(-1) / max(log(a.shape[-1]), 1e-12)
    return h.double().mean((0, 2))  # (1)


def _difference(tokens: Tensor) -> float:
    tokens = tokens.double()
    return float((tokens - tokens.mean(-2, keepdim=True)).norm() / tokens.norm())  # (2)
