"""A second set of healthy public examples, written after the first set was examined."""

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, healthy, sgd
from evaluation.published.data.load import digits, flat_digits, split, uci
from evaluation.published.data.made import generator
from evaluation.published.networks import mlp


@healthy("second-spiral", "Stanford CS231n, neural networks case study: spiral data", score=0.9)
def spiral():
    """Three spiral arms, a perceptron with one hidden layer of 100 units."""
    g = generator(0)
    y = torch.arange(900) % 3
    r = torch.rand(900, generator=g)
    t = 4 * r + 2.1 * y + 0.2 * torch.randn(900, generator=g)
    train, test = split(2 * torch.stack((r * t.sin(), r * t.cos()), 1), y, 600)
    return Recipe(network=lambda: mlp(2, 100, 3), train=train, test=test, optimizer=adam(1e-2), epochs=60)


@healthy("second-quantile", "PyTorch Forecasting, QuantileLoss; scikit-learn, quantile regression example", score=0.5)
def quantile():
    """The median of a noisy curve by the pinball loss."""
    g = generator(1)
    x = 4 * torch.rand(900, 1, generator=g) - 2
    train, test = split(x, (2 * x).sin() + 0.3 * torch.randn(900, 1, generator=g), 600)

    def pinball(outputs, y):
        return torch.maximum(0.5 * (y - outputs), -0.5 * (y - outputs)).mean()

    return Recipe(network=lambda: mlp(1, 64, 1), train=train, test=test, loss=pinball, optimizer=adam(1e-2), epochs=60)


@healthy("second-poisson", "PyTorch documentation, PoissonNLLLoss; scikit-learn, Poisson regression example", score=0.3)
def poisson():
    """Counts whose logarithm is a smooth function of four columns."""
    g = generator(2)
    x = torch.randn(1200, 4, generator=g)
    rate = (0.8 + 0.6 * x[:, :1] - 0.4 * x[:, 1:2] * x[:, 2:3]).exp()
    train, test = split(x, torch.poisson(rate, generator=g), 800)

    def score(outputs, y):
        return 1 - float((outputs.exp() - y).square().sum() / (y - y.mean()).square().sum())

    return Recipe(
        network=lambda: mlp(4, 32, 1), train=train, test=test, loss=nn.PoissonNLLLoss(), score=score, epochs=40
    )


@healthy("second-mixer", "lucidrains/mlp-mixer-pytorch; Tolstikhin et al. 2021", score=0.9)
def mixer():
    """An MLP-Mixer on digits cut into 16 patches."""
    train, test = digits()

    class Mixer(nn.Module):
        """One block that mixes patches, then channels."""

        def __init__(self):
            super().__init__()
            self.embed = nn.Conv2d(1, 32, 2, stride=2)
            self.norm1, self.norm2 = nn.LayerNorm(32), nn.LayerNorm(32)
            self.tokens = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
            self.channels = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
            self.head = nn.Linear(32, 10)

        def forward(self, x):
            x = self.embed(x).flatten(2).transpose(1, 2)
            x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            x = x + self.channels(self.norm2(x))
            return self.head(x.mean(1))

    return Recipe(network=Mixer, train=train, test=test, optimizer=adam(3e-3), epochs=30)


@healthy("second-deep-sets", "Zaheer et al. 2017, manzilzaheer/DeepSets: sums of sets", score=0.8)
def deep_sets():
    """The largest of eight numbers, from a sum over embeddings of the numbers."""
    g = generator(3)
    x = torch.rand(1500, 8, 1, generator=g)
    train, test = split(x, x.amax(1), 1000)

    class DeepSets(nn.Module):
        """A network that does not depend on the order of its inputs."""

        def __init__(self):
            super().__init__()
            self.each, self.all = mlp(1, 32, 32), mlp(32, 32, 1)

        def forward(self, x):
            return self.all(self.each(x).sum(1))

    return Recipe(network=DeepSets, train=train, test=test, optimizer=adam(3e-3), epochs=40)


@healthy("second-one-cycle", "PyTorch documentation, OneCycleLR; fast.ai course", score=0.9)
def warm_restarts():
    """A perceptron with batch normalization, SGD with momentum and cosine annealing."""
    train, test = flat_digits()
    return Recipe(
        network=lambda: mlp(64, 64, 10, norm=nn.BatchNorm1d), train=train, test=test,
        optimizer=sgd(0.1, momentum=0.9, weight_decay=1e-4), epochs=15,
        schedule=lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 15),
    )  # fmt: skip


@healthy("second-focal", "torchvision.ops.sigmoid_focal_loss; Lin et al. 2017", score=0.9)
def focal():
    """Two overlapping moons by the focal loss of logits."""
    g = generator(4)
    y = (torch.rand(900, generator=g) < 0.3).float()
    angle = 3.14 * torch.rand(900, generator=g)
    x = torch.stack((angle.cos() * (1 - 2 * y) + y, angle.sin() * (1 - 2 * y) + 0.5 * y), 1)
    train, test = split(x + 0.15 * torch.randn(900, 2, generator=g), y[:, None], 600)

    def focal_loss(outputs, targets):
        each = F.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
        return ((1 - (-each).exp()) ** 2 * each).mean()

    def score(outputs, targets):
        return float(((outputs > 0) == (targets > 0.5)).double().mean())

    return Recipe(
        network=lambda: mlp(2, 32, 32, 1), train=train, test=test, loss=focal_loss, score=score, optimizer=adam(5e-3),
        epochs=60,
    )  # fmt: skip


@healthy("second-uci-table", "UCI pima indians diabetes; Fernandez-Delgado et al. 2014", score=0.68)
def table_with_dropout():
    """A small medical table with overlapping classes, dropout and weight decay."""
    train, test = uci("pima")
    return Recipe(
        network=lambda: mlp(train[0].shape[1], 32, int(train[1].max()) + 1, dropout=0.2), train=train, test=test,
        optimizer=adam(1e-3, weight_decay=1e-4), epochs=40,
    )  # fmt: skip
