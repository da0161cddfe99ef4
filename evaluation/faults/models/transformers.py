"""Transformers over tokens and patches, and an MLP-Mixer."""

import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class Transformer(nn.Module):
    """An encoder over tokens; ``patches`` reads images of 28 x 28 as 16 patches instead."""

    def __init__(self, vocabulary=200, width=64, layers=2, classes=4, length=24, patches=False, wrong=""):
        super().__init__()
        self.patches, self.wrong = patches, wrong
        self.embed = nn.Linear(49, width) if patches else nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(0.02 * torch.randn(1, 16 if patches else length, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.1, batch_first=wrong != "batch_first missing")
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)
        self.extra = nn.Linear(width, width)

    def forward(self, x):
        if self.patches:
            x = F.unfold(x, 7, stride=7).mT
        h = self.embed(x) + self.position
        if self.wrong == "detach":
            h = h.detach()
        h = self.encoder(h)
        if self.wrong != "unused layer":
            h = h + F.gelu(self.extra(h))
        h = h.mean(1)
        if self.wrong == "dropout in eval":
            h = F.dropout(h, 0.5)
        f = self.head(h)
        return f.softmax(1) if self.wrong == "softmax" else f


class VisionTransformer(nn.Module):
    """A small vision transformer with a class token; by default for 28 x 28 in gray."""

    def __init__(
        self, channels=1, side=28, patch=7, width=48, layers=2, classes=10, expansion=2, dropout=0.0, end=None, wrong=""
    ):  # fmt: skip
        super().__init__()
        self.wrong, count = wrong, (side // patch) ** 2
        self.embed, self.token = nn.Conv2d(channels, width, patch, patch), nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(0.02 * torch.randn(1, count + 1, width))
        layer = nn.TransformerEncoderLayer(
            width, 4, expansion * width, dropout, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm, self.head, self.end = nn.LayerNorm(width), nn.Linear(width, classes), end or nn.Identity()

    def forward(self, x):
        h = self.embed(x).flatten(2).mT
        if self.wrong == "shuffles patches":
            h = h[:, torch.randperm(h.shape[1])]
        h = torch.cat([self.token.expand(len(x), -1, -1), h], 1)
        h = h if self.wrong == "no positions" else h + self.position
        h = h if self.wrong == "skips encoder" else self.encoder(h)
        return self.end(self.head(self.norm(h)[:, 0]))


class Mixer(nn.Module):
    """An MLP-Mixer; by default for 28 x 28 in gray."""

    def __init__(self, channels=1, side=28, patch=7, width=48, layers=2, classes=10, wrong=""):
        super().__init__()
        self.wrong, count = wrong, (side // patch) ** 2
        self.embed = nn.Conv2d(channels, width, patch, patch)

        def mlp(size):
            return nn.Sequential(nn.LayerNorm(size), nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

        self.across_patches = nn.ModuleList(mlp(count) for _ in range(layers))
        self.within_patches = nn.ModuleList(mlp(width) for _ in range(layers))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        h = self.embed(x).flatten(2)
        for a, b in zip(self.across_patches, self.within_patches, strict=True):
            h = h + a(h)
            h = h + b(h.mT).mT
        h = h.mean(2)
        if self.wrong == "dropout in eval":
            h = F.dropout(h, 0.4, training=True)
        return self.head(h)


class CausalTransformer(nn.Module):
    """A language model: scores of the next word at each position; input and output embedding are tied by default."""

    def __init__(self, vocabulary=60, width=64, layers=2, length=32, tied=True, dropout=0.1, wrong=""):
        super().__init__()
        self.embed, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        nn.init.normal_(self.embed.weight, std=0.02)
        nn.init.normal_(self.position.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm, self.head, self.wrong = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False), wrong
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, x):
        t = x.shape[1]
        mask = None if self.wrong == "mask missing" else torch.full((t, t), -torch.inf).triu(1)
        h = self.embed(x) + self.position(torch.arange(t))
        f = self.head(self.norm(self.layers(h, mask=mask)))
        return f.softmax(-1) if self.wrong == "softmax" else f


class MaskedEncoder(nn.Module):
    """An encoder of padded token ids with a class token and a pooler; ids and mask are passed by name."""

    def __init__(self, vocabulary=500, width=64, layers=3, classes=3, length=40, dropout=0.1, wrong=""):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.position, self.token = (nn.Parameter(0.02 * torch.randn(1, k, width)) for k in (length, 1))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head, self.pooler, self.wrong = nn.Linear(width, classes), nn.Linear(width, width), wrong

    def forward(self, input_ids, attention_mask):
        h = self.embed(input_ids) + self.position
        h = torch.cat([self.token.expand(len(h), -1, -1), h], 1)
        padding = F.pad(attention_mask == 0, (1, 0), value=False)
        h = self.layers(h, src_key_padding_mask=padding)
        h = self.token[:, 0].expand(len(h), -1) if self.wrong == "reads its own token" else h[:, 0]
        if self.wrong != "pooler unused":
            h = torch.tanh(self.pooler(h.detach() if self.wrong == "detach" else h))
        return self.head(h)


class PositionLabeler(nn.Module):
    """A transformer that labels each position; fixed sine positions, and an output layer tied to the embedding."""

    def __init__(self, vocabulary=8, width=48, layers=2, length=10, dropout=0.0, wrong=""):
        super().__init__()
        t, i = torch.arange(length)[:, None], torch.arange(0, width, 2)[None]
        angle = t * torch.exp(-math.log(1e4) * i / width)
        waves = torch.stack([angle.sin(), angle.cos()], 2).flatten(1)
        self.embed, self.position = nn.Embedding(vocabulary, width), nn.Embedding.from_pretrained(waves, freeze=True)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.bias, self.wrong = nn.Parameter(torch.zeros(vocabulary)), wrong
        nn.init.normal_(self.embed.weight, std=width**-0.5)

    def forward(self, x):
        h = self.layers(self.embed(x) * self.embed.embedding_dim**0.5 + self.position(torch.arange(x.shape[1])))
        f = h @ self.embed.weight.T + self.bias
        return f.mT.softmax(1) if self.wrong == "softmax" else f.mT
