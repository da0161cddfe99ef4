"""A sixth set of published faults: networks for sequences and tokens."""

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import split
from evaluation.published.data.made import characters, generator, padded_reviews, reviews
from evaluation.published.networks import mlp, token_loss
from evaluation.published.scores import r2, token_accuracy


@faulty(
    "sixth-centered-convolutions",
    "Bai et al. 2018 and locuslab/TCN (Chomp1d): causal convolutions pad on the left only; forum: padding='same' sees the future",
    fix="Pad on the left only.",
    harm="inflated",
)
def centered_convolutions():
    """A network that forecasts the next value at each step uses centered convolutions, which see that value."""
    g = generator(69)
    x = torch.zeros(500, 41)
    for t in range(2, 41):
        x[:, t] = 0.9 * x[:, t - 1] - 0.5 * x[:, t - 2] + 0.5 * torch.randn(500, generator=g)
    train, test = split(x[:, None, :-1], x[:, None, 1:], 350)

    class Net(nn.Module):
        """Three dilated convolutions."""

        def __init__(self, causal):
            super().__init__()
            self.causal = causal
            self.convs = nn.ModuleList(nn.Conv1d(c, 16, 3, dilation=d) for c, d in ((1, 1), (16, 2), (16, 4)))
            self.head = nn.Conv1d(16, 1, 1)

        def forward(self, x):
            for conv in self.convs:
                d = conv.dilation[0]
                x = F.relu(conv(F.pad(x, (2 * d, 0) if self.causal else (d, d))))
            return self.head(x)

    given = {"train": train, "test": test, "optimizer": adam(3e-3), "epochs": 15, "score": r2}
    return Recipe(network=lambda: Net(False), **given), Recipe(network=lambda: Net(True), **given)


class Attention(nn.Module):
    """Causal attention with several heads."""

    def __init__(self, width, heads, transposed):
        super().__init__()
        self.heads, self.transposed = heads, transposed
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def split_heads(self, x):
        n, t, d = x.shape
        if self.transposed:
            return x.view(n, t, self.heads, d // self.heads).transpose(1, 2)
        return x.view(n, self.heads, t, d // self.heads)

    def forward(self, x):
        q, k, v = self.split_heads(self.query(x)), self.split_heads(self.key(x)), self.split_heads(self.value(x))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(out.transpose(1, 2).reshape(x.shape))


class CharacterModel(nn.Module):
    """A language model of two blocks."""

    def __init__(self, transposed):
        super().__init__()
        self.tokens, self.places, self.head = nn.Embedding(12, 32), nn.Embedding(32, 32), nn.Linear(32, 12)
        self.attend = nn.ModuleList(Attention(32, 4, transposed) for _ in range(2))
        self.feed = nn.ModuleList(mlp(32, 128, 32) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(32) for _ in range(4))

    def forward(self, x):
        h = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        for i in range(2):
            h = h + self.attend[i](self.norms[2 * i](h))
            h = h + self.feed[i](self.norms[2 * i + 1](h))
        return self.head(h)


@faulty(
    "sixth-heads-by-view",
    "PyTorch forum and Harvard's Annotated Transformer issues: view(batch, heads, length, -1) without transpose mixes positions",
    fix="view(batch, length, heads, -1).transpose(1, 2).",
    harm="inflated",
)
def heads_by_view():
    """The heads of a causal language model are split with view and no transpose, so positions see later tokens."""
    train, test = characters()
    given = {"train": train, "test": test, "loss": token_loss, "optimizer": adam(3e-3), "epochs": 15}
    given |= {"score": token_accuracy}
    return Recipe(network=lambda: CharacterModel(False), **given), Recipe(network=lambda: CharacterModel(True), **given)


@faulty(
    "sixth-empty-document",
    "pytorch/pytorch 40932 and 41508: NaN if all keys are masked, because an example is padding only",
    fix="Drop the empty documents.",
)
def empty_document():
    """Two training documents are empty, and a softmax over masked scores of minus infinity is NaN for them."""
    ((x, lengths), y), test = padded_reviews()
    empty = x.clone()
    empty[[17, 400]] = 0
    lengths_of_empty = lengths.clone()
    lengths_of_empty[[17, 400]] = 0

    class Net(nn.Module):
        """Attention pooling over word vectors without padding."""

        def __init__(self):
            super().__init__()
            self.embed, self.score, self.head = nn.Embedding(64, 16), nn.Linear(16, 1), nn.Linear(16, 2)

        def forward(self, x, lengths):
            h = self.embed(x)
            real = torch.arange(x.shape[1]) < lengths[:, None]
            scores = self.score(h.tanh()).squeeze(-1).masked_fill(~real, float("-inf"))
            return self.head((scores.softmax(1).unsqueeze(-1) * h).sum(1))

    given = {"network": Net, "test": test, "optimizer": adam(5e-3), "epochs": 12}
    return Recipe(train=((empty, lengths_of_empty), y), **given), Recipe(train=((x, lengths), y), **given)


@faulty(
    "sixth-words-as-numbers",
    "StackOverflow: LSTM on word indices without an embedding layer; Keras documentation of Embedding",
    fix="An embedding layer.",
)
def words_as_numbers():
    """Indices of words go into an LSTM as numbers instead of through an embedding."""
    (x, y), (xt, yt) = reviews()
    shuffled = torch.randperm(60, generator=generator(70))

    class Net(nn.Module):
        """An LSTM over words."""

        def __init__(self, embedded):
            super().__init__()
            self.embed = nn.Embedding(60, 16) if embedded else None
            self.lstm = nn.LSTM(16 if embedded else 1, 32, batch_first=True)
            self.head = nn.Linear(32, 2)

        def forward(self, x):
            h = self.embed(x) if self.embed is not None else x.float().unsqueeze(-1)
            out, _ = self.lstm(h)
            return self.head(out[:, -1])

    given = {"train": (shuffled[x], y), "test": (shuffled[xt], yt), "optimizer": adam(5e-3), "epochs": 15}
    return Recipe(network=lambda: Net(False), **given), Recipe(network=lambda: Net(True), **given)
