"""Healthy models for tables, from public example code and scikit-learn's data sets."""

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, healthy, sgd
from evaluation.published.data.load import breast_cancer, diabetes, iris, split, standardized, wine
from evaluation.published.data.made import blobs, generator, housing, imbalanced, moons, multi_label, regression, rings
from evaluation.published.networks import bce, mlp
from evaluation.published.scores import balanced_accuracy, label_jaccard, logit_accuracy


@healthy("iris-mlp", "scikit-learn, load_iris; PyTorch forum: iris example", score=0.9)
def iris_mlp():
    """Iris with standardized columns."""
    train, test = standardized(*iris())
    return Recipe(network=lambda: mlp(4, 16, 3), train=train, test=test, batch=16, epochs=40, optimizer=adam(5e-3))


@healthy("wine-mlp", "scikit-learn, load_wine", score=0.93)
def wine_mlp():
    """Wine with standardized columns and a little weight decay."""
    train, test = standardized(*wine())
    return Recipe(
        network=lambda: mlp(13, 32, 3),
        train=train,
        test=test,
        batch=16,
        epochs=30,
        optimizer=adam(2e-3, weight_decay=1e-4),
    )


@healthy("breast-cancer-two-outputs", "scikit-learn, load_breast_cancer", score=0.93)
def cancer_two():
    """Breast cancer with two outputs and cross-entropy."""
    train, test = standardized(*breast_cancer())
    return Recipe(network=lambda: mlp(30, 32, 16, 2), train=train, test=test, epochs=20)


@healthy("breast-cancer-one-logit", "PyTorch documentation, nn.BCEWithLogitsLoss", score=0.93)
def cancer_logit():
    """Breast cancer with one logit and binary cross-entropy."""
    train, test = standardized(*breast_cancer())
    train, test = ((x, y.float()[:, None]) for x, y in (train, test))
    return Recipe(
        network=lambda: mlp(30, 16, 1),
        train=train,
        test=test,
        loss=F.binary_cross_entropy_with_logits,
        score=logit_accuracy,
        epochs=20,
        optimizer=adam(2e-3),
    )


@healthy("breast-cancer-logistic", "scikit-learn, LogisticRegression on breast cancer, as one linear layer", score=0.93)
def logistic():
    """Logistic regression as a linear layer, with SGD."""
    train, test = standardized(*breast_cancer())
    return Recipe(network=lambda: nn.Linear(30, 2), train=train, test=test, optimizer=sgd(0.1), epochs=20)


@healthy(
    "diabetes-regression",
    "scikit-learn, load_diabetes, auto_examples/ensemble/plot_gradient_boosting_regression",
    score=0.4,
)
def diabetes_regression():
    """Diabetes with standardized columns and targets: noisy, R2 near 0.5 is the best known."""
    (x, y), (xt, yt) = standardized(*diabetes())
    center, scale = y.mean(), y.std()
    return Recipe(
        network=lambda: mlp(10, 32, 1),
        train=(x, (y - center) / scale),
        test=(xt, (yt - center) / scale),
        epochs=15,
        optimizer=adam(1e-3, weight_decay=1e-3),
    )


@healthy(
    "california-housing",
    "scikit-learn, fetch_california_housing (synthetic stand-in); keras deep learning book",
    score=0.85,
)
def california():
    """House prices in units of 100,000 with standardized columns."""
    train, test = standardized(*housing())
    names = ("income", "age", "rooms", "bedrooms", "people", "household", "latitude", "longitude")
    return Recipe(network=lambda: mlp(8, 64, 64, 1), train=train, test=test, epochs=40, columns=names)


@healthy("regression-sgd-momentum", "pytorch/examples, regression", score=0.8)
def smooth_regression():
    """A smooth function by SGD with momentum and a step schedule."""
    train, test = regression()
    return Recipe(
        network=lambda: mlp(8, 64, 64, 1), train=train, test=test, optimizer=sgd(0.02, momentum=0.9), epochs=30,
        schedule=lambda o: optim.lr_scheduler.StepLR(o, 10, gamma=0.5),
    )  # fmt: skip


