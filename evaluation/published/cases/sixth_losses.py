"""A sixth set of published faults: losses, targets and schedules."""

import torch
from torch import nn, optim
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import breast_cancer, flat_digits, small_mnist, split, standardized
from evaluation.published.data.made import generator, shapes
from evaluation.published.networks import UNet, mlp
from evaluation.published.scores import logit_accuracy, r2


def digit_pairs(n=1500, same_image=0):
    """Pairs of images of digits; the target is 1 for the same digit. The first pairs are an image with itself."""

    def pairs(x, y, n, seed):
        g = generator(seed)
        first = torch.randint(len(y), (n,), generator=g)
        other = torch.randint(len(y), (n,), generator=g)
        for i in torch.where(torch.rand(n, generator=g) < 0.5)[0].tolist():
            alike = torch.where(y == y[first[i]])[0]
            other[i] = alike[int(torch.randint(len(alike), (1,), generator=g))]
        other[:same_image] = first[:same_image]
        return (x[first], x[other]), (y[first] == y[other]).long()

    (x, y), (xt, yt) = flat_digits()
    return pairs(x, y, n, 61), pairs(xt, yt, 600, 62)


class SiameseNet(nn.Module):
    """The same small network for both images; returns both embeddings as (n, 2, 16)."""

    def __init__(self):
        super().__init__()
        self.body = mlp(64, 64, 16)

    def forward(self, first, second):
        return torch.stack((self.body(first), self.body(second)), 1)


def ranking(similarity, targets):
    """Fraction of pairs of a positive and a negative example that the similarity orders correctly."""
    return float((similarity[targets == 1][:, None] > similarity[targets == 0]).double().mean())


def cosine_ranking(outputs, targets):
    """Ranking by the cosine of two embeddings."""
    return ranking(F.cosine_similarity(outputs[:, 0], outputs[:, 1]), targets)


def distance_ranking(outputs, targets):
    """Ranking by the distance of two embeddings."""
    return ranking(-(outputs[:, 0] - outputs[:, 1]).norm(dim=1), targets)


def overlap(outputs, targets):
    """Intersection over union of one object."""
    found, true = outputs > 0, targets > 0.5
    return float((found & true).sum() / (found | true).sum().clamp(min=1))


@faulty(
    "sixth-cosine-embedding-labels",
    "pytorch/pytorch 23782: CosineEmbeddingLoss takes any target, but only 1 and -1 have a loss",
    fix="Labels 1 and -1.",
)
def cosine_embedding_labels():
    """CosineEmbeddingLoss gets labels 1 and 0 instead of 1 and -1, so different images are never pushed apart."""
    train, test = digit_pairs()

    def loss(outputs, same):
        return F.cosine_embedding_loss(outputs[:, 0], outputs[:, 1], same)

    def fixed(outputs, same):
        return F.cosine_embedding_loss(outputs[:, 0], outputs[:, 1], 2 * same - 1)

    given = {"network": SiameseNet, "train": train, "test": test, "epochs": 15, "score": cosine_ranking}
    return Recipe(loss=loss, **given), Recipe(loss=fixed, **given)


@faulty(
    "sixth-hinge-zero-one",
    "Keras documentation, losses.Hinge: y_true is -1 or 1; Flux and scikit-learn state the same; forum: SVM loss in PyTorch",
    fix="Labels -1 and 1.",
)
def hinge_zero_one():
    """The hinge loss gets labels 0 and 1 instead of -1 and 1, so negative examples have no gradient."""
    train, test = standardized(*breast_cancer())

    def hinge(outputs, y):
        return torch.clamp(1 - outputs.squeeze(1) * y, min=0).mean()

    def fixed(outputs, y):
        return hinge(outputs, 2 * y - 1)

    given = {"network": lambda: mlp(30, 32, 1), "train": train, "test": test, "score": logit_accuracy}
    return Recipe(loss=hinge, **given), Recipe(loss=fixed, **given)


