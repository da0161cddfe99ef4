"""Twelve kinds of model whose reports are looked at in a browser; each is examined with a clock that only ticks."""

import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.data import digits
from gnomon.examination import Examination, examine
from tests.examination.patients import cnn

VOCABULARY = ("the", "a", "cat", "dog", "sees", "likes", "runs", "home", "and", ".")
COLUMNS = ("age", "height", "weight", "income", "rooms", "distance")
TICK = 0.01
"""Seconds that every reading of the clock takes."""


def _draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _split(x, y, n=160):
    return (x[:n], y[:n]), (x[n:], y[n:])


def _images(n=160, m=80):
    found = digits(n, m)
    return (found.x, found.y), (found.x_test, found.y_test)


class Language(nn.Module):
    def __init__(self, words=10, width=16, length=12):
        super().__init__()
        self.embed, self.place = nn.Embedding(words, width), nn.Parameter(0.02 * torch.randn(length, width))
        self.block = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.head(self.block(self.embed(x) + self.place[: x.shape[1]], src_mask=mask, is_causal=True))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(len(VOCABULARY), 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.embed(x).mean(1))


class RingNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 16), nn.Linear(16, 2)

    def forward(self, x, adjacency):
        hidden = torch.relu(adjacency @ self.first(x))
        return self.second((adjacency @ hidden).mean(1))


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(64, 8), nn.Linear(4, 64)

    def forward(self, x):
        mean, log_variance = self.encode(x.flatten(1)).chunk(2, 1)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decode(code).reshape(x.shape), mean, log_variance


def variational_loss(outputs, x):
    made, mean, log_variance = outputs
    gap = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(1).mean()
    return (made - x).square().flatten(1).sum(1).mean() / 2 + gap


def image(**options):
    return _run(cnn, *_images(), name="cnn.py:build on digits", **options)


def table(**options):
    x = _draw(240, 6)
    data = _split(x, (x[:, 0] + x[:, 3] > 0).long())
    return _run(lambda: _mlp(6, 2), *data, columns=COLUMNS, class_names=("no", "yes"), name="loans", **options)


def regression(**options):
    x = _draw(240, 6)
    y = (x[:, :1] - 0.5 * x[:, 4:5]) + 0.1 * _draw(240, 1, seed=1)
    return _run(lambda: _mlp(6, 1), *_split(x, y), columns=COLUMNS, name="house prices", **options)


def tokens(**options):
    x = torch.randint(0, len(VOCABULARY), (240, 8), generator=torch.Generator().manual_seed(0))
    data = _split(x, ((x == 2).sum(1) > (x == 3).sum(1)).long())
    return _run(Tokens, *data, vocabulary=VOCABULARY, class_names=("dogs", "cats"), name="sentences", **options)


def language(**options):
    draw = torch.Generator().manual_seed(0)
    chances = torch.softmax(3 * torch.randn(10, 10, generator=draw), 1)
    words = [torch.randint(0, 10, (240,), generator=draw)]
    for _ in range(12):
        words.append(torch.multinomial(chances[words[-1]], 1, generator=draw)[:, 0])
    text = torch.stack(words, 1)
    return _run(
        Language, *_split(text[:, :-1], text[:, 1:]), vocabulary=VOCABULARY, name="small language model", **options
    )


def graph(**options):
    x, ring = _draw(240, 6, 4), torch.eye(6) + torch.eye(6).roll(1, 0)
    y, edges = (x[:, :, 0].mean(1) > 0).long(), (ring / 2).expand(240, 6, 6).contiguous()
    train, test = ((x[:160], edges[:160]), y[:160]), ((x[160:], edges[160:]), y[160:])
    return _run(RingNetwork, train, test, name="rings", **options)


def segmentation(**options):
    (x, _), (held, _) = _images()
    data = (x, (x[:, 0] > 0.5).long()), (held, (held[:, 0] > 0.5).long())
    build = lambda: nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 3, padding=1))  # noqa: E731
    return _run(build, *data, class_names=("paper", "ink"), name="strokes of digits", **options)


def autoencoder(**options):
    (x, _), (held, _) = _images()
    build = lambda: nn.Sequential(  # noqa: E731
        nn.Flatten(), nn.Linear(64, 16), nn.Tanh(), nn.Linear(16, 64), nn.Unflatten(1, (1, 8, 8))
    )
    return _run(build, (x, x), (held, held), name="autoencoder of digits", **options)


def variational(**options):
    (x, _), (held, _) = _images()
    return _run(VAE, (x, x), (held, held), loss=variational_loss, name="VAE of digits", **options)


def deep():
    """A network of 11 layers in which the signal vanishes."""
    layers = [part for _ in range(10) for part in (nn.Linear(64, 64), nn.Tanh())]
    net = nn.Sequential(nn.Flatten(), *layers, nn.Linear(64, 10))
    for part in net:
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, 0, 0.01)
            nn.init.zeros_(part.bias)
    return net


def faulty(**options):
    return _run(deep, *_images(), name="deep.py:build on digits", **options)


def deep_and_cnn():
    """Two networks by name, training data and test data, for a comparison."""
    return {"deep": deep, "small_cnn": cnn}, *_images()


def starved(**options):
    return _run(cnn, *_images(), name="cnn.py:build, no time", **{"budget": 0.4, **options})


def untrained(**options):
    return _run(cnn(), *_images(), fit=False, name="untrained CNN", **options)


def _mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))


def _run(build, train, test, *, budget=5.0, tick=TICK, **options) -> Examination:
    torch.manual_seed(0)
    return examine(build, train, test, budget=budget, clock=FakeClock(tick), **options)


KINDS = {
    "image": image, "table": table, "regression": regression, "tokens": tokens, "language model": language,
    "graph": graph, "segmentation": segmentation, "autoencoder": autoencoder, "VAE": variational, "faulty": faulty,
    "starved of time": starved, "untrained": untrained,
}  # fmt: skip