@healthy("linear-regression", "pytorch/examples, regression/main.py; d2l.ai linear regression from scratch", score=0.9)
def linear_regression():
    """A straight plane with noise, by a linear layer."""
    g = generator(0)
    x = torch.randn(800, 5, generator=g)
    y = x @ torch.randn(5, 1, generator=g) + 0.5 + 0.2 * torch.randn(800, 1, generator=g)
    return Recipe(
        network=lambda: nn.Linear(5, 1),
        train=(x[:600], y[:600]),
        test=(x[600:], y[600:]),
        optimizer=sgd(0.03),
        epochs=10,
    )


@healthy("regression-huber", "keras.io, losses/Huber; robust regression with a few outliers", score=0.75)
def huber():
    """Huber loss for targets with some heavy noise in training and test."""
    train, test = regression(noise=0.3)
    return Recipe(
        network=lambda: mlp(8, 64, 1), train=train, test=test, loss=F.huber_loss, epochs=40, optimizer=adam(3e-3)
    )


@healthy("regression-flat-targets", "PyTorch forum: outputs squeezed to (n,)", score=0.8)
def flat_targets():
    """Targets of shape (n,) and outputs squeezed to the same shape."""
    (x, y), (xt, yt) = regression(seed=1)
    return Recipe(
        network=lambda: nn.Sequential(mlp(8, 64, 64, 1), nn.Flatten(0)),
        train=(x, y[:, 0]),
        test=(xt, yt[:, 0]),
        epochs=25,
        optimizer=adam(2e-3),
    )


@healthy("moons-mlp", "scikit-learn, make_moons; plot_classifier_comparison", score=0.95)
def moons_mlp():
    """Two half moons with a little noise."""
    train, test = moons()
    return Recipe(network=lambda: mlp(2, 32, 32, 2), train=train, test=test, optimizer=adam(5e-3), epochs=30)


@healthy("moons-noisy", "scikit-learn, plot_classifier_comparison (noise 0.3)", score=0.86)
def moons_noisy():
    """Half moons that overlap: 90 % is about the best possible."""
    train, test = moons(n=1600, noise=0.35)
    return Recipe(network=lambda: mlp(2, 32, 2), train=train, test=test, optimizer=adam(5e-3), epochs=20)


@healthy("rings-mlp", "TensorFlow playground: circle data", score=0.95)
def rings_mlp():
    """A disk and a ring around it, with tanh units as on the playground."""
    train, test = rings()
    return Recipe(
        network=lambda: mlp(2, 16, 16, 2, activation=nn.Tanh), train=train, test=test, optimizer=adam(0.01), epochs=30
    )


@healthy("blobs-batch-norm", "scikit-learn, make_blobs; BatchNorm as in d2l.ai", score=0.93)
def blobs_batch_norm():
    """Clusters with batch normalization after each layer."""
    train, test = blobs(classes=5, spread=1.2)
    return Recipe(
        network=lambda: mlp(10, 64, 64, 5, norm=nn.BatchNorm1d), train=train, test=test, epochs=15, optimizer=adam(2e-3)
    )


@healthy("blobs-layer-norm-dropout", "d2l.ai, dropout; LayerNorm as in transformers", score=0.92)
def blobs_layer_norm():
    """Clusters with layer normalization, GELU and dropout of 0.2."""
    train, test = blobs(classes=5, spread=1.2, seed=1)
    return Recipe(
        network=lambda: mlp(10, 64, 64, 5, norm=nn.LayerNorm, activation=nn.GELU, dropout=0.2),
        train=train,
        test=test,
        epochs=15,
        optimizer=lambda p: optim.AdamW(p, lr=2e-3),
    )


@healthy("blobs-hard", "scikit-learn, make_blobs with overlapping centers", score=0.6)
def blobs_hard():
    """Overlapping clusters: about 70 % is the best possible."""
    train, test = blobs(n=2400, classes=4, spread=3.5, d=10)
    return Recipe(
        network=lambda: mlp(10, 32, 4), train=train, test=test, epochs=8, optimizer=adam(2e-3, weight_decay=1e-3)
    )


@healthy("imbalance-weighted", "keras.io, structured_data/imbalanced_classification", score=0.8)
def weighted():
    """A rare class, handled by class weights in the loss."""
    train, test = imbalanced(rare=0.06)
    weight = torch.tensor([1.0, 1 / 0.06])
    return Recipe(
        network=lambda: mlp(10, 16, 2),
        train=train,
        test=test,
        loss=lambda o, t: F.cross_entropy(o, t, weight=weight),
        score=balanced_accuracy,
        epochs=8,
    )


