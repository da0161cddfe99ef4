"""Recurrent and convolutional networks over time, and a bag of words."""

import random

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class LastStepLSTM(nn.Module):
    """An LSTM that answers from its last step."""

    def __init__(self, inputs=28, hidden=96, classes=10, wrong="", batch_first=True):
        super().__init__()
        self.lstm, self.head = nn.LSTM(inputs, hidden, batch_first=batch_first), nn.Linear(hidden, classes)
        self.wrong = wrong

    def forward(self, x):
        h, _ = self.lstm(x)
        f = self.head(h[:, 0] if self.wrong == "reads first step" else h[:, -1])
        dim = {"softmax": 1, "softmax over batch": 0}.get(self.wrong)
        return f if dim is None else f.softmax(dim)


class TokenGRU(nn.Module):
    """A bidirectional GRU over tokens, with the maximum over time."""

    def __init__(self, vocabulary=200, width=48, classes=4, end=None, wrong=""):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.head, self.end, self.wrong = nn.Linear(2 * width, classes), end or nn.Identity(), wrong

    def forward(self, x):
        h, _ = self.rnn(self.embed(x))
        f = self.end(self.head(h.max(1).values))
        return f.detach() + 0 * f if self.wrong == "detach" else f


class LSTMLanguageModel(nn.Module):
    """An LSTM that predicts the next word at each position."""

    def __init__(self, vocabulary=60, width=64):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(vocabulary, width), nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


class MeanLSTM(nn.Module):
    """A bidirectional LSTM over words, with the mean over the positions that are not padding."""

    def __init__(self, vocabulary=500, width=48, classes=3, wrong=""):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.rnn = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.drop, self.head, self.wrong = nn.Dropout(0.3), nn.Linear(2 * width, classes), wrong

    def forward(self, x):
        keep = (x > 0).float()[:, :, None]
        h = (self.rnn(self.embed(x))[0] * keep).sum(1) / keep.sum(1)
        f = self.head(self.drop(h))
        return f.exp() / f.exp().sum(1, keepdim=True) if self.wrong == "softmax by hand" else f


class AttentionRNN(nn.Module):
    """A bidirectional LSTM or GRU over words, with attention over the positions."""

    def __init__(self, vocabulary=2000, width=48, classes=5, dropout=0.3, cell=nn.LSTM, vectors=None, wrong=""):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        if vectors is not None:
            self.embed = nn.Embedding.from_pretrained(vectors, freeze=True, padding_idx=0)
        self.rnn = cell(width, width, batch_first=wrong != "batch_first missing", bidirectional=True)
        self.score, self.drop = nn.Linear(2 * width, 1), nn.Dropout(dropout)
        self.head, self.wrong = nn.Linear(2 * width, classes), wrong

    def forward(self, x):
        h = self.embed(x)
        if self.wrong == "no_grad":
            with torch.no_grad():
                h = self.embed(x)
        h, _ = self.rnn(h)
        score = self.score(torch.tanh(h)).masked_fill((x == 0)[..., None], -1e4)
        h = (score.softmax(1) * h).sum(1)
        return self.head(self.drop(h))


def pretrained_word_vectors(vocabulary=2000, width=48):
    """Word vectors as if learned elsewhere: words of a kind are close to each other, rare words are short."""
    g = torch.Generator().manual_seed(5)
    kinds = torch.randn(5, width, generator=g)
    z = 0.6 * kinds[torch.arange(vocabulary) % 5] + 0.5 * torch.randn(vocabulary, width, generator=g)
    return 0.4 * z / (1 + 2e-4 * torch.arange(vocabulary))[:, None]


