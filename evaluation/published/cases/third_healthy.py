"""A third set of healthy public examples, of kinds that are not in the first two sets."""

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, healthy, sgd
from evaluation.published.data.load import digits, flat_digits, split, standardized, uci
from evaluation.published.data.made import adding, generator, imbalanced
from evaluation.published.networks import mlp


@healthy("third-temporal-convolution", "locuslab/TCN: adding problem; Bai et al. 2018", score=0.85)
def temporal_convolution():
    """A causal network of dilated convolutions with residual connections on the adding problem."""
    train, test = adding()

    class Block(nn.Module):
        """A causal convolution with a residual connection."""

        def __init__(self, channels, dilation):
            super().__init__()
            self.left, self.conv = 2 * dilation, nn.Conv1d(channels, channels, 3, dilation=dilation)

        def forward(self, x):
            return x + F.relu(self.conv(F.pad(x, (self.left, 0))))

    class TCN(nn.Module):
        """Three blocks and a linear layer on the last time step."""

        def __init__(self):
            super().__init__()
            self.first, self.head = nn.Conv1d(2, 32, 1), nn.Linear(32, 1)
            self.blocks = nn.Sequential(Block(32, 1), Block(32, 2), Block(32, 4))

        def forward(self, x):
            return self.head(self.blocks(self.first(x.transpose(1, 2)))[:, :, -1])

    return Recipe(network=TCN, train=train, test=test, optimizer=adam(3e-3), epochs=40)


@healthy(
    "third-label-smoothing", "pytorch/vision references/classification: label smoothing, AdamW, cosine", score=0.95
)
def label_smoothing():
    """A convolutional network with label smoothing, AdamW and cosine annealing."""
    train, test = digits()

    class Net(nn.Module):
        """Two convolutions with batch normalization, dropout and two dense layers."""

        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            )  # fmt: skip
            self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(128, 10))

        def forward(self, x):
            return self.head(self.features(x))

    return Recipe(
        network=Net, train=train, test=test, loss=nn.CrossEntropyLoss(label_smoothing=0.1), epochs=15,
        optimizer=lambda p: optim.AdamW(p, 3e-3, weight_decay=0.05),
        schedule=lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 15),
    )  # fmt: skip


@healthy("third-separable-convolutions", "Keras applications, MobileNet; Howard et al. 2017 (small)", score=0.93)
def separable_convolutions():
    """Depthwise and pointwise convolutions in turn, then a global mean over the pixels."""
    train, test = digits()

    def block(n, m, stride):
        depthwise = nn.Conv2d(n, n, 3, stride, 1, groups=n, bias=False)
        return nn.Sequential(
            depthwise, nn.BatchNorm2d(n), nn.ReLU6(), nn.Conv2d(n, m, 1, bias=False), nn.BatchNorm2d(m), nn.ReLU6()
        )

    def network():
        stem = (nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        blocks = (block(16, 32, 1), block(32, 64, 2), block(64, 64, 2))
        return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))

    return Recipe(network=network, train=train, test=test, optimizer=adam(3e-3), epochs=15)


@healthy("third-two-targets", "scikit-learn, auto_examples/tree/plot_tree_regression (multi-output)", score=0.9)
def two_targets():
    """Two coordinates of a circle from one angle, with noise."""
    g = generator(21)
    angle = 4 * torch.rand(900, 1, generator=g) - 2
    y = torch.cat((torch.sin(1.5 * angle), torch.cos(1.5 * angle)), 1) + 0.1 * torch.randn(900, 2, generator=g)
    train, test = split(angle, y, 600)
    return Recipe(network=lambda: mlp(1, 64, 64, 2), train=train, test=test, optimizer=adam(3e-3), epochs=40)


@healthy("third-image-from-coordinates", "keras.io / vsitzmann/siren: an image as a function of coordinates", score=0.9)
def image_from_coordinates():
    """A network with Fourier features learns a smooth image from three quarters of its pixels."""
    rows, columns = torch.meshgrid(torch.linspace(-1, 1, 40), torch.linspace(-1, 1, 40), indexing="ij")
    image = torch.sin(4 * rows) * torch.cos(3 * columns) + torch.exp(-8 * ((rows - 0.3) ** 2 + columns**2))
    train, test = split(torch.stack((rows.flatten(), columns.flatten()), 1), image.reshape(-1, 1), 1200)

    class Net(nn.Module):
        """Sines and cosines of fixed random projections, then a perceptron."""

        def __init__(self):
            super().__init__()
            self.register_buffer("frequencies", 2 * torch.randn(2, 32))
            self.body = mlp(64, 64, 1)

        def forward(self, x):
            angle = x @ self.frequencies
            return self.body(torch.cat((angle.sin(), angle.cos()), 1))

    return Recipe(network=Net, train=train, test=test, optimizer=adam(3e-3), epochs=40)


@healthy("third-weighted-classes", "TensorFlow tutorial: classification on imbalanced data (class weights)", score=0.8)
def weighted_classes():
    """A rare class of 15 % with weights by the inverse frequency."""
    train, test = imbalanced(rare=0.15, shift=2.0)
    weight = len(train[1]) / (2 * torch.bincount(train[1]).float())
    return Recipe(
        network=lambda: mlp(10, 32, 2), train=train, test=test, loss=nn.CrossEntropyLoss(weight=weight), epochs=15
    )


@healthy("third-tokens-of-columns", "Gorishniy et al. 2021, rtdl FT-Transformer; keras.io tab_transformer", score=0.68)
def tokens_of_columns():
    """Each column of a table becomes a token of a small transformer."""
    train, test = standardized(*uci("statlog-vehicle"))
    columns, classes = train[0].shape[1], int(train[1].max()) + 1

    class Net(nn.Module):
        """A vector for each column, one block with layer norm first, and a first token that answers."""

        def __init__(self):
            super().__init__()
            self.weight, self.bias = (
                nn.Parameter(0.3 * torch.randn(columns, 24)),
                nn.Parameter(torch.zeros(columns, 24)),
            )
            self.first = nn.Parameter(0.3 * torch.randn(1, 1, 24))
            block = nn.TransformerEncoderLayer(24, 4, 48, dropout=0.1, batch_first=True, norm_first=True)
            self.encoder = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
            self.head = nn.Sequential(nn.LayerNorm(24), nn.Linear(24, classes))

        def forward(self, x):
            tokens = torch.cat((self.first.expand(len(x), 1, 24), x[:, :, None] * self.weight + self.bias), 1)
            return self.head(self.encoder(tokens)[:, 0])

    return Recipe(network=Net, train=train, test=test, optimizer=adam(2e-3), epochs=30)


@healthy("third-maxout", "Goodfellow et al. 2013; pylearn2 maxout examples", score=0.93)
def maxout():
    """Maxout layers with dropout of the inputs and SGD with momentum."""
    train, test = flat_digits()

    class Maxout(nn.Module):
        """The maximum of three linear functions for each unit."""

        def __init__(self, n, m):
            super().__init__()
            self.linear, self.units = nn.Linear(n, 3 * m), m

        def forward(self, x):
            return self.linear(x).view(-1, self.units, 3).amax(2)

    def network():
        return nn.Sequential(nn.Dropout(0.1), Maxout(64, 32), Maxout(32, 32), nn.Linear(32, 10))

    return Recipe(network=network, train=train, test=test, optimizer=sgd(0.05, momentum=0.9), epochs=20)
