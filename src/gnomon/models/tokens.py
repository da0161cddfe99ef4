"""Prepares text for masked language models: word pieces, sentence pairs, masked tokens."""

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

__all__ = ["mask_tokens", "sentence_pair", "word_pieces"]


def mask_tokens(
    tokens: Tensor,
    *,
    mask: int,
    vocabulary: int,
    generator: torch.Generator,
    rate: float = 0.15,
    special: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Masks tokens for masked language modeling; returns the changed tokens, and which positions to predict.

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


def word_pieces(word: str, vocabulary: Collection[str], *, unknown: str = "[UNK]") -> list[str]:
    """Splits a word into pieces of a vocabulary (WordPiece): repeatedly takes the longest piece that fits.

        piece_1 = longest beginning of the word in the vocabulary,  piece_i the same of the rest, written ##rest  (1)

    Hypotheses: pieces inside a word begin with ##. A word that cannot be cut is ``unknown``.
    Reference: [wu2016google].
    Cost: the square of the length.

    >>> word_pieces("unaffable", {"un", "##aff", "##able", "##a"})
    ['un', '##aff', '##able']
    """
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        fits = (end for end in range(len(word), start, -1) if mark + word[start:end] in vocabulary)
        end = next(fits, None)
        if end is None:
            return [unknown]
        pieces.append(mark + word[start:end])  # (1)
        start = end
    return pieces


def sentence_pair(first: Sequence[str], second: Sequence[str] = ()) -> tuple[list[str], list[int]]:
    """Joins one or two sentences to one row of tokens; also returns to which sentence each token belongs.

        [CLS] a_1 ... a_m [SEP] b_1 ... b_n [SEP],    segments 0 ... 0 1 ... 1                             (1)

    Hypotheses: sentences are tokens already.
    Reference: [devlin2019bert].
    Cost: one pass.

    >>> sentence_pair(["a"], ["b", "c"])
    (['[CLS]', 'a', '[SEP]', 'b', 'c', '[SEP]'], [0, 0, 0, 1, 1, 1])
    """
    head = ["[CLS]", *first, "[SEP]"]
    tail = [*second, "[SEP]"] if second else []
    return head + tail, [0] * len(head) + [1] * len(tail)  # (1)