class Forecaster(nn.Module):
    """A recurrent network that reads a window and predicts the next values."""

    def __init__(self, cell=nn.GRU, ahead=8, width=48, wrong=""):
        super().__init__()
        self.rnn = cell(1, width, batch_first=wrong != "batch_first missing", num_layers=2)
        self.head, self.wrong = nn.Linear(width, ahead), wrong
        if wrong == "frozen":
            self.rnn.requires_grad_(False)

    def forward(self, x):
        x = torch.zeros_like(x) if self.wrong == "reads zeros" else x
        h, _ = self.rnn(x.reshape(-1, len(x), 1).transpose(0, 1) if self.wrong == "view for transpose" else x)
        f = self.head(h[:, -1])
        return F.dropout(f, 0.3) if self.wrong == "dropout in eval" else f


class TanhRNN(nn.Module):
    """A plain tanh recurrence with orthogonal initialization."""

    def __init__(self, inputs=6, width=64, classes=6):
        super().__init__()
        self.rnn, self.head = nn.RNN(inputs, width, batch_first=True), nn.Linear(width, classes)
        nn.init.orthogonal_(self.rnn.weight_hh_l0)

    def forward(self, x):
        return self.head(self.rnn(x.mT)[0][:, -16:].mean(1))


class SensorNetwork(nn.Module):
    """Convolutions over six channels of sensors with batch norm; ``gru`` adds a GRU on top."""

    def __init__(self, classes=6, width=32, gru=False, norm=True, wrong=""):
        super().__init__()

        def block(a, b):
            return [nn.Conv1d(a, b, 5, 2, 2), *([nn.BatchNorm1d(b)] if norm else []), nn.ReLU()]

        self.body = nn.Sequential(*block(6, width), *block(width, 2 * width), *block(2 * width, 2 * width))
        self.gru = nn.GRU(2 * width, width, batch_first=True) if gru else None
        self.head, self.wrong = nn.Linear(width if gru else 2 * width, classes), wrong
        if wrong == "frozen":
            self.body.requires_grad_(False)

    def forward(self, x):
        h = self.body(x)
        if self.wrong == "normalizes over batch":
            h = h / (h.std(0, keepdim=True) + 1e-3)
        if self.gru is None:
            return self.head(h.mean(2))
        h, _ = self.gru(h.mT)
        return self.head(h[:, 0] if self.wrong == "reads first step" else h[:, -1])


class DilatedConvolutions(nn.Module):
    """Dilated convolutions over series, with shortcuts and group norm."""

    def __init__(self, channels=2, width=24, classes=3, wrong=""):
        super().__init__()
        sizes = [channels, *[width] * 4]
        pairs = zip(sizes[:-1], sizes[1:], strict=True)
        self.convs = nn.ModuleList(nn.Conv1d(a, b, 3, padding=2**i, dilation=2**i) for i, (a, b) in enumerate(pairs))
        self.norms = nn.ModuleList(nn.GroupNorm(4, width) for _ in self.convs)
        self.head, self.wrong, self.calls = nn.Linear(width, classes), wrong, 0

    def forward(self, x):
        self.calls += 1
        if self.wrong == "noise in eval":
            x = x + 0.3 * torch.randn_like(x)
        if self.wrong == "counts calls":
            x = x * (1 + 0.05 * (self.calls % 7))
        if self.wrong == "python random":
            x = x.roll(random.randint(0, 9), -1)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            out = F.gelu(norm(conv(x)))
            x = x + out if x.shape == out.shape else out
        return self.head(x.amax(2))


def tone_cnn():
    """Two convolutions over a series, with group norm."""
    return nn.Sequential(
        nn.Conv1d(1, 16, 7, padding=3), nn.GroupNorm(4, 16), nn.SiLU(), nn.MaxPool1d(2), nn.Conv1d(16, 32, 5, padding=2),
        nn.SiLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(128, 3),
    )  # fmt: skip


class BagOfWords(nn.Module):
    """The mean of the embeddings of all words, and a linear layer."""

    def __init__(self, vocabulary=200, width=32, classes=4):
        super().__init__()
        self.bag, self.head = nn.EmbeddingBag(vocabulary, width), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.bag(x))
