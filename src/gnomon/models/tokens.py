"""Tokens hidden for a network to guess: the corruption of masked language models."""

import torch
from torch import Tensor

__all__ = ["mask_tokens"]


def mask_tokens(
    tokens: Tensor,
    *,
    mask: int,
    vocabulary: int,
    generator: torch.Generator,
    rate: float = 0.15,
    special: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Corrupted tokens, and where the network is asked for the original.

        asked with probability rate; of those 80 % become ``mask``, 10 % a random token, 10 % stay         (1)

    Tokens in ``special`` (padding, separators) are never asked for.
    Hypotheses: tokens are whole numbers below ``vocabulary``.
    Reference: [devlin2019bert].
    Cost: one pass.

    >>> tokens = torch.arange(5).repeat(2000)
    >>> seen, asked = mask_tokens(tokens, mask=9, vocabulary=9, generator=torch.Generator().manual_seed(0))
    >>> bool((seen[~asked] == tokens[~asked]).all()), round(float(asked.float().mean()), 2)
    (True, 0.15)
    """
    asked = torch.rand(tokens.shape, generator=generator) < rate
    if special is not None:
        asked &= ~torch.isin(tokens, special)
    what = torch.rand(tokens.shape, generator=generator)
    other = torch.randint(vocabulary, tokens.shape, generator=generator)
    hidden = torch.where(asked & (what < 0.8), torch.full_like(tokens, mask), tokens)
    return torch.where(asked & (what >= 0.8) & (what < 0.9), other.to(tokens.dtype), hidden), asked  # (1)
