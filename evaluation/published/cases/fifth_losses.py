"""A fifth set of faults, losses and training: written from public sources before the checks were read."""

import math
from dataclasses import replace

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import digits, flat_digits, split
from evaluation.published.data.made import characters, generator, imbalanced, regression
from evaluation.published.networks import LastState, SmallCNN, mlp
from evaluation.published.scores import balanced_accuracy, mean_iou


@faulty(
    "fifth-nll-of-scores",
    "PyTorch documentation of nn.NLLLoss: the input must be log-probabilities",
    fix="Use cross_entropy, or end the network in log_softmax.",
)
def nll_of_scores():
    """nll_loss gets raw scores, so training can lower the loss without end by making all scores larger."""
    train, test = digits()
    given = Recipe(network=SmallCNN, train=train, test=test, loss=F.nll_loss, optimizer=adam(3e-3), epochs=8)
    return given, replace(given, loss=None)


@faulty(
    "fifth-class-weights-upside-down",
    "scikit-learn, compute_class_weight (balanced); forum: weights proportional to the class counts",
    fix="Weight each class by the inverse of its count.",
)
def class_weights_upside_down():
    """The weight of each class is its count instead of the inverse, so the rare class hardly counts at all."""
    train, test = imbalanced(rare=0.12, shift=1.6)
    counts = torch.bincount(train[1]).float()
    given = Recipe(
        network=lambda: mlp(10, 32, 2), train=train, test=test, score=balanced_accuracy, epochs=15,
        loss=nn.CrossEntropyLoss(weight=2 * counts / counts.sum()),
    )  # fmt: skip
    return given, replace(given, loss=nn.CrossEntropyLoss(weight=counts.sum() / (2 * counts)))


@faulty(
    "fifth-padding-in-loss",
    "PyTorch tutorial seq2seq: ignore_index for the padding token; forum: the model predicts only padding",
    fix="Pass ignore_index of the padding token to the loss.",
)
def padding_in_loss():
    """Nine tenths of the target tokens are padding and count in the loss, so the network learns to say padding."""
    (x, y), (xt, yt) = characters(n=500)

    def padded(tokens):
        rest = torch.zeros(len(tokens), 56, dtype=torch.long)
        return torch.cat((tokens[:, :8] + 1, rest), 1)

    class Net(nn.Module):
        """A GRU over the tokens with scores for the next token."""

        def __init__(self):
            super().__init__()
            self.embed, self.rnn, self.head = nn.Embedding(13, 16), nn.GRU(16, 32, batch_first=True), nn.Linear(32, 13)

        def forward(self, x):
            return self.head(self.rnn(self.embed(x))[0]).transpose(1, 2)

    def score(outputs, targets):
        return float((outputs.argmax(1) == targets)[targets > 0].double().mean())

    given = Recipe(
        network=Net, train=(padded(x), padded(y)), test=(padded(xt), padded(yt)), optimizer=adam(2e-3), epochs=12,
        loss=F.cross_entropy, score=score,
    )  # fmt: skip
    return given, replace(given, loss=lambda out, y: F.cross_entropy(out, y, ignore_index=0))


@faulty(
    "fifth-scores-reshaped",
    "PyTorch forum: view instead of transpose for CrossEntropyLoss over sequences (class axis 1)",
    fix="Use scores.transpose(1, 2).",
)
def scores_reshaped():
    """The loss reshapes scores (n, length, classes) to (n, classes, length), which scrambles classes and positions."""
    train, test = characters()

    class Net(nn.Module):
        """A GRU over the tokens with scores (n, length, 12) for the next token."""

        def __init__(self):
            super().__init__()
            self.embed, self.rnn, self.head = nn.Embedding(12, 16), nn.GRU(16, 48, batch_first=True), nn.Linear(48, 12)

        def forward(self, x):
            return self.head(self.rnn(self.embed(x))[0])

    def score(outputs, targets):
        return float((outputs.argmax(-1) == targets).double().mean())

    given = Recipe(
        network=Net, train=train, test=test, optimizer=adam(5e-3), epochs=12, score=score,
        loss=lambda out, y: F.cross_entropy(out.reshape(len(out), 12, -1), y),
    )  # fmt: skip
    return given, replace(given, loss=lambda out, y: F.cross_entropy(out.transpose(1, 2), y))