@faulty(
    "sixth-root-of-zero",
    "csdn ten_k 106576818 and PyTorch forum: the gradient of sqrt at 0 makes the loss NaN",
    fix="Add a small number under the root.",
)
def root_of_zero():
    """A contrastive loss takes the root of the squared distance; for a pair of equal images its gradient is NaN."""
    train, test = digit_pairs(same_image=3)

    def loss(outputs, same, epsilon=0.0):
        distance = torch.sqrt((outputs[:, 0] - outputs[:, 1]).pow(2).sum(1) + epsilon)
        return (same * distance.pow(2) + (1 - same) * F.relu(2 - distance).pow(2)).mean()

    def fixed(outputs, same):
        return loss(outputs, same, epsilon=1e-8)

    given = {"network": SiameseNet, "train": train, "test": test, "epochs": 15, "score": distance_ranking}
    return Recipe(loss=loss, **given), Recipe(loss=fixed, **given)


@faulty(
    "sixth-percentage-error",
    "Cross Validated, shortcomings of the MAPE; Hyndman and Koehler 2006; Keras mean_absolute_percentage_error",
    fix="Squared or absolute error.",
)
def percentage_error():
    """The loss is the mean absolute percentage error and some targets are nearly 0, so all predictions are too low."""
    g = generator(63)
    x = torch.randn(1500, 6, generator=g)
    y = (x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + 0.3 * torch.randn(1500, generator=g)).pow(2)[:, None] + 0.002
    train, test = split(x, y, 1000)

    def percentage(outputs, y):
        return 100 * ((outputs - y) / y).abs().mean()

    given = {"network": lambda: mlp(6, 64, 64, 1), "train": train, "test": test, "epochs": 30}
    return Recipe(loss=percentage, **given), Recipe(loss=nn.L1Loss(), **given)


@faulty(
    "sixth-variance-without-penalty",
    "Kendall and Gal 2017, eq. 8: the log variance must be added; forum: predicted variance grows without bound",
    fix="Add the log variance to the loss.",
)
def variance_without_penalty():
    """A network predicts a mean and a log variance, and the loss lacks the log variance, so the variance explodes."""
    g = generator(64)
    x = 2 * torch.rand(1200, 4, generator=g) - 1
    noise = 0.05 + 0.4 * (x[:, 1] > 0)
    y = torch.sin(3 * x[:, 0]) + x[:, 2] * x[:, 3] + noise * torch.randn(1200, generator=g)
    train, test = split(x, y[:, None], 800)

    def weighted(outputs, y):
        mean, log_var = outputs[:, :1], outputs[:, 1:]
        return (0.5 * torch.exp(-log_var) * (y - mean) ** 2).mean()

    def fixed(outputs, y):
        return weighted(outputs, y) + 0.5 * outputs[:, 1].mean()

    def score(outputs, y):
        return r2(outputs[:, :1], y)

    given = {"network": lambda: mlp(4, 64, 64, 2), "train": train, "test": test, "epochs": 30, "score": score}
    return Recipe(loss=weighted, **given), Recipe(loss=fixed, **given)


@faulty(
    "sixth-poisson-of-rates",
    "PyTorch documentation of nn.PoissonNLLLoss: log_input=True by default; forum: rates from softplus",
    fix="PoissonNLLLoss(log_input=False).",
)
def poisson_of_rates():
    """The network ends in softplus and predicts rates, but PoissonNLLLoss takes its input as the logarithm by default."""
    g = generator(65)
    x = torch.randn(1500, 6, generator=g)
    rate = torch.exp(1.2 + 0.6 * x[:, 0] + 0.4 * torch.sin(2 * x[:, 1]) + 0.3 * x[:, 2])
    train, test = split(x, torch.poisson(rate, generator=g)[:, None], 1000)

    def network():
        return nn.Sequential(mlp(6, 64, 1), nn.Softplus())

    given = {"network": network, "train": train, "test": test, "optimizer": adam(3e-3), "epochs": 25}
    return Recipe(loss=nn.PoissonNLLLoss(), **given), Recipe(loss=nn.PoissonNLLLoss(log_input=False), **given)


