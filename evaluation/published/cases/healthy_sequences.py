"""Healthy sequence, language and graph models from public example code."""

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, healthy
from evaluation.published.data.made import (
    adding,
    characters,
    generator,
    graphs,
    order_task,
    padded_reviews,
    reviews,
    sine_forecast,
    text_counts,
    waves,
)
from evaluation.published.networks import DenseGCN, LastState, MeanEmbedding, MiniGPT, TinyTransformer, mlp, token_loss
from evaluation.published.scores import token_accuracy


@healthy("mingpt-characters", "karpathy/minGPT, projects/chargpt", score=0.3)
def mingpt():
    """A small GPT on tokens of a grammar, with AdamW as in minGPT."""
    train, test = characters()
    return Recipe(
        network=MiniGPT,
        train=train,
        test=test,
        loss=token_loss,
        score=token_accuracy,
        epochs=12,
        optimizer=lambda p: optim.AdamW(p, lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1),
        task="language model",
    )


@healthy("nanogpt-no-task", "karpathy/nanoGPT, train.py with train_shakespeare_char.py", score=0.3)
def nanogpt():
    """The same kind of model without saying the task; cosine schedule."""
    train, test = characters(seed=1)
    return Recipe(
        network=lambda: MiniGPT(width=48), train=train, test=test, loss=token_loss, score=token_accuracy, epochs=12,
        optimizer=lambda p: optim.AdamW(p, lr=3e-3, weight_decay=0.1), schedule=lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 12),
    )  # fmt: skip


class WordLSTM(nn.Module):
    """An LSTM language model: scores (n, words, length) for the next tokens, classes on axis 1."""

    def __init__(self, words=12, width=48):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(words, 16), nn.LSTM(16, width, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0]).transpose(1, 2)


@healthy("word-language-model", "pytorch/examples, word_language_model", score=0.3)
def word_language_model():
    """An LSTM language model with the classes on axis 1, so that plain cross-entropy applies."""
    train, test = characters(seed=2)
    return Recipe(network=WordLSTM, train=train, test=test, epochs=20, optimizer=adam(5e-3))


@healthy("makemore-mlp", "karpathy/makemore: MLP over a context of three tokens", score=0.35)
def makemore():
    """A dense network over the embeddings of three tokens predicts the fourth."""
    (x, _), (xt, _) = characters()

    def contexts(tokens):
        windows = tokens.unfold(1, 4, 1).reshape(-1, 4)
        return windows[::3, :3].contiguous(), windows[::3, 3].contiguous()

    def network():
        return nn.Sequential(nn.Embedding(12, 10), nn.Flatten(), mlp(30, 100, 12, activation=nn.Tanh))

    return Recipe(network=network, train=contexts(x[:400]), test=contexts(xt), epochs=12, optimizer=adam(3e-3))


class Tagger(nn.Module):
    """A bidirectional GRU that labels every token."""

    def __init__(self, words=30, classes=4):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(words, 16), nn.GRU(16, 24, batch_first=True, bidirectional=True)
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


@healthy("token-tagger", "PyTorch tutorial: sequence models (part-of-speech tagging)", score=0.9)
def tagger():
    """A tag for each token, which depends on the token and on the one before it."""
    g = generator(0)
    x = torch.randint(30, (500, 16), generator=g)
    before = torch.cat((torch.zeros(500, 1, dtype=torch.long), x[:, :-1]), 1)
    y = 2 * (x % 2) + (before % 2)
    return Recipe(
        network=Tagger,
        train=(x[:350], y[:350]),
        test=(x[350:], y[350:]),
        loss=token_loss,
        score=token_accuracy,
        epochs=15,
        optimizer=adam(5e-3),
        task="class per position",
    )


@healthy("imdb-mean-embedding", "PyTorch tutorial: text classification with torchtext", score=0.93)
def text_classification():
    """The mean of embeddings classifies reviews."""
    train, test = reviews()
    return Recipe(network=lambda: MeanEmbedding(60, 16, 2), train=train, test=test, epochs=15, optimizer=adam(5e-3))


@healthy("imdb-lstm", "keras.io, nlp/bidirectional_lstm_imdb", score=0.88)
def imdb_lstm():
    """A bidirectional LSTM classifies reviews by its two last states."""
    train, test = reviews()

    class Net(nn.Module):
        """Embedding, bidirectional LSTM, mean over time, head."""

        def __init__(self):
            super().__init__()
            self.embed, self.rnn = nn.Embedding(60, 16), nn.LSTM(16, 24, batch_first=True, bidirectional=True)
            self.head = nn.Linear(48, 2)

        def forward(self, x):
            _, (h, _) = self.rnn(self.embed(x))
            return self.head(torch.cat((h[0], h[1]), 1))

    return Recipe(network=Net, train=train, test=test, epochs=12, optimizer=adam(5e-3))


@healthy("text-transformer", "keras.io, nlp/text_classification_with_transformer", score=0.9)
def text_transformer():
    """A transformer block with learned positions and dropout classifies reviews."""
    train, test = reviews()
    return Recipe(
        network=lambda: TinyTransformer(60, 20, 2, dropout=0.1), train=train, test=test, epochs=10, optimizer=adam(2e-3)
    )


@healthy("order-transformer", "PyTorch tutorial: transformer with PositionalEncoding", score=0.93)
def order_transformer():
    """A transformer with positions decides which token comes first."""
    train, test = order_task(n=2000)
    return Recipe(network=lambda: TinyTransformer(12, 10, 2), train=train, test=test, epochs=15, optimizer=adam(2e-3))


