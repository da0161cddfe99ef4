"""Implements global self-attention with logits divided by the key size, for which the infinitely wide limit is known.

    q(p) = W_qk x(p),   logits[p, s] = q(p) . q(s) / d_k                                       (1)
    y(p) = W_o concat_h sum_s softmax_s(logits_h)[p, s] W_v,h x(s)                             (2)

Queries and keys share one map (as [hron2020infinite] ties them at initialization), so that the logits tend to
w^2 K(x, x)[p, s] as d_k grows; with many heads the output is Gaussian.
"""

import torch
from torch import Tensor, nn

from gnomon.core.modules.attention import AttentionLayout

__all__ = ["SelfAttention"]


class SelfAttention(nn.Module):
    """Multi-head self-attention on (batch, positions, channels), without biases.

    See equations (1) and (2) of the module docstring.
    Hypotheses: heads and key_size grow for the limit; any sizes run.
    Reference: [hron2020infinite].
    Cost: positions^2 x channels per sample.

    >>> layer = SelfAttention(16, heads=4)
    >>> layer(torch.zeros(2, 5, 16)).shape
    torch.Size([2, 5, 16])
    """

    def __init__(self, channels: int, *, heads: int, key_size: int | None = None) -> None:
        super().__init__()
        size = key_size or max(1, channels // heads)
        self.heads, self.key_size = heads, size
        self.query_key = nn.Linear(channels, heads * size, bias=False)
        self.value = nn.Linear(channels, heads * size, bias=False)
        self.out = nn.Linear(heads * size, channels, bias=False)

    @property
    def attention_form(self) -> AttentionLayout:
        """Returns the names of the module's three Linear layers, so that `gnomon.program` can convert the attention."""
        return AttentionLayout("query_key", "value", "out")

    def forward(self, x: Tensor) -> Tensor:
        """Computes self-attention for x of shape (batch, positions, channels)."""
        n, t, _ = x.shape
        q, v = (f(x).view(n, t, self.heads, self.key_size).transpose(1, 2) for f in (self.query_key, self.value))
        weights = torch.softmax(q @ q.transpose(-1, -2) / self.key_size, dim=-1)  # (1)
        mixed: Tensor = self.out((weights @ v).transpose(1, 2).reshape(n, t, -1))  # (2)
        return mixed