@healthy("imbalance-mild", "scikit-learn, make_classification with weights=[0.7, 0.3]", score=0.8)
def mild_imbalance():
    """Thirty percent positive examples, which needs no special care."""
    train, test = imbalanced(rare=0.3, shift=1.3)
    return Recipe(network=lambda: mlp(10, 32, 2), train=train, test=test, score=balanced_accuracy, epochs=8)


@healthy("multi-label-bce", "keras.io, nlp/multi_label_classification", score=0.8)
def multi_label_bce():
    """Six independent labels with binary cross-entropy of logits."""
    train, test = multi_label()
    return Recipe(
        network=lambda: mlp(20, 64, 6),
        train=train,
        test=test,
        loss=F.binary_cross_entropy_with_logits,
        score=label_jaccard,
        epochs=25,
    )


@healthy("multi-output-regression", "scikit-learn, MultiOutputRegressor example", score=0.85)
def multi_output():
    """Three numbers are predicted at once."""
    g = generator(2)
    x = torch.randn(1200, 6, generator=g)
    y = torch.stack((torch.sin(x[:, 0]), 0.5 * x[:, 1] * x[:, 2], x[:, 3].abs() - 0.8), 1) + 0.05 * torch.randn(
        1200, 3, generator=g
    )
    return Recipe(
        network=lambda: mlp(6, 64, 64, 3),
        train=(x[:800], y[:800]),
        test=(x[800:], y[800:]),
        epochs=30,
        optimizer=adam(2e-3),
    )


class Residual(nn.Module):
    """A residual block of two dense layers with layer norm first."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.body(x)


@healthy("tabular-resnet", "yandex-research/rtdl: ResNet for tables", score=0.85)
def tabular_resnet():
    """A residual network for a table of numbers."""
    train, test = regression(n=2000)
    return Recipe(
        network=lambda: nn.Sequential(
            nn.Linear(8, 48), Residual(48), Residual(48), nn.LayerNorm(48), nn.ReLU(), nn.Linear(48, 1)
        ),
        train=train,
        test=test,
        epochs=15,
        optimizer=lambda p: optim.AdamW(p, lr=2e-3),
    )


class WideAndDeep(nn.Module):
    """Embeddings of a category next to numeric columns."""

    def __init__(self):
        super().__init__()
        self.embed, self.net = nn.Embedding(40, 8), mlp(11, 64, 1)

    def forward(self, category, numbers):
        return self.net(torch.cat((self.embed(category), numbers), 1))


@healthy("category-embedding", "keras.io, structured_data/wide_deep_cross_networks; fast.ai tabular", score=0.85)
def category_embedding():
    """A category with 40 codes goes through an embedding."""
    g = generator(12)
    code = torch.randint(40, (2000,), generator=g)
    numbers = torch.randn(2000, 3, generator=g)
    y = (torch.randn(40, generator=g)[code] + 0.5 * numbers[:, 0] + 0.1 * torch.randn(2000, generator=g))[:, None]
    train, test = split((code, numbers), y, 1500)
    return Recipe(network=WideAndDeep, train=train, test=test, epochs=25, optimizer=adam(5e-3))


@healthy("embedding-binary-logit", "pytorch/examples style: one logit per example of shape (n,)", score=0.88)
def parity_of_signs():
    """Whether two of five numbers have the same sign, with one logit per example."""
    g = generator(3)
    x = torch.randn(1500, 5, generator=g)
    y = (x[:, 0] * x[:, 1] > 0).float()
    return Recipe(
        network=lambda: nn.Sequential(mlp(5, 64, 64, 1), nn.Flatten(0)),
        train=(x[:1000], y[:1000]),
        test=(x[1000:], y[1000:]),
        loss=bce,
        score=logit_accuracy,
        epochs=25,
        optimizer=adam(3e-3),
    )


@healthy("selu-alpha-dropout", "Klambauer et al. 2017; torch.nn.SELU with AlphaDropout", score=0.92)
def selu():
    """A self-normalizing network of five layers."""
    train, test = blobs(classes=5, spread=1.2, seed=2)

    def network():
        net = mlp(10, 48, 48, 48, 48, 5, activation=nn.SELU)
        for layer in net:
            if isinstance(layer, nn.Linear):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="linear")
                nn.init.zeros_(layer.bias)
        return net

    return Recipe(network=network, train=train, test=test, epochs=15, optimizer=adam(1e-3))
