"""Small networks that many cases share, written as in common tutorials."""

import torch
from torch import nn
from torch.nn import functional as F


def mlp(*widths, activation=nn.ReLU, dropout=0.0, norm=None) -> nn.Sequential:
    """Dense layers of these widths with an activation between them."""
    layers: list[nn.Module] = []
    for i, (n, m) in enumerate(zip(widths, widths[1:], strict=False)):
        layers.append(nn.Linear(n, m))
        if i < len(widths) - 2:
            layers += [norm(m)] if norm else []
            layers += [activation()] if activation else []
            layers += [nn.Dropout(dropout)] if dropout else []
    return nn.Sequential(*layers)


class SmallCNN(nn.Module):
    """Two convolutions with pooling, then two dense layers."""

    def __init__(self, size=8, classes=10, width=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.fc1 = nn.Linear(2 * width * (size // 4) ** 2, 64)
        self.fc2 = nn.Linear(64, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


class LastState(nn.Module):
    """A recurrent layer and a linear layer on its last state."""

    def __init__(self, cell, inputs, hidden, outputs, words=0):
        super().__init__()
        self.embed = nn.Embedding(words, inputs) if words else nn.Identity()
        self.rnn = cell(inputs, hidden, batch_first=True)
        self.head = nn.Linear(hidden, outputs)

    def forward(self, x):
        states, _ = self.rnn(self.embed(x))
        return self.head(states[:, -1])


class MeanEmbedding(nn.Module):
    """The mean of word vectors, then a small dense network."""

    def __init__(self, words, width, classes):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.head = mlp(width, 32, classes)

    def forward(self, x):
        return self.head(self.embed(x).mean(1))


class TinyTransformer(nn.Module):
    """A transformer encoder over tokens with learned positions, mean-pooled to class scores."""

    def __init__(self, words, length, classes, width=32, layers=1, positions=True, dropout=0.0):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.positions = nn.Embedding(length, width) if positions else None
        block = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        h = self.embed(x)
        if self.positions is not None:
            h = h + self.positions(torch.arange(x.shape[1], device=x.device))
        return self.head(self.encoder(h).mean(1))


class GPTBlock(nn.Module):
    """A transformer block with layer norm first and causal attention."""

    def __init__(self, width, heads, causal=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = (a.view(n, t, self.heads, -1).transpose(1, 2) for a in self.qkv(self.norm1(x)).split(d, 2))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.project(attended.transpose(1, 2).reshape(n, t, d))
        return x + self.feed(self.norm2(x))


class MiniGPT(nn.Module):
    """A decoder-only language model: scores (n, length, words) for the next tokens."""

    def __init__(self, words=12, length=32, width=32, layers=2, heads=4, causal=True):
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(GPTBlock(width, heads, causal) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, x):
        h = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return self.head(self.norm(self.blocks(h)))


def token_loss(scores, targets):
    """Cross-entropy over all tokens, for scores with the classes on the last axis."""
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1))


def bce(outputs, targets):
    """Binary cross-entropy of logits with one column or one number per example."""
    return F.binary_cross_entropy_with_logits(outputs.reshape(targets.shape), targets.float())


class UNet(nn.Module):
    """One level down and up with a skip connection: a class for each pixel."""

    def __init__(self, classes=3, width=8):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU())
        self.down = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU())
        self.middle = nn.Sequential(nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.last = nn.Conv2d(2 * width, classes, 3, padding=1)

    def forward(self, x):
        skip = self.first(x)
        return self.last(torch.cat((skip, self.up(self.middle(self.down(skip)))), 1))


class DenseGCN(nn.Module):
    """Two graph convolutions on dense adjacency matrices, then the mean over the nodes."""

    def __init__(self, features=2, width=32, classes=2, normalized=True):
        super().__init__()
        self.normalized = normalized
        self.first, self.second, self.head = (
            nn.Linear(features, width),
            nn.Linear(width, width),
            nn.Linear(width, classes),
        )

    def forward(self, x, adjacency):
        a = adjacency + torch.eye(adjacency.shape[-1], device=x.device)
        if self.normalized:
            root = a.sum(2).rsqrt()
            a = root[:, :, None] * a * root[:, None]
        h = F.relu(self.first(a @ x))
        return self.head(F.relu(self.second(a @ h)).mean(1))
