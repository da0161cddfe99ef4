"""Finds test texts whose tokens are numbered differently than in the training texts.

With the shares p_t and q_t of each token in train and test, and both sorted by size,

    d = sum_t |p_t - q_t| / 2,    d_sorted = sum_k |p_(k) - q_(k)| / 2                                            (1)

Both are between 0 and 1. Texts of one kind in one numbering have a small d. Texts of one kind in two numberings have a
large d and a small d_sorted: the same frequencies belong to other numbers.

Hypotheses: integers as inputs, one token for each position.

>>> g = torch.Generator().manual_seed(0)
>>> share = torch.arange(1.0, 41.0) ** 2
>>> x = torch.multinomial(share, 8000, replacement=True, generator=g).reshape(400, 20)
>>> other = torch.randperm(40, generator=g)
>>> token_number_findings(x[:250], other[x[250:]])[0].kind, token_number_findings(x[:250], x[250:])
('tokens-renumbered', ())
"""

import torch

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["token_number_findings"]

MIN_POSITIONS = 1000
"""Fewest positions in each set."""
MAX_TOKENS = 100_000
"""Largest number of tokens."""
MIN_DISTANCE = 0.25
"""Distance (1) of the frequencies from which the numbering is in question."""
MAX_SORTED_SHARE = 0.4
"""Distance of the sorted frequencies, as a share of the distance as given, up to which only the numbers differ."""


def token_number_findings(train: Inputs, test: Inputs) -> tuple[Finding, ...]:
    """Returns a finding if tokens have other frequencies in test, and the sorted frequencies are nearly equal.

    See equation (1) of the module docstring.
    Cost: counting the tokens.

    >>> token_number_findings(torch.zeros(9, 2), torch.zeros(9, 2))  # real numbers are no tokens
    ()
    """
    a, b = (list(input_tensors(part)) for part in (train, test))
    if len(a) != 1 or len(b) != 1 or a[0].is_floating_point() or a[0].dim() != 2:
        return ()
    one, other = a[0].flatten().cpu().long(), b[0].flatten().cpu().long()
    if min(len(one), len(other)) < MIN_POSITIONS or int(one.min()) < 0 or int(other.min()) < 0:
        return ()
    tokens = int(torch.maximum(one.max(), other.max())) + 1
    if tokens > MAX_TOKENS:
        return ()
    p, q = (torch.bincount(t, minlength=tokens).double() / len(t) for t in (one, other))
    apart = float((p - q).abs().sum()) / 2
    ordered = float((p.sort().values - q.sort().values).abs().sum()) / 2
    if apart < MIN_DISTANCE or ordered > MAX_SORTED_SHARE * apart:
        return ()
    values = {"apart": apart, "ordered": ordered, "tokens": tokens}
    evidence = (Value("distance of the frequencies", apart), Value("distance of the sorted frequencies", ordered))
    return (Finding(kinds.TOKENS_RENUMBERED, "test", values, evidence, 1e-3),)
