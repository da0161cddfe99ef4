"""Runs attribution methods on a network for tokens, and shows which tokens matter and how classes separate.

    share_v = sum over places t with token v of |A_t| / sum over all places of |A_t|                             (1)

A_t are integrated gradients through the embedding (`token_attribution`). For modules without an embedding, A_t is the
drop of the output if a token is covered.
Hypotheses: tokens as whole numbers (n, length).
Reference: [sundararajan2017axiomatic].
Cost: about 50 forward and backward passes of `MAX_EXAMPLES` sequences, twice that for the sanity check, and a probe
of each layer.

>>> import torch
>>> net = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 2))
>>> net[2].weight.data[:, 3:] = 0                                                 # it reads the first token only
>>> tokens = torch.randint(5, (40, 2), generator=torch.Generator().manual_seed(0))
>>> sheet = token_attribution_overview(net, (tokens, (tokens[:, 0] > 2).long()))
>>> sheet.lines[0].startswith("[")                                               # brackets: half of the attribution
True
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from gnomon.attribution.layers import one_tensor
from gnomon.attribution.occlusion import occlusion
from gnomon.attribution.probes import LayerProbeReport, layer_probe
from gnomon.attribution.record import Attribution
from gnomon.attribution.sanity import SanityCheck, sanity_check
from gnomon.attribution.tokens import token_attribution
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.source import data_source
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["TokenAttributionOverview", "token_attribution_overview"]

MAX_EXAMPLES = 32
"""Maximum number of sequences used."""
SHOWN_TOKENS = 12
"""Maximum number of tokens in the plot."""
BRACKETED_SHARE = 0.5
"""Share of an example's attribution that the tokens in brackets carry together."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenAttributionOverview(Result):
    """Result: attributions of tokens in some sequences, their sanity check, totals by token, and layer probes."""

    attribution: Attribution
    sanity: SanityCheck
    shares: dict[str, float]
    lines: tuple[str, ...]
    probes: LayerProbeReport

    @property
    def verdict(self) -> str:
        """States the tokens that matter most and the results of the layer probes in a few sentences."""
        first = ", ".join(f"'{word}' {share:.0%}" for word, share in list(self.shares.items())[:3])
        doubt = (
            ""
            if self.sanity.depends_on_model
            else " These attributions hardly change if the weights are shuffled, so they do not explain the network."
        )
        return f"Tokens with the largest share of the attribution: {first}.{doubt} {self.probes.verdict}"

    def plots(self) -> tuple[Plot, ...]:
        """Plots the tokens with the largest fraction of the attribution, and the layer probes."""
        top = list(self.shares.items())[:SHOWN_TOKENS]
        words = (
            "Tokens that carry most of the attribution, summed over the sequences. In these examples the tokens in "
            f"brackets carry half of it: {' / '.join(self.lines[:3])}."
        )
        bars = Bars("share of attribution", [word for word, _ in top], [share for _, share in top])
        return (
            Plot(
                "Which tokens the network looks at",
                (bars,),
                Axis("share of the attribution"),
                caption=words,
                id="which-tokens-the-network-looks-at",
            ),
            *self.probes.plots(),
        )


@add_call_to_errors
def token_attribution_overview(
    module: nn.Module, data: Any, *, words: Sequence[str] | None = None, seed: int = 0
) -> TokenAttributionOverview:
    """Runs the attribution methods for tokens on one model and its data; ``words`` has the names of the tokens.

    Hypotheses: see the module.
    Reference: [sundararajan2017axiomatic].
    Cost: see the module.

    >>> import torch
    >>> net = nn.Sequential(nn.Embedding(3, 3), nn.Flatten(), nn.Linear(6, 2))
    >>> tokens, classes = torch.tensor([[0, 1], [2, 0]] * 20), torch.tensor([0, 1] * 20)
    >>> sheet = token_attribution_overview(net, (tokens, classes), words=["a", "b", "c"])
    >>> sorted(sheet.shares), round(sum(sheet.shares.values()), 6)
    (['a', 'b', 'c'], 1.0)
    """
    given = data_source(data, module=module)
    tokens = one_tensor(given.probe(MAX_EXAMPLES, seed=seed).x, module, whole=True)
    if tokens.is_floating_point() or tokens.dim() != 2:
        fix = "Pass whole numbers (n, length); for pixels and columns use attribution_overview"
        raise InputError(f"x is {tokens.dtype} of {tokens.dim()} axes", accepted="integer tokens (n, length)", fix=fix)
    if words is not None and len(words) <= int(tokens.max()):
        found = f"there are {len(words)} words and a token {int(tokens.max())}"
        raise InputError(
            found, accepted="a word for each token", fix="Pass words with one entry for each token number, in order"
        )
    method = _method(module, tokens)
    attribution = method(module, tokens, None)
    names = [[words[i] if words is not None else str(i) for i in row] for row in tokens.tolist()]
    size = attribution.values.abs().double().cpu()
    shares: dict[str, float] = {}
    for row, values in zip(names, (size / size.sum().clamp(min=1e-300)).tolist(), strict=True):
        for name, value in zip(row, values, strict=True):
            shares[name] = shares.get(name, 0.0) + value  # (1)
    ranked = dict(sorted(shares.items(), key=lambda pair: -pair[1]))
    lines = tuple(_line(row, values) for row, values in zip(names, size, strict=True))
    sane = sanity_check(method, module, tokens, draws=1, seed=seed)
    return TokenAttributionOverview(attribution, sane, ranked, lines, layer_probe(module, given, seed=seed))


def _method(module: nn.Module, tokens: Tensor) -> Any:
    """Chooses the attribution method: integrated gradients if one embedding reads the tokens, otherwise occlusion."""
    try:
        token_attribution(module, tokens[:1], path_points=1)
    except InputError:
        return occlusion
    return token_attribution


def _line(names: list[str], sizes: Tensor) -> str:
    """Returns a sequence as text, with brackets around the few tokens that have half of the attribution."""
    order = sizes.argsort(descending=True)
    before = sizes[order].cumsum(0) - sizes[order]
    marked = set(order[before < BRACKETED_SHARE * sizes.sum()].tolist())
    return " ".join(f"[{name}]" if i in marked else name for i, name in enumerate(names))