@healthy("padded-reviews-packed", "PyTorch forum: pack_padded_sequence, state at the last real token", score=0.93)
def padded():
    """A GRU that reads the state at the last real token of padded sequences."""
    (x, y), (xt, yt) = padded_reviews()

    class Net(nn.Module):
        """Tokens and lengths in, class scores out."""

        def __init__(self):
            super().__init__()
            self.embed, self.rnn = nn.Embedding(60, 16, padding_idx=0), nn.GRU(16, 32, batch_first=True)
            self.head = nn.Linear(32, 2)

        def forward(self, x, lengths):
            states, _ = self.rnn(self.embed(x))
            return self.head(states[torch.arange(len(x)), lengths - 1])

    return Recipe(network=Net, train=(x, y), test=(xt, yt), epochs=12, optimizer=adam(5e-3))


@healthy("waves-gru", "keras.io, timeseries/timeseries_classification_from_scratch (recurrent)", score=0.9)
def waves_gru():
    """A GRU classifies waves by frequency."""
    train, test = waves()
    return Recipe(network=lambda: LastState(nn.GRU, 1, 32, 3), train=train, test=test, epochs=15, optimizer=adam(0.01))


@healthy("waves-conv", "keras.io, timeseries/timeseries_classification_from_scratch", score=0.93)
def waves_conv():
    """One-dimensional convolutions with batch normalization and global pooling classify waves."""
    (x, y), (xt, yt) = waves()

    def network():
        body = [
            nn.Conv1d(1, 16, 5, padding=2),
            nn.BatchNorm1d(16),
            nn.ReLU(),
            nn.Conv1d(16, 16, 5, padding=2),
            nn.BatchNorm1d(16),
            nn.ReLU(),
        ]
        return nn.Sequential(*body, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 3))

    return Recipe(
        network=network, train=(x.transpose(1, 2), y), test=(xt.transpose(1, 2), yt), epochs=15, optimizer=adam(3e-3)
    )


@healthy("sine-forecast-lstm", "pytorch/examples, time_sequence_prediction", score=0.93)
def sine_lstm():
    """An LSTM predicts the next value of sine waves."""
    train, test = sine_forecast()
    return Recipe(network=lambda: LastState(nn.LSTM, 1, 32, 1), train=train, test=test, epochs=20, optimizer=adam(5e-3))


@healthy("weather-forecast-window", "keras.io, timeseries/timeseries_weather_forecasting", score=0.93)
def window_forecast():
    """A dense network on a window predicts the next value."""
    (x, y), (xt, yt) = sine_forecast()
    return Recipe(network=lambda: mlp(24, 64, 1), train=(x[..., 0], y), test=(xt[..., 0], yt), epochs=30)


@healthy("adding-problem", "Hochreiter and Schmidhuber 1997; keras.io, nlp/addition_rnn in spirit", score=0.9)
def adding_gru():
    """A GRU solves the adding problem with 12 steps."""
    train, test = adding()
    return Recipe(network=lambda: LastState(nn.GRU, 2, 32, 1), train=train, test=test, epochs=20, optimizer=adam(0.01))


@healthy("newsgroups-counts", "scikit-learn, auto_examples/text/plot_document_classification_20newsgroups", score=0.85)
def newsgroups():
    """Word counts of 20 topics, scaled by log(1 + count), in a dense network with dropout."""
    (x, y), (xt, yt) = text_counts()
    return Recipe(
        network=lambda: mlp(300, 64, 20, dropout=0.3),
        train=(x.log1p(), y),
        test=(xt.log1p(), yt),
        epochs=15,
        optimizer=adam(2e-3),
    )


@healthy("graph-classification", "pyg-team/pytorch_geometric, examples/proteins_topk_pool.py (dense)", score=0.9)
def graph_classification():
    """Two graph convolutions on dense adjacency matrices classify graphs."""
    train, test = graphs()
    return Recipe(network=DenseGCN, train=train, test=test, epochs=25, optimizer=adam(5e-3))


class SkipGram(nn.Module):
    """Two embeddings and their scalar product, as logits."""

    def __init__(self, words=50, width=12):
        super().__init__()
        self.first, self.second = nn.Embedding(words, width), nn.Embedding(words, width)

    def forward(self, x):
        return (self.first(x[:, 0]) * self.second(x[:, 1])).sum(1)


@healthy("matrix-factorization", "keras.io, structured_data/collaborative_filtering_movielens", score=0.75)
def matrix_factorization():
    """Ratings of users for items by factors of rank 3, learned by embeddings of width 8."""
    g = generator(1)
    users, items = torch.randn(50, 3, generator=g), torch.randn(40, 3, generator=g)
    pairs = torch.stack((torch.randint(50, (4500,), generator=g), torch.randint(40, (4500,), generator=g)), 1)
    y = (users[pairs[:, 0]] * items[pairs[:, 1]]).sum(1) / 1.7 + 0.1 * torch.randn(4500, generator=g)
    return Recipe(
        network=lambda: SkipGram(50, 8),
        train=(pairs[:3500], y[:3500]),
        test=(pairs[3500:], y[3500:]),
        epochs=25,
        optimizer=adam(0.02, weight_decay=1e-4),
        loss=F.mse_loss,
    )
