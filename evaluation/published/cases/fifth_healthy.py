"""A fifth set of healthy public examples, counterparts of the fifth set of faults."""

import math

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, healthy
from evaluation.published.data.load import digits, flat_digits, split, standardized, uci
from evaluation.published.data.made import generator, padded_reviews, reviews, shapes
from evaluation.published.networks import SmallCNN, UNet, mlp


@healthy("fifth-nll-of-log-softmax", "pytorch/tutorials: NLLLoss after LogSoftmax", score=0.93)
def nll_of_log_softmax():
    """A perceptron that ends in LogSoftmax, with NLLLoss."""
    train, test = flat_digits()
    return Recipe(
        network=lambda: nn.Sequential(mlp(64, 64, 10), nn.LogSoftmax(1)), train=train, test=test, loss=nn.NLLLoss()
    )


@healthy("fifth-adadelta", "pytorch/examples, mnist: Adadelta with rate 1.0 and StepLR", score=0.91)
def adadelta():
    """A convolutional network with Adadelta at rate 1.0 and a rate that falls by 0.7 after each epoch."""
    train, test = digits()
    return Recipe(
        network=SmallCNN, train=train, test=test, epochs=10, optimizer=lambda p: optim.Adadelta(p, lr=1.0),
        schedule=lambda o: optim.lr_scheduler.StepLR(o, 1, gamma=0.8),
    )  # fmt: skip


@healthy("fifth-masked-attention", "d2l.ai, attention scoring functions: masked softmax", score=0.93)
def masked_attention():
    """Attention pooling over word vectors that leaves padding out."""
    train, test = padded_reviews()

    class Net(nn.Module):
        """Scores of tokens, a softmax over real tokens, and a linear layer."""

        def __init__(self):
            super().__init__()
            self.embed, self.score, self.head = nn.Embedding(64, 16), nn.Linear(16, 1), nn.Linear(16, 2)

        def forward(self, x, lengths):
            h = self.embed(x)
            scores = self.score(h.tanh())[..., 0].masked_fill(x == 0, float("-inf"))
            return self.head((scores.softmax(1)[..., None] * h).sum(1))

    return Recipe(network=Net, train=train, test=test, optimizer=adam(5e-3), epochs=15)


@healthy("fifth-bidirectional", "PyTorch forum 49825; keras.io bidirectional_lstm_imdb: both final states", score=0.85)
def bidirectional():
    """A bidirectional GRU whose two final states are joined."""
    train, test = reviews()

    class Net(nn.Module):
        """Word vectors, a bidirectional GRU and a linear layer."""

        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(60, 16), nn.Linear(48, 2)
            self.rnn = nn.GRU(16, 24, batch_first=True, bidirectional=True)

        def forward(self, x):
            _, last = self.rnn(self.embed(x))
            return self.head(torch.cat((last[0], last[1]), 1))

    return Recipe(network=Net, train=train, test=test, optimizer=adam(5e-3), epochs=15)


@healthy("fifth-cosine-classifier", "Wang et al. 2017, NormFace: scaled cosines", score=0.93)
def cosine_classifier():
    """Class scores are 16 times the cosines between features and class vectors."""
    train, test = flat_digits()

    class Net(nn.Module):
        """Scaled cosines of features."""

        def __init__(self):
            super().__init__()
            self.body, self.classes = mlp(64, 64, 32), nn.Parameter(torch.randn(10, 32))

        def forward(self, x):
            return 16 * F.normalize(self.body(x), dim=1) @ F.normalize(self.classes, dim=1).T

    return Recipe(network=Net, train=train, test=test, optimizer=adam(2e-3), epochs=15)


@healthy("fifth-sine-and-cosine", "Cross Validated: predict the sine and cosine of an angle", score=0.9)
def sine_and_cosine():
    """The direction of a point from four rotated, noisy columns, as its sine and cosine."""
    g = generator(51)
    angle = 2 * math.pi * torch.rand(1200, generator=g)
    point = torch.stack((angle.cos(), angle.sin(), torch.zeros(1200), torch.zeros(1200)), 1)
    x = point @ torch.linalg.qr(torch.randn(4, 4, generator=g))[0] + 0.1 * torch.randn(1200, 4, generator=g)
    train, test = split(x, point[:, :2], 800)
    return Recipe(network=lambda: mlp(4, 32, 2), train=train, test=test, optimizer=adam(5e-3))


@healthy("fifth-dice-loss", "Milletari et al. 2016, V-Net; segmentation_models.pytorch, DiceLoss", score=0.75)
def dice_loss():
    """A U-Net for one object with the sum of binary cross-entropy and the Dice loss."""
    (x, masks), (xt, test_masks) = shapes(n=300)
    train, test = (x, (masks > 0).float()[:, None]), (xt, (test_masks > 0).float()[:, None])

    def loss(outputs, targets):
        p = outputs.sigmoid()
        dice = 1 - (2 * (p * targets).sum() + 1) / (p.sum() + targets.sum() + 1)
        return dice + F.binary_cross_entropy_with_logits(outputs, targets)

    def overlap(outputs, targets):
        found, true = outputs > 0, targets > 0.5
        return float((found & true).sum() / (found | true).sum())

    return Recipe(
        network=lambda: UNet(classes=1),
        train=train,
        test=test,
        loss=loss,
        optimizer=adam(3e-3),
        epochs=20,
        score=overlap,
    )


@healthy("fifth-deep-residual", "yandex-research/rtdl: ResNet of eight blocks with batch normalization", score=0.9)
def deep_residual():
    """Eight residual blocks with batch normalization on the image segmentation table."""
    train, test = standardized(*uci("statlog-image"))
    columns, classes = train[0].shape[1], int(train[1].max()) + 1

    class Net(nn.Module):
        """Residual blocks for tables."""

        def __init__(self):
            super().__init__()
            self.first, self.head = (
                nn.Linear(columns, 32),
                nn.Sequential(nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, classes)),
            )
            self.blocks = nn.ModuleList(
                nn.Sequential(nn.BatchNorm1d(32), nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 32)) for _ in range(8)
            )

        def forward(self, x):
            h = self.first(x)
            for block in self.blocks:
                h = h + block(h)
            return self.head(h)

    return Recipe(network=Net, train=train, test=test, epochs=15)
