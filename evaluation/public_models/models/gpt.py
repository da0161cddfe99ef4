"""Small GPTs as nanoGPT, minGPT and makemore have them: (logits, loss) from ``forward(idx, targets=None)``."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class CausalAttention(nn.Module):
    """Causal self-attention of several heads; ``fused`` calls torch's one operation for it, as nanoGPT does."""

    def __init__(self, width: int, heads: int, length: int, *, fused: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.heads, self.fused, self.dropout = heads, fused, dropout
        if not fused:
            self.register_buffer("bias", torch.tril(torch.ones(length, length))[None, None])

    def forward(self, x: Tensor) -> Tensor:
        """Mix positions with earlier ones."""
        n, steps, width = x.shape
        q, k, v = (t.view(n, steps, self.heads, -1).transpose(1, 2) for t in self.c_attn(x).split(width, dim=2))
        if self.fused:
            y = F.scaled_dot_product_attention(
                q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True
            )
        else:
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.shape[-1])
            scores = scores.masked_fill(self.bias[:, :, :steps, :steps] == 0, float("-inf"))
            y = F.dropout(scores.softmax(-1), self.dropout, self.training) @ v
        return self.c_proj(y.transpose(1, 2).reshape(n, steps, width))


class GELU(nn.Module):
    """The GELU by tanh, written out, as minGPT and makemore have it."""

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to each number."""
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


class Block(nn.Module):
    """A block of nanoGPT: the dense part is a module."""

    def __init__(self, width: int, heads: int, length: int, dropout: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = CausalAttention(width, heads, length, fused=True, dropout=dropout)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Attention, then the dense part, both added."""
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class LambdaBlock(nn.Module):
    """A block of minGPT and makemore: the dense part is a lambda over submodules, which a copy does not follow."""

    def __init__(self, width: int, heads: int, length: int, dropout: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = CausalAttention(width, heads, length, fused=False, dropout=dropout)
        self.ln_2 = nn.LayerNorm(width)
        parts = {"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width), "act": GELU()}
        self.mlp = nn.ModuleDict(parts | ({"dropout": nn.Dropout(dropout)} if dropout else {}))
        m = self.mlp
        if dropout:
            self.mlpf = lambda x: m.dropout(m.c_proj(m.act(m.c_fc(x))))
        else:
            self.mlpf = lambda x: m.c_proj(m.act(m.c_fc(x)))

    def forward(self, x: Tensor) -> Tensor:
        """Attention, then the dense part, both added."""
        x = x + self.attn(self.ln_1(x))
        return x + self.mlpf(self.ln_2(x))


class GPT(nn.Module):
    """A language model that returns (logits, loss); the loss is None without targets.

    ``style`` "nano" ties the first and last weights and returns only the last position's logits without targets;
    "min" has dropout, "make" has none, and both have a lambda in each block.
    """

    def __init__(
        self, style: str, vocabulary: int, length: int, width: int = 64, heads: int = 4, layers: int = 2
    ) -> None:
        super().__init__()
        dropout = 0.1 if style == "min" else 0.0
        block = Block if style == "nano" else LambdaBlock
        self.style, self.length = style, length
        parts = {
            "wte": nn.Embedding(vocabulary, width),
            "wpe": nn.Embedding(length, width),
            "drop": nn.Dropout(dropout),
        }
        parts["h"] = nn.ModuleList([block(width, heads, length, dropout) for _ in range(layers)])
        self.transformer = nn.ModuleDict(parts | {"ln_f": nn.LayerNorm(width)})
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        if style == "nano":
            self.transformer.wte.weight = self.lm_head.weight
        if style != "make":
            self.apply(_small_normal)
            for name, p in self.named_parameters():
                if name.endswith("c_proj.weight"):
                    nn.init.normal_(p, std=0.02 / math.sqrt(2 * layers))

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Logits (n, length, vocabulary), and the mean cross-entropy if targets are given."""
        positions = torch.arange(idx.shape[1], device=idx.device)
        x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(positions))
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1]] if self.style == "nano" else x), None
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


def _small_normal(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