@faulty(
    "fifth-optimizer-of-the-head",
    "PyTorch forum: new layers are missing in the optimizer, which got the parameters of one part only",
    fix="Pass model.parameters() to the optimizer.",
)
def optimizer_of_the_head():
    """The optimizer gets only the parameters of the last layer, so all others keep their random values."""
    train, test = flat_digits()
    given = Recipe(
        network=lambda: mlp(64, 16, 16, 16, 10), train=train, test=test, epochs=15,
        optimizer=lambda p: optim.Adam(list(p)[-2:], lr=3e-3),
    )  # fmt: skip
    return given, replace(given, optimizer=adam(3e-3))


@faulty(
    "fifth-adadelta-rate",
    "Keras issue tracker: Adadelta with the default rate 0.001 does not learn; pytorch/examples mnist uses 1.0",
    fix="Use a learning rate of 1.0 for Adadelta, or Adam.",
)
def adadelta_rate():
    """Adadelta runs with learning rate 0.001, which suits Adam, and hardly moves the weights."""
    train, test = digits()
    given = Recipe(network=SmallCNN, train=train, test=test, epochs=10, optimizer=lambda p: optim.Adadelta(p, lr=1e-3))
    return given, replace(given, optimizer=lambda p: optim.Adadelta(p, lr=1.0))


@faulty(
    "fifth-rprop-minibatches",
    "Hinton, lecture 6e (rmsprop): why rprop does not work with mini-batches",
    fix="Use Adam, or pass the whole training set in one batch.",
)
def rprop_minibatches():
    """Rprop, which needs gradients of the whole training set, runs on batches of 4 examples."""
    train, test = flat_digits()
    given = Recipe(
        network=lambda: mlp(64, 32, 10), train=train, test=test, batch=4, epochs=6, optimizer=lambda p: optim.Rprop(p)
    )
    return given, replace(given, optimizer=adam())


@faulty(
    "fifth-bfloat16-weights",
    "pytorch/ao 1124 and torchtune 2254: weights stored in bfloat16 lose small updates",
    fix="Keep the weights in float32 and use autocast.",
)
def bfloat16_weights():
    """The weights are stored in bfloat16, so most updates are rounded away."""
    train, test = flat_digits()

    class Net(nn.Module):
        """A perceptron that computes in the type of its weights."""

        def __init__(self, dtype):
            super().__init__()
            self.body = mlp(64, 64, 64, 10).to(dtype)

        def forward(self, x):
            return self.body(x.to(self.body[0].weight.dtype)).float()

    given = Recipe(
        network=lambda: Net(torch.bfloat16), train=train, test=test, optimizer=adam(3e-5), batch=8, epochs=20
    )
    return given, replace(given, network=lambda: Net(torch.float32))


def _rank_correlation(outputs, targets):
    a, b = (v.flatten().argsort().argsort().double() for v in (outputs, targets))
    return float(torch.corrcoef(torch.stack((a, b)))[0, 1])


@faulty(
    "fifth-skewed-target",
    "Kaggle, House Prices (score on the logarithm); scikit-learn, TransformedTargetRegressor example",
    fix="Train on the logarithm of the target.",
)
def skewed_target():
    """Targets span five powers of ten, so the squared error depends on a few huge values only."""
    (x, y), (xt, yt) = regression()
    given = Recipe(
        network=lambda: mlp(8, 64, 1), train=(x, (2.5 * y).exp()), test=(xt, (2.5 * yt).exp()),
        score=_rank_correlation, optimizer=adam(3e-3), epochs=30,
    )  # fmt: skip
    return given, replace(given, train=(x, 2.5 * y), test=(xt, 2.5 * yt))


