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

from gnomon.core.errors import InputError, names_call
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run
from gnomon.core.results import Axis, Bars, Finding, Line, Plot, Result, Value
from gnomon.core.results.plain import HIDDEN
from gnomon.findings import structured as kinds
from gnomon.sequences.batch import first_examples

__all__ = ["AttentionMaps", "attention_maps"]

MIN_RELATIVE_DISTANCE = 0.05
"""Tokens that differ by less than this share of their size carry the same information."""


@dataclass(frozen=True, slots=True)
class AttentionMaps(Result):
    """Result: attention maps, the entropy of each head, and how different the tokens are, layer by layer.

    See equations (1) and (2) of the module docstring.
    ``maps`` has one tensor (n, heads, queries, keys) for each layer; ``rank`` is the mean number of singular values of
    a map above one hundredth of the largest singular value.

    >>> AttentionMaps(("0",), ((0.5, 1.0),), (2.0,), (0.75,), ()).findings
    ()
    """

    layers: tuple[str, ...]
    entropy: tuple[tuple[float, ...], ...]
    rank: tuple[float, ...]
    difference: tuple[float, ...]
    maps: tuple[Tensor, ...] = field(metadata=HIDDEN, repr=False)

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


@names_call
def attention_maps(module: nn.Module, data: Any) -> AttentionMaps:
    """Returns the attention maps of every nn.MultiheadAttention in a network, on a batch of inputs.

    Hypotheses: attention is an nn.MultiheadAttention, also inside nn.TransformerEncoderLayer.
    Reference: [dong2021attention].
    Cost: two forward passes; memory for n x heads x keys^2 numbers per layer.

    >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> attention_maps(layer, torch.randn(3, 5, 8)).maps[0].shape
    torch.Size([3, 2, 5, 5])
    """
    check_module(module)
    found = [(name, m) for name, m in module.named_modules() if isinstance(m, nn.MultiheadAttention)]
    if not found:
        what = f"{type(module).__name__} contains no nn.MultiheadAttention"
        raise InputError(what, accepted="at least one nn.MultiheadAttention", fix="Pass a network that has one")
    x = first_examples(data, module)
    seen: dict[str, tuple[Tensor, Tensor]] = {}
    with preserve(module):
        hooks = [m.register_forward_pre_hook(_watch(name, m, seen), with_kwargs=True) for name, m in found]
        try:
            with torch.enable_grad():  # Without gradients, torch's fused path would skip the attention module.
                run(module, x)
        finally:
            for hook in hooks:
                hook.remove()
    names = tuple(name for name, _ in found if name in seen)
    if not names:
        raise InputError(
            "forward never calls an attention layer",
            accepted="at least one call",
            fix="Pass inputs for which forward calls attention",
        )
    maps = tuple(seen[n][0] for n in names)
    return AttentionMaps(
        names,
        tuple(tuple(_entropy(a).tolist()) for a in maps),
        tuple(float((torch.linalg.svdvals(a.double()) > 0.01).double().sum(-1).mean()) for a in maps),
        tuple(_difference(seen[n][1]) for n in names),
        maps,
    )


def _watch(name: str, m: nn.MultiheadAttention, seen: dict[str, tuple[Tensor, Tensor]]) -> Any:
    def hook(_: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        told = {**options, "need_weights": True, "average_attn_weights": False}
        with torch.no_grad():
            weights = m.forward(*args[:4], **told)[1]
        assert weights is not None  # need_weights=True makes attention return its weights.
        query = args[0] if args else options["query"]
        tokens = query.detach() if m.batch_first or query.dim() < 3 else query.detach().transpose(0, 1)
        # Adds a batch axis to the weights if the input was a single sequence.
        seen[name] = (weights.detach().reshape(-1, *weights.shape[-3:]), tokens)

    return hook


def _entropy(a: Tensor) -> Tensor:
    """Returns the entropy of each attention head's weights, from 0 (one position) to 1 (uniform).

    See equation (1) of the module docstring.
    """
    h = -(a * a.clamp(min=1e-30).log()).sum(-1) / max(log(a.shape[-1]), 1e-12)
    return h.double().mean((0, 2))  # (1)


def _difference(tokens: Tensor) -> float:
    tokens = tokens.double()
    return float((tokens - tokens.mean(-2, keepdim=True)).norm() / tokens.norm())  # (2)