def _object_masks(scale):
    (x, masks), (xt, test_masks) = shapes(n=300)
    return (x, scale * (masks > 0).float()[:, None]), (xt, scale * (test_masks > 0).float()[:, None])


@faulty(
    "sixth-masks-255",
    "PyTorch forum and codegenes.net 'BCE below 0': masks read from PNG files have the values 0 and 255",
    fix="Divide the masks by 255.",
)
def masks_255():
    """Masks have the values 0 and 255, and BCEWithLogitsLoss gets them without division, so the loss is negative."""
    given = {"network": lambda: UNet(classes=1), "loss": nn.BCEWithLogitsLoss(), "epochs": 15, "score": overlap}
    (train, test), (fixed, fixed_test) = _object_masks(255.0), _object_masks(1.0)
    return Recipe(train=train, test=test, **given), Recipe(train=fixed, test=fixed_test, **given)


@faulty(
    "sixth-dice-of-scores",
    "PyTorch forum: Dice loss without sigmoid becomes negative; segmentation_models.pytorch, from_logits",
    fix="Apply a sigmoid in the Dice loss.",
)
def dice_of_scores():
    """The Dice loss is computed from raw scores instead of probabilities, so it has no minimum."""
    train, test = _object_masks(1.0)

    def dice(p, y):
        return 1 - (2 * (p * y).sum() + 1) / (p.sum() + y.sum() + 1)

    def fixed(outputs, y):
        return dice(torch.sigmoid(outputs), y)

    given = {"network": lambda: UNet(classes=1), "train": train, "test": test, "optimizer": adam(3e-3)}
    given |= {"epochs": 15, "score": overlap}
    return Recipe(loss=dice, **given), Recipe(loss=fixed, **given)


class VAE(nn.Module):
    """Returns scores of pixels, means and log variances side by side."""

    def __init__(self, pixels=196, latent=8):
        super().__init__()
        self.pixels, self.latent = pixels, latent
        self.encode, self.decode = mlp(pixels, 128, 2 * latent), mlp(latent, 128, pixels)

    def forward(self, x):
        mu, log_var = self.encode(x).chunk(2, 1)
        z = mu + torch.exp(0.5 * log_var) * torch.randn_like(mu) if self.training else mu
        return torch.cat((self.decode(z), mu, log_var), 1)


@faulty(
    "sixth-kl-too-heavy",
    "Bowman et al. 2016, posterior collapse; forum: VAE with mean reconstruction error and summed KL gives one blurred image",
    fix="Sum the reconstruction error over the pixels as well.",
)
def kl_too_heavy():
    """A VAE averages the reconstruction error over pixels but sums the KL term, so it ignores its input."""
    (x, _), (xt, _) = small_mnist()
    x, xt = x.flatten(1), xt.flatten(1)

    def loss(outputs, x, pixels=1):
        scores, mu, log_var = outputs.split((196, 8, 8), 1)
        kl = -0.5 * torch.sum(1 + log_var - mu**2 - log_var.exp(), 1).mean()
        return pixels * F.binary_cross_entropy_with_logits(scores, x) + kl

    def fixed(outputs, x):
        return loss(outputs, x, pixels=196)

    def score(outputs, x):
        return r2(outputs[:, :196].sigmoid(), x)

    given = {"network": VAE, "train": (x, x), "test": (xt, xt), "epochs": 20, "score": score}
    return Recipe(loss=loss, **given), Recipe(loss=fixed, **given)


@faulty(
    "sixth-lambda-is-the-rate",
    "runebook.dev, LambdaLR: the function returns the rate itself instead of a factor; PyTorch documentation of LambdaLR",
    fix="Return the factor 0.95 ** epoch.",
)
def lambda_is_the_rate():
    """The function of LambdaLR returns the learning rate, which is then multiplied by the learning rate again."""
    train, test = flat_digits()

    def wrong(optimizer):
        return optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1e-3 * 0.95**epoch)

    def right(optimizer):
        return optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.95**epoch)

    given = {"network": lambda: mlp(64, 64, 10), "train": train, "test": test}
    return Recipe(schedule=wrong, **given), Recipe(schedule=right, **given)
