"""Measures rank collapse: without skip connections and feed-forward layers, all tokens become equal with depth.

    r_l = |X_l - 1 mean(X_l)| / |X_l|,    rank_l = exp(entropy of the squared singular values of X_l)      (1)

over the tokens X_l (tokens, channels) that leave layer l. Pure attention has log r_{l+1} ~ 3 log r_l.
Reference: [dong2021attention].
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Finding, Line, Plot, Result, Value
from gnomon.findings import structured as kinds

__all__ = ["RankCollapse", "rank_collapse"]

MAX_EXAMPLES = 16
"""Maximum number of sequences used."""
MIN_RELATIVE_DISTANCE = 0.05
"""Tokens that differ by less than this share of their size carry the same information."""


@dataclass(frozen=True, slots=True)
class RankCollapse(Result):
    """Result: differences between tokens and the number of directions they span, at the input and after each layer.

    See equation (1) of the module docstring.

    >>> RankCollapse(("input", "0"), (0.9, 0.8), (3.0, 2.5)).findings
    ()
    """

    layers: tuple[str, ...]
    difference: tuple[float, ...]
    rank: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """Compares how different the tokens are at the first and at the last layer."""
        return (
            f"Tokens differ by {self.difference[0]:.2g} of their size after the first of {len(self.layers)} layers "
            f"and by {self.difference[-1]:.2g} after the last; their effective rank goes from {self.rank[0]:.1f} to "
            f"{self.rank[-1]:.1f}."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if the tokens have become nearly equal at the last layer."""
        if self.difference[-1] >= MIN_RELATIVE_DISTANCE or self.difference[0] < MIN_RELATIVE_DISTANCE:
            return ()
        first = next(i for i, d in enumerate(self.difference) if d < MIN_RELATIVE_DISTANCE)

        evidence = (Value("difference at the end", self.difference[-1]), Value("rank at the end", self.rank[-1]))
        return (Finding(kinds.TOKENS_COLLAPSE, self.layers[first], {"limit": MIN_RELATIVE_DISTANCE}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the difference between tokens and the number of directions they span, by layer."""
        places = list(range(len(self.layers)))
        return (
            Plot(
                "Difference of tokens",
                (Line("difference", places, [max(d, 1e-16) for d in self.difference]),),
                Axis("layer"),
                Axis("relative difference", log=True),
            ),
            Plot("Directions that tokens fill", (Line("rank", places, list(self.rank)),), Axis("layer"), Axis("rank")),
        )


@add_call_to_errors
def rank_collapse(module: nn.Module, data: Any) -> RankCollapse:
    """Measures how different the tokens are after each layer of a sequence network.

    See equation (1) of the module docstring.
    A layer is an outermost part that takes and returns (n, tokens, channels) of one shape, such as a block.
    Args:
        module: any network with such parts; its attention may be your own code.
        data: inputs, or a data set; the first 16 examples are used.

    Hypotheses: none. Reference: [dong2021attention].
    Cost: one forward pass and a singular value decomposition of every sequence and layer.

    >>> class Mean(nn.Module):
    ...     def forward(self, x):
    ...         return x.mean(1, keepdim=True).expand_as(x)
    >>> rank_collapse(nn.Sequential(nn.Linear(3, 3), Mean()), torch.randn(2, 5, 3)).difference[-1] < 1e-6
    True
    """
    check_module(module)
    seen: list[tuple[str, Tensor]] = []
    depth = [0]
    inputs = as_input_source(data, module).first(MAX_EXAMPLES).x
    with preserve(module, grad=False):
        hooks: list[Any] = []
        try:
            for name, m in module.named_modules():
                if name and not isinstance(m, nn.ModuleList | nn.Sequential | nn.TransformerEncoder):
                    hooks.append(m.register_forward_pre_hook(_enter(depth), with_kwargs=True))
                    hooks.append(m.register_forward_hook(_leave(name, depth, seen), with_kwargs=True))
            run_module(module, inputs)
        finally:
            for hook in hooks:
                hook.remove()
    if not seen:
        found = "no submodule takes and returns (n, tokens, channels) of one shape"
        raise InputError(found, accepted="blocks of constant width", fix="Pass a network with such blocks")
    rows = [(_difference(t), _rank(t)) for _, t in seen]
    return RankCollapse(tuple(name for name, _ in seen), tuple(r[0] for r in rows), tuple(r[1] for r in rows))


def _enter(depth: list[int]) -> Any:
    def hook(m: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        depth[0] += 1

    return hook


def _leave(name: str, depth: list[int], seen: list[tuple[str, Tensor]]) -> Any:
    def hook(m: nn.Module, args: tuple[Any, ...], options: dict[str, Any], out: Any) -> None:
        depth[0] -= 1
        given = args[0] if args else next(iter(options.values()), None)
        made = out[0] if isinstance(out, tuple | list) and out else out
        if not isinstance(given, Tensor) or not isinstance(made, Tensor) or given.shape != made.shape:
            return
        if made.dim() == 3 and made.is_floating_point() and depth[0] == 0:
            if not seen:
                seen.append(("input", given.detach()))
            seen.append((name, made.detach()))

    return hook


def _difference(tokens: Tensor) -> float:
    tokens = tokens.double()
    return float((tokens - tokens.mean(1, keepdim=True)).norm() / tokens.norm().clamp(min=1e-300))  # (1)


def _rank(tokens: Tensor) -> float:
    squares = torch.linalg.svdvals(tokens.double()).square()
    shares = squares / squares.sum(-1, keepdim=True).clamp(min=1e-300)
    return float(torch.special.entr(shares).sum(-1).exp().mean())  # (1)
