"""More cases for `bench_faults.py`, of other kinds than those the thresholds were chosen on: other data, other networks.

Tables of scikit-learn and of UCI, words, waves; a vision transformer, a GRU, a U-Net, an MLP-mixer, a DenseNet, one
output for two classes, probabilities with the loss that asks for them. None of them was looked at when a threshold was set.
"""

from functools import partial

import torch
from faults_cases import (
    Case,
    adam,
    case,
    contradict,
    initialized,
    inputs,
    labels,
    leak,
    made,
    noisy,
    only,
    sgd,
    shifted,
    shuffle,
)
from faults_models import mnist, perceptron, tokens, uci
from torch import nn
from torch.nn import functional as F  # noqa: N812

# Data


def bundled(name, seed=0, standardized=True, numbers=False):
    """A table of scikit-learn, three quarters for training."""
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    x, y = torch.from_numpy(x).float(), torch.from_numpy(y)
    x = (x - x.mean(0)) / x.std(0).clamp_min(1e-6) if standardized else x
    y = (y.float() - y.float().mean()) / y.float().std() if numbers else y.long()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    cut = len(x) * 3 // 4
    return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])


def digits(seed=0, pixels=16.0):
    (x, y), (xt, yt) = bundled("digits", seed, standardized=False)
    return (x.reshape(-1, 1, 8, 8) / pixels, y), (xt.reshape(-1, 1, 8, 8) / pixels, yt)


