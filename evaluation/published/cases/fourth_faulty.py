"""A fourth set of faults, written together with the third and run once after the checks were changed."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import flat_digits, split
from evaluation.published.data.made import generator, regression, reviews
from evaluation.published.networks import MeanEmbedding, SmallCNN, mlp


@faulty(
    "fourth-other-vocabulary",
    "Keras documentation and StackOverflow: Tokenizer.fit_on_texts called again on the test texts",
    fix="Use the vocabulary of the training texts for the test texts.",
)
def other_vocabulary():
    """The test texts were numbered by a vocabulary of their own, so each word has another number there."""
    train, (x, y) = reviews()
    number = torch.cat((torch.zeros(1, dtype=torch.long), 1 + torch.randperm(59, generator=generator(31))))
    given = Recipe(network=lambda: MeanEmbedding(60, 16, 2), train=train, test=(number[x], y), optimizer=adam(5e-3))
    return given, replace(given, test=(x, y))


@faulty(
    "fourth-red-and-blue",
    "OpenCV documentation and StackOverflow: cv2.imread gives BGR, PIL gives RGB",
    fix="Convert the test images to RGB.",
)
def red_and_blue():
    """Test images were read as BGR and training images as RGB, and colors decide the class."""
    g = generator(32)
    y = torch.randint(4, (1000,), generator=g)
    colors = torch.tensor([[0.9, 0.2, 0.2], [0.2, 0.2, 0.9], [0.9, 0.8, 0.2], [0.2, 0.8, 0.9]])
    x = 0.3 + 0.2 * torch.rand(1000, 3, 12, 12, generator=g)
    x[:, :, 3:9, 3:9] = colors[y][:, :, None, None] + 0.15 * torch.randn(1000, 3, 6, 6, generator=g)
    train, test = split(x, y, 600)

    def network():
        return nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 9, 4),
        )  # fmt: skip

    given = Recipe(network=network, train=train, test=(test[0].flip(1), test[1]), epochs=6)
    return given, replace(given, test=test)


@faulty(
    "fourth-flip-changes-class",
    "Shorten and Khoshgoftaar 2019: augmentation that does not keep the label; forum: RandomHorizontalFlip on arrows",
    fix="Do not flip: left and right are different classes.",
)
def flip_changes_class():
    """Images of arrows are flipped at random, although the class is whether the arrow points left or right."""
    g = generator(33)
    y = torch.randint(2, (900,), generator=g)
    place = torch.arange(12)
    arrow = ((place[:, None] - 6).abs() <= place[None] - 4).float() * (place[None] <= 8).float()
    x = torch.where(y[:, None, None] == 1, arrow, arrow.flip(1)) + 0.3 * torch.randn(900, 12, 12, generator=g)
    train, test = split(x[:, None], y, 600)

    def flip(images):
        flipped = torch.rand(len(images)) < 0.5
        return torch.where(flipped[:, None, None, None], images.flip(3), images)

    given = Recipe(network=lambda: SmallCNN(size=12, classes=2), train=train, test=test, augment=flip, epochs=8)
    return given, replace(given, augment=None)


@faulty(
    "fourth-mostly-zero-targets",
    "StackOverflow and Cross Validated: absolute error on targets that are mostly zero predicts zero everywhere",
    fix="Use squared error, or first predict whether the target is zero.",
)
def mostly_zero_targets():
    """Three quarters of the targets are 0 and the loss is the absolute error, so zero everywhere is nearly optimal."""
    g = generator(34)
    x = torch.randn(1500, 6, generator=g)
    chance = torch.sigmoid(1.5 * x[:, :1] + x[:, 1:2] - 2)
    y = (torch.rand(1500, 1, generator=g) < chance).float() * (3 + 0.5 * x[:, 2:3])
    train, test = split(x, y, 1000)
    given = Recipe(network=lambda: mlp(6, 32, 1), train=train, test=test, loss=F.l1_loss, epochs=20)
    return given, replace(given, loss=F.mse_loss)


@faulty(
    "fourth-correlation-loss",
    "PyTorch forum: negative Pearson correlation as the loss",
    fix="Add the squared error, which fixes level and scale.",
)
def correlation_loss():
    """The loss is one minus the correlation, which leaves the level and the scale of the predictions free."""
    (x, y), (xt, yt) = regression()

    def loss(outputs, targets):
        a, b = outputs - outputs.mean(), targets - targets.mean()
        return 1 - (a * b).sum() / (a.norm() * b.norm() + 1e-6)

    given = Recipe(network=lambda: mlp(8, 64, 1), train=(x, y + 3), test=(xt, yt + 3), loss=loss, epochs=30)
    return given, replace(given, loss=F.mse_loss, optimizer=adam(3e-3))


@faulty(
    "fourth-first-example-only",
    "Humbatova et al. 2020, leaf: wrong loss function calculation (a part of the batch)",
    fix="Take the loss of all examples of the batch.",
)
def first_example_only():
    """The loss is computed on the first example of each batch, so most of the data is never used."""
    train, test = flat_digits(n_train=640)
    given = Recipe(
        network=lambda: mlp(64, 32, 10), train=train, test=test, batch=64, epochs=15,
        loss=lambda outputs, y: F.cross_entropy(outputs[:1], y[:1]), optimizer=adam(3e-3),
    )  # fmt: skip
    return given, replace(given, loss=None)


@faulty(
    "fourth-causal-first-token",
    "PyTorch documentation, generate_square_subsequent_mask; forum: causal mask in a classifier that reads the first token",
    fix="Remove the causal mask, or read the last position.",
)
def causal_first_token():
    """A causal mask is passed to a classifier that reads the first token, which therefore sees only itself."""
    (x, y), (xt, yt) = reviews()
    x, xt = (torch.cat((torch.zeros(len(a), 1, dtype=torch.long), a), 1) for a in (x, xt))

    class Net(nn.Module):
        """A transformer encoder whose first token answers."""

        def __init__(self, causal):
            super().__init__()
            self.causal, self.embed, self.head = causal, nn.Embedding(60, 32), nn.Linear(32, 2)
            block = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(block, 1, enable_nested_tensor=False)

        def forward(self, x):
            mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1]) if self.causal else None
            return self.head(self.encoder(self.embed(x), mask=mask)[:, 0])

    given = Recipe(network=lambda: Net(True), train=(x, y), test=(xt, yt), optimizer=adam(3e-3), epochs=10)
    return given, replace(given, network=lambda: Net(False))


@faulty(
    "fourth-dropout-of-the-output",
    "PyTorch forum: dropout after the last layer of a regression",
    fix="Remove the dropout after the last layer.",
)
def dropout_of_the_output():
    """Dropout of 0.5 follows the last layer of a regression, so the predictions in evaluation are half as large."""
    (x, y), (xt, yt) = regression()

    def network(dropout):
        return nn.Sequential(mlp(8, 64, 1), nn.Dropout(dropout))

    given = Recipe(network=lambda: network(0.5), train=(x, y + 2), test=(xt, yt + 2), optimizer=adam(3e-3), epochs=30)
    return given, replace(given, network=lambda: network(0.0))


@faulty(
    "fourth-high-momentum",
    "Sutskever et al. 2013; PyTorch forum: momentum 0.999 with an unchanged learning rate",
    fix="Set momentum to 0.9.",
)
def high_momentum():
    """SGD runs with momentum 0.999, so that each step sums a thousand old gradients and training swings."""
    train, test = flat_digits()
    given = Recipe(network=lambda: mlp(64, 32, 10), train=train, test=test, optimizer=sgd(0.05, 0.999), epochs=10)
    return given, replace(given, optimizer=sgd(0.05, 0.9))


@faulty(
    "fourth-target-encoding",
    "scikit-learn documentation of TargetEncoder: encode with cross fitting; Micci-Barreca 2001",
    fix="Encode each row by the other rows only (cross fitting).",
)
def target_encoding():
    """A column with 400 categories was replaced by the mean target of its rows, the row itself included."""
    g = generator(35)
    n = 1500
    x = torch.randn(n, 6, generator=g)
    y = (x[:, 0] + 0.7 * x[:, 1] * x[:, 2] + 0.5 * torch.randn(n, generator=g) > 0).long()
    category = torch.randint(400, (n,), generator=g)
    rows, test = torch.arange(n) < 1000, torch.arange(n) >= 1000
    total, count = (torch.zeros(400).index_add(0, category[rows], v[rows].float()) for v in (y, torch.ones(n)))
    share = torch.where(count > 0, total / count.clamp(min=1), 0.5)
    others = (total[category] - y) / (count[category] - 1).clamp(min=1)
    fair = torch.where(rows & (count[category] > 1), others, torch.where(rows, 0.5, share[category]))
    scale = torch.tensor(4.0)

    def pair(column, part):
        return torch.cat((x, scale * (column - 0.5)[:, None]), 1)[part], y[part]

    encoded = share[category]
    given = Recipe(network=lambda: mlp(7, 48, 2), train=pair(encoded, rows), test=pair(encoded, test), epochs=30)
    return given, replace(given, train=pair(fair, rows), test=pair(fair, test))