@faulty(
    "fifth-angle-target",
    "StackOverflow and Cross Validated: an angle as target of a regression; predict its sine and cosine",
    fix="Predict the sine and the cosine of the angle.",
)
def angle_target():
    """The target is an angle from 0 to 360 degrees, and the squared error takes 359 and 1 for far apart."""
    g = generator(51)
    angle = 2 * math.pi * torch.rand(1200, generator=g)
    radius = 1 + 0.3 * torch.rand(1200, generator=g)
    point = torch.stack((radius * angle.cos(), radius * angle.sin()), 1)
    x = torch.cat((point, torch.zeros(1200, 2)), 1) @ torch.linalg.qr(torch.randn(4, 4, generator=g))[0]
    x = x + 0.05 * torch.randn(1200, 4, generator=g)
    turn = (angle / (2 * math.pi))[:, None]
    train, test = split(x, turn, 800)
    pairs = [torch.cat(((2 * math.pi * y).cos(), (2 * math.pi * y).sin()), 1) for y in (train[1], test[1])]

    def closeness(predicted, true):
        error = (predicted - true + 0.5).remainder(1) - 0.5
        return 1 - 10 * float(error.square().mean().sqrt())

    def of_pair(outputs, targets):
        turns = [torch.atan2(v[:, 1], v[:, 0]) / (2 * math.pi) for v in (outputs, targets)]
        return closeness(*turns)

    given = Recipe(
        network=lambda: mlp(4, 32, 1), train=train, test=test, optimizer=adam(5e-3), epochs=30,
        score=lambda outputs, y: closeness(outputs, y),
    )  # fmt: skip
    fixed = replace(
        given, network=lambda: mlp(4, 32, 2), train=(train[0], pairs[0]), test=(test[0], pairs[1]), score=of_pair
    )
    return given, fixed


@faulty(
    "fifth-rare-pixels",
    "Milletari et al. 2016 (V-Net, Dice loss); forum: segmentation predicts only background",
    fix="Weight the rare class, or use the Dice loss.",
)
def rare_pixels():
    """Two pixels in a hundred belong to the object, and the plain cross-entropy learns to say background."""
    g = generator(52)
    rows, columns = torch.meshgrid(torch.arange(20), torch.arange(20), indexing="ij")
    at = torch.randint(2, 18, (360, 2, 1, 1), generator=g)
    masks = (((rows - at[:, 0]).abs() <= 1) & ((columns - at[:, 1]).abs() <= 1)).long()
    x = 0.7 * masks + 0.6 * torch.randn(360, 20, 20, generator=g)
    train, test = split(x[:, None], masks, 240)

    def network():
        return nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1)
        )

    given = Recipe(network=network, train=train, test=test, optimizer=adam(), epochs=8, score=mean_iou)
    return given, replace(given, loss=nn.CrossEntropyLoss(weight=torch.tensor([1.0, 10.0])))


@faulty(
    "fifth-target-inside-window",
    "Kaggle and StackOverflow: targets of a forecast shifted the wrong way (shift(1) instead of shift(-1))",
    fix="Shift the target by -1, so that it lies after the window.",
    harm="inflated",
)
def target_inside_window():
    """The target of each window is its own last value instead of the next one, because shift had the wrong sign."""
    g = generator(53)
    noise = torch.randn(900, 25, generator=g)
    series = torch.zeros(900, 25)
    for t in range(1, 25):
        series[:, t] = 0.6 * series[:, t - 1] + noise[:, t]
    given = split(series[:, :-1, None], series[:, -2:-1], 600)
    right = split(series[:, :-1, None], series[:, -1:], 600)
    recipe = Recipe(
        network=lambda: LastState(nn.GRU, 1, 24, 1), train=given[0], test=given[1], optimizer=adam(5e-3), epochs=15
    )
    return recipe, replace(recipe, train=right[0], test=right[1])