def houses(n=4000, m=1000, seed=0):
    """A regression like prices of houses: skewed columns, an interaction, much noise; standardized."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, 8, generator=g)
    x[:, :3] = x[:, :3].exp()
    x = (x - x.mean(0)) / x.std(0)
    y = x[:, 0] + 0.5 * x[:, 1].tanh() * x[:, 5] + 0.7 * torch.randn(n + m, generator=g)
    y = (y - y.mean()) / y.std()
    return (x[:n], y[:n]), (x[n:], y[n:])


def tones(n=2500, m=800, length=64, seed=0):
    """Noisy waves of three frequencies with random phases."""
    g = torch.Generator().manual_seed(seed)

    def draw(k):
        y = torch.randint(0, 3, (k,), generator=g)
        t = torch.linspace(0, 1, length) * 2 * torch.pi
        wave = torch.sin((2.0 + 2 * y)[:, None] * t + 6.28 * torch.rand(k, 1, generator=g))
        return (wave + 0.5 * torch.randn(k, length, generator=g))[:, None], y

    return draw(n), draw(m)


def raw_pixels(n=3000, m=800, seed=0):
    """MNIST in [0, 1], as most people feed it."""
    (x, y), (xt, yt) = mnist(n, m, seed)
    return (x * 0.3081 + 0.1307, y), (xt * 0.3081 + 0.1307, yt)


def halves(n=2500, m=800, seed=0):
    """Images to be filled in: the lower half is hidden."""
    (x, _), (xt, _) = raw_pixels(n, m, seed)

    def hide(a):
        b = a.clone()
        b[:, :, 14:] = 0
        return b, a.flatten(1)

    return hide(x), hide(xt)


def even(n=3000, m=800, seed=0):
    """Whether a digit is even: two classes."""
    (x, y), (xt, yt) = mnist(n, m, seed)
    return (x, y % 2), (xt, yt % 2)


def two(change):
    """Labels of two classes as numbers (n, 1), for the logistic loss."""

    def make(n=3000, m=800, seed=0):
        (x, y), (xt, yt) = even(n, m, seed)
        return (x, change(y)), (xt, change(yt))

    return make


def column(y):
    return y.float()[:, None]


def flat_of(data, seed=0):
    (x, y), (xt, yt) = data(seed=seed)
    return (x.flatten(1), y), (xt.flatten(1), yt)


def uci_few(name, n, seed=0):
    (x, y), test = uci(name, seed)
    return (x[:n], y[:n]), test


# Networks


class ViT(nn.Module):
    def __init__(self, width=48, layers=2, classes=10, wrong=""):
        super().__init__()
        self.embed, self.token = nn.Conv2d(1, width, 7, 7), nn.Parameter(torch.zeros(1, 1, width))
        self.place, self.wrong = nn.Parameter(0.02 * torch.randn(1, 17, width)), wrong
        part = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(part, layers, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        h = self.embed(x).flatten(2).mT
        h = torch.cat([self.token.expand(len(x), -1, -1), h], 1) + self.place
        h = self.norm(h[:, 0] if self.wrong == "before" else self.encoder(h)[:, 0])
        return self.head(h)


class Gru(nn.Module):
    def __init__(self, vocabulary=200, width=48, classes=4, wrong=""):
        super().__init__()
        self.embed, self.rnn = (
            nn.Embedding(vocabulary, width),
            nn.GRU(width, width, batch_first=True, bidirectional=True),
        )
        self.head, self.wrong = nn.Linear(2 * width, classes), wrong

    def forward(self, x):
        h, _ = self.rnn(self.embed(x))
        f = self.head(h.max(1).values)
        return f.detach() + 0 * f if self.wrong == "detach" else f.log_softmax(1) if self.wrong == "log" else f


class Mixer(nn.Module):
    def __init__(self, width=48, places=16, classes=10, layers=2):
        super().__init__()
        self.embed, self.head = nn.Conv2d(1, width, 7, 7), nn.Linear(width, classes)

        def mlp(size):
            return nn.Sequential(nn.LayerNorm(size), nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

        self.places = nn.ModuleList(mlp(places) for _ in range(layers))
        self.channels = nn.ModuleList(mlp(width) for _ in range(layers))

    def forward(self, x):
        h = self.embed(x).flatten(2).mT
        for a, b in zip(self.places, self.channels, strict=True):
            h = h + a(h.mT).mT
            h = h + b(h)
        return self.head(h.mean(1))


class DenseNet(nn.Module):
    def __init__(self, growth=12, layers=4, classes=10, norm=nn.BatchNorm2d, end=None):
        super().__init__()
        sizes = [16 + growth * i for i in range(layers + 1)]
        self.stem = nn.Conv2d(1, 16, 3, 2, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(norm(c), nn.ReLU(), nn.Conv2d(c, growth, 3, padding=1)) for c in sizes[:-1]
        )
        self.norm, self.head = norm(sizes[-1]), nn.Linear(sizes[-1], classes)
        self.end = end or nn.Identity()

    def forward(self, x):
        h = self.stem(x)
        for block in self.blocks:
            h = torch.cat([h, block(h)], 1)
        return self.end(self.head(F.relu(self.norm(h)).mean((2, 3))))


class UNet(nn.Module):
    def __init__(self, width=8, end=None, wrong=""):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, width, 3, padding=1), nn.Conv2d(width, 2 * width, 3, padding=1)
        self.up, self.c = nn.ConvTranspose2d(2 * width, width, 2, 2), nn.Conv2d(2 * width, 1, 3, padding=1)
        self.end, self.wrong = end or nn.Identity(), wrong

    def forward(self, x):
        h = F.relu(self.a(x))
        d = F.relu(self.b(F.max_pool2d(h, 2)))
        u = F.relu(self.up(d))
        h = torch.cat([torch.zeros_like(h), 0 * u] if self.wrong == "ignores" else [h, u], 1)
        return self.end(self.c(h)).flatten(1)


class Words(nn.Module):
    def __init__(self, vocabulary=200, width=32, classes=4):
        super().__init__()
        self.bag, self.head = nn.EmbeddingBag(vocabulary, width), nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.bag(x))


def waves():
    return nn.Sequential(
        nn.Conv1d(1, 16, 7, padding=3), nn.GroupNorm(4, 16), nn.SiLU(), nn.MaxPool1d(2), nn.Conv1d(16, 32, 5, padding=2),
        nn.SiLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(128, 3),
    )  # fmt: skip


def small(classes=10, side=8, end=None):
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Flatten(),
        nn.Linear(32 * (side // 2) ** 2, classes), *([] if end is None else [end]),
    )  # fmt: skip


TWO = made(small, 1, 28)
WINE, CANCER, CELLS = (made(perceptron, s) for s in ((13, 32, 3), (30, 64, 2), (8, 64, 64, 1)))


def table(name):
    def make():
        x, y = uci(name)[0]
        return perceptron((x.shape[1], 96, int(y.max()) + 1), nn.GELU)

    return make


def deep(build):
    """Layers of weights drawn with a tenth of their usual scale."""
    return initialized(build, lambda net: [p.mul_(0.05) for p in net.parameters() if p.dim() > 1])


def stuck(seed):
    """The second half of a batch is a copy of the first: a collate function with a bug."""
    train, test = digits(seed)
    x = train[0].clone()
    x[len(x) // 2 : 2 * (len(x) // 2)] = x[: len(x) // 2]
    return small, (x, train[1]), test, {}


HEALTHY = [
    case("wine", WINE, partial(bundled, "wine")),
    case("breast cancer", CANCER, partial(bundled, "breast_cancer")),
    case("houses", CELLS, houses),
    case("houses, sgd", CELLS, houses, optimizer=sgd(0.02, momentum=0.9)),
    case("diabetes, small net", made(perceptron, (10, 16, 1), nn.Tanh), partial(bundled, "diabetes", numbers=True)),
    case("digits of 8 x 8", small, digits),
    case("digits, pixels in [0, 1]", made(small, 10, 28), raw_pixels),
    case("vit", ViT, mnist),
    case("gru, bidirectional", Gru, tokens),
    case("mixer", Mixer, mnist),
    case("densenet", DenseNet, mnist),
    case("u-net, filling in", UNet, halves),
    case("u-net, sigmoid on [0, 1]", made(UNet, end=nn.Sigmoid()), halves),
    case("words in a bag", Words, tokens),
    case("waves, group norm", waves, tones),
    case("one output, two classes", TWO, two(column), loss=nn.BCEWithLogitsLoss()),
    case("sigmoid with its own loss", made(small, 1, 28, nn.Sigmoid()), two(column), loss=nn.BCELoss()),
    case("log softmax with its own loss", made(Gru, wrong="log"), tokens, loss=nn.NLLLoss()),
    case("two outputs", made(small, 2, 28), even),
    case("nesterov", DenseNet, mnist, optimizer=sgd(0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)),
    *(case(f"more uci {n}", table(n), partial(uci, n)) for n in
      ("steel-plates", "wine-quality-white", "contrac", "molec-biol-splice", "titanic", "abalone", "led-display", "bank")),
]  # fmt: skip

FAULTY = [
    case("densenet ends in softmax", made(DenseNet, end=nn.Softmax(1)), mnist, "softmax-before-loss"),
    case("sigmoid before the logistic loss", made(small, 1, 28, nn.Sigmoid()), two(column), "sigmoid-before-loss",
         loss=nn.BCEWithLogitsLoss()),
    case("two classes in one column, broadcast", TWO, two(lambda y: y.float()), "broadcast-loss",
         loss=lambda f, y: (f - y).square().mean()),
    case("wine as it comes", WINE, partial(bundled, "wine", standardized=False), ("feature-scale", "input-scale")),
    case("breast cancer as it comes", CANCER, partial(bundled, "breast_cancer", standardized=False),
         ("feature-scale", "input-scale")),
    case("houses in dollars", CELLS, houses, "target-scale",
         change=lambda a, b: ((a[0], 2e5 + 1e5 * a[1]), (b[0], 2e5 + 1e5 * b[1]))),
    case("vit without its encoder", made(ViT, wrong="before"), mnist, ("unused-parameters", "inputs-ignored")),
    case("gru, outputs detached", made(Gru, wrong="detach"), tokens, ("detached", "not-learning")),
    case("u-net ignores its input", made(UNet, wrong="ignores"), halves, ("inputs-ignored", "detached")),
    case("mixer, adam 1", Mixer, mnist, ("learning-rate-too-large", "training-diverged", "exploding-loss"),
         optimizer=adam(1.0)),
    case("densenet, sgd 1e-5", DenseNet, mnist, ("learning-rate-too-small", "learning-rate-small"),
         optimizer=sgd(1e-5)),
    case("waves, adam 1e-6", waves, tones, ("learning-rate-too-small", "learning-rate-small"), optimizer=adam(1e-6)),
    case("houses, sgd 3", CELLS, houses, ("learning-rate-too-large", "training-diverged", "exploding-loss"),
         optimizer=sgd(3.0)),
    case("vit, decay 10", ViT, mnist, "weight-decay-wins", optimizer=adam(1e-3, torch.optim.AdamW, weight_decay=20.0)),
    case("digits, 20 % wrong labels", small, digits, "noisy-labels", change=noisy(0.2, 5)),
    case("steel plates, shuffled", table("steel-plates"), partial(uci, "steel-plates"), "labels-unrelated",
         change=labels(shuffle)),
    case("splice, 15 % wrong labels", table("molec-biol-splice"), partial(uci, "molec-biol-splice"), "noisy-labels",
         change=noisy(0.15, 5)),
    case("tokens, 20 % wrong labels", Gru, tokens, "noisy-labels", change=noisy(0.2, 5)),
    case("tokens, shuffled", Words, tokens, "labels-unrelated", change=labels(shuffle)),
    case("waves, 10 % leaked", waves, tones, "leaked-test", change=leak(0.1)),
    case("bank, 10 % leaked", table("bank"), partial(uci, "bank"), "leaked-test", change=leak(0.1)),
    case("waves, test shifted", waves, tones, "train-test-shift", change=shifted(lambda x: x + 1.0)),
    case("digits, contradictions", small, digits, "conflicting-labels", change=contradict(0.1)),
    case("digits, a class missing", small, digits, "class-missing", change=only(lambda y: y != 3)),
    case("pixels of 255, vit", ViT, mnist, "input-scale", change=inputs(lambda x: 255 * (x * 0.3081 + 0.1307))),
    case("small weights, mixer", deep(Mixer), mnist, ("vanishing-activations", "vanishing-gradients")),
    case("sigmoid, six layers", made(perceptron, (784, *[64] * 8, 10), nn.Sigmoid), partial(flat_of, mnist),
         ("vanishing-gradients", "vanishing-activations", "merged-inputs", "not-learning")),
    case("overfits semeion", made(perceptron, (256, 512, 512, 10)), partial(uci_few, "semeion", 120), "overfit", epochs=200),
    case("underfits digits", made(perceptron, (64, 1, 10)), partial(flat_of, digits),
         ("underfit", "undertrained", "below-limit"), epochs=40),
    Case("a copied half", stuck, ("conflicting-labels",)),
]  # fmt: skip
