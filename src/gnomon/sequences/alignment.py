"""Measures whether attention heads attend to expected positions, such as the previous token.

    alignment = share of queries t with argmax_s A[t, s] = place(t)                                        (1)

over examples, for each head. If no places are given, the pattern that most queries follow is chosen from

    place(t) = t + o for an offset o,    place(t) = c - t,    place(t) = c for one place c                 (2)

If places are given, (1) is 1 / keys by chance. The best of many patterns agrees more often by chance. Its baseline is
the mean over `RANDOM_DRAWS` random attention maps, whose largest weight is at a random position.
Reference: [bahdanau2015neural].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Bars, Plot, Reference, Result
from gnomon.sequences.attention import attention_maps

__all__ = ["AttentionAlignment", "alignment_share", "attention_alignment"]

RANDOM_DRAWS = 20
"""Random attention maps whose mean alignment is the baseline."""


@dataclass(frozen=True, slots=True)
class AttentionAlignment(Result):
    """Result: how often each attention head attends to its expected position, and the pattern that it follows.

    See equation (1) of the module docstring.

    >>> AttentionAlignment({"a": (0.2, 1.0)}, {"a": ("same place", "mirrored")}, 0.125).best
    ('a', 1)
    """

    shares: dict[str, tuple[float, ...]]
    patterns: dict[str, tuple[str, ...]]
    chance: float

    @property
    def best(self) -> tuple[str, int]:
        """Returns the attention module and the index of the head that attends most often to its expected position."""
        return max(((name, i) for name, row in self.shares.items() for i in range(len(row))),
                   key=lambda at: self.shares[at[0]][at[1]])  # fmt: skip

    @property
    def verdict(self) -> str:
        """Names the attention head that attends most often to its expected position."""
        name, i = self.best
        looks = f"Head {i} of '{name}'" if name else f"Head {i}"
        share = f"{self.shares[name][i]:.0%} of queries"
        place = f"the expected place ({self.patterns[name][i]})"
        return f"{looks} attends to {place} in {share} (chance: {self.chance:.0%})."

    def plots(self) -> tuple[Plot, ...]:
        """Plots for each attention head how often it attends to its expected position."""
        names = [f"{name} head {i}" for name, row in self.shares.items() for i in range(len(row))]
        bars = Bars("alignment", names, [s for row in self.shares.values() for s in row])
        marks = (bars, Reference("chance", self.chance, vertical=True))
        return (Plot("Attention at the expected place", marks, Axis("share of the attention")),)


@add_call_to_errors
def attention_alignment(module: nn.Module, data: Any, *, places: Sequence[int] | None = None) -> AttentionAlignment:
    """Measures how often the attention heads of a network attend to expected positions, such as the previous token.

    See equations (1) and (2) of the module docstring.

    Args:
        module: a network with attention, of any library (`attention_maps`).
        data: inputs.
        places: the key that each query should look at, -1 if any key is right; None searches for a pattern (2).

    Hypotheses: there is one place for each query.
    Reference: [bahdanau2015neural].
    Cost: one call of `attention_maps`; without ``places`` also `RANDOM_DRAWS` random alignments.

    >>> layer = nn.MultiheadAttention(4, 1, batch_first=True)
    >>> _ = layer.in_proj_weight.data.copy_(torch.cat([9 * torch.eye(4)] * 3))            # each token finds itself
    >>> class Net(nn.Module):
    ...     def __init__(self): super().__init__(); self.a = layer
    ...     def forward(self, x): return self.a(x, x, x)[0]
    >>> found = attention_alignment(Net(), torch.eye(4)[None])
    >>> found.shares, found.patterns
    ({'a': (1.0,)}, {'a': ('the same place',)})
    """
    maps = attention_maps(module, data)
    found = {
        name: [alignment_share(a[:, h], places=places) for h in range(a.shape[1])]
        for name, a in zip(maps.layers, maps.maps, strict=True)
    }
    chance = max(1 / a.shape[-1] if places is not None else _by_chance(a.shape[:1] + a.shape[2:]) for a in maps.maps)
    return AttentionAlignment(
        {name: tuple(share for share, _ in row) for name, row in found.items()},
        {name: tuple(pattern for _, pattern in row) for name, row in found.items()},
        chance,
    )


@add_call_to_errors
def alignment_share(
    weights: Float[Tensor, "n queries keys"], *, places: Sequence[int] | None = None
) -> tuple[float, str]:
    """Returns the fraction of queries that attend to their expected position, and the pattern of these positions.

    See equation (1) of the module docstring.
    Hypotheses: there is one place for each query.
    Reference: [bahdanau2015neural].
    Cost: one pass for each of 2 (queries + keys) patterns.

    >>> alignment_share(torch.eye(5).flip(1)[None])
    (1.0, 'mirrored')
    """
    looked = weights.detach().argmax(-1)
    n, queries, keys = weights.shape
    if places is not None:
        wanted = torch.as_tensor(places, device=looked.device)
        if wanted.shape != (queries,) or int(wanted.max()) >= keys or not bool((wanted >= 0).any()):
            found = f"places has shape {tuple(wanted.shape)}; there are {queries} queries and {keys} keys"
            raise InputError(
                found,
                accepted="one key index for each query, or -1 to ignore the query",
                fix="Pass one number for each query",
            )
        judged = wanted >= 0
        return float((looked == wanted)[:, judged].double().mean()), "as given"
    t = torch.arange(queries, device=looked.device)
    candidates = [(_shift(o), t + o) for o in sorted(range(1 - queries, keys), key=abs)]
    candidates += [("mirrored" if c == keys - 1 else f"place {c} - t", c - t) for c in range(keys + queries - 1)]
    candidates += [(f"always place {c}", torch.full_like(t, c)) for c in range(keys)]
    shares = [(float((looked == place).double().mean()), name) for name, place in candidates]
    return max(shares, key=lambda pair: pair[0])  # If several shares are equal, max returns the first pair.


def _by_chance(shape: tuple[int, ...]) -> float:
    """Returns how often random attention maps attend to the expected position, with the best of the patterns.

    See equations (1) and (2) of the module docstring.
    """
    generator = torch.Generator().manual_seed(0)
    return sum(alignment_share(torch.rand(shape, generator=generator))[0] for _ in range(RANDOM_DRAWS)) / RANDOM_DRAWS


def _shift(offset: int) -> str:
    if offset == 0:
        return "the same place"
    return f"{abs(offset)} {'before' if offset < 0 else 'after'}"
