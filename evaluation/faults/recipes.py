"""How people train: losses, optimizers, schedules, and networks that were trained before."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from evaluation.faults.data.drawn_images import textures
from evaluation.faults.data.mnist import mnist, mnist_unit_flat, reconstruct
from evaluation.faults.data.series import heartbeats
from evaluation.faults.models.images import cnn
from evaluation.faults.models.sequences import DilatedConvolutions

# Losses


def weighted_cross_entropy(*weights, smoothing=0.0):
    """Cross-entropy with class weights and label smoothing."""
    return nn.CrossEntropyLoss(weight=torch.tensor(weights), label_smoothing=smoothing)


def next_word_loss(f, y):
    """Cross-entropy over all positions."""
    return F.cross_entropy(f.reshape(-1, f.shape[-1]), y.reshape(-1))


def quantile_loss(f, y):
    """The pinball loss of the quantiles 0.1, 0.5 and 0.9."""
    q, difference = torch.tensor([0.1, 0.5, 0.9]), y.reshape(-1, 1) - f
    return torch.maximum(q * difference, (q - 1) * difference).mean()


def dice_loss(f, y):
    """Cross-entropy of pixels plus one minus the overlap."""
    p = f.sigmoid()
    overlap = 1 - (2 * (p * y).sum() + 1) / (p.sum() + y.sum() + 1)
    return F.binary_cross_entropy_with_logits(f, y) + overlap


def contrastive_loss(distance, same):
    """Small distances for the same digit, at least 1 for different ones."""
    return (same * distance.square() + (1 - same) * (1.0 - distance).clamp(min=0).square()).mean()


def focal_loss(f, y):
    """Cross-entropy with less weight on easy examples."""
    p = F.log_softmax(f, 1).gather(1, y[:, None])[:, 0]
    return (-((1 - p.exp()) ** 2) * p).mean()


def gaussian_loss(f, y):
    """Negative log-likelihood of a mean and a logarithm of a variance."""
    mean, log = f.unbind(1)
    return 0.5 * (log + (y.reshape(-1) - mean).square() * (-log).exp()).mean()


def vae_squared_loss(f, x):
    """Loss of a variational autoencoder with squared errors of pixels, a mean over examples."""
    image, mean, log = f[:, :784], *f[:, 784:].chunk(2, 1)
    return (image - x).square().sum(1).mean() / 784 + 1e-3 * (mean.square() + log.exp() - 1 - log).sum(1).mean()


def vae_pixel_loss(f, x):
    """Loss of a variational autoencoder with probabilities of pixels, a mean over examples."""
    pixels, mean, log = f[:, :784], *f[:, 784:].chunk(2, 1)
    divergence = 0.5 * (mean.square() + log.exp() - 1 - log).sum(1).mean()
    return F.binary_cross_entropy_with_logits(pixels, x, reduction="none").sum(1).mean() + divergence


# Optimizers and schedules


def sgd(lr, **options):
    """A function of the parameters that makes torch.optim.SGD."""
    return lambda parameters: torch.optim.SGD(parameters, lr=lr, **options)


def adam(lr, kind=torch.optim.Adam, **options):
    """A function of the parameters that makes Adam, or another optimizer with a learning rate."""
    return lambda parameters: kind(parameters, lr=lr, **options)


def adamw(lr, **options):
    """A function of the parameters that makes torch.optim.AdamW."""
    return adam(lr, torch.optim.AdamW, **options)


def warmup(optimizer):
    """A linear warmup over three epochs."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min(1.0, (1 + epoch) / 3))


def cosine(optimizer):
    """A cosine schedule over 20 epochs."""
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)


def steps(optimizer):
    """A factor of 0.3 every four epochs."""
    return torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.3)


def restarts(optimizer):
    """Cosine schedules with restarts every three epochs."""
    return torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3)


# Networks that were trained before: functions of a seed that return (network, train, test, options of `examine`)


def trained(build, data, steps, seed, prepare=None, edit=None, loss=F.cross_entropy):
    """Trains for some steps of Adam(2e-3); ``prepare`` changes inputs in training only, ``edit`` the trained network."""
    train, test = data(seed=seed)
    torch.manual_seed(seed)
    net = build()
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    for step in range(steps):
        i = torch.randint(0, len(train[1]), (64,), generator=torch.Generator().manual_seed(step))
        x = train[0][i] if prepare is None else prepare(train[0][i])
        optimizer.zero_grad()
        loss(net(x), train[1][i]).backward()
        optimizer.step()
    if edit is not None:
        edit(net)
    return net, train, test, {"fit": False}


def new_head_on_frozen_backbone(seed):
    """A backbone trained on all digits, frozen, with a new head for the digits 5 to 9."""
    net, (x, y), (x_test, y_test), _ = trained(cnn, partial(mnist, 3000, 1000), 150, seed)
    net.requires_grad_(False)
    net[-1] = nn.Linear(64, 5)
    keep, keep_test = y > 4, y_test > 4
    return net, (x[keep], y[keep] - 5), (x_test[keep_test], y_test[keep_test] - 5), {"fit": True}


def linear_probe_of_autoencoder(seed):
    """A linear layer on the frozen encoder of an autoencoder that was trained before."""
    coder = nn.Sequential(
        nn.Linear(784, 128), nn.GELU(), nn.Linear(128, 32), nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 784)
    )
    net, *_ = trained(lambda: coder, partial(reconstruct, mnist_unit_flat), 400, seed, loss=F.mse_loss)
    train, test = mnist_unit_flat(seed=seed)
    return nn.Sequential(*net[:3].requires_grad_(False), nn.Linear(32, 10)), train, test, {"fit": True}


def fine_tuned_with_small_rate(build, seed):
    """A network that was trained before, trained further with AdamW(2e-5)."""
    net, train, test, _ = trained(build, textures, 250, seed)
    return net, train, test, {"fit": True, "optimizer": torch.optim.AdamW(net.parameters(), lr=2e-5, weight_decay=0.01)}


def optimizer_of_last_layer_only(seed):
    """An optimizer of the last layer, as after copying a recipe for fine-tuning."""
    train, test = mnist(seed=seed)
    net = cnn()
    return net, train, test, {"optimizer": torch.optim.Adam(list(net.parameters())[-2:], lr=1e-3), "fit": True}


def optimizer_made_before_new_head(seed):
    """The optimizer was made before a new head was attached."""
    train, test = heartbeats(seed=seed)
    net = DilatedConvolutions()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    net.head = nn.Linear(24, 3)
    return net, train, test, {"optimizer": optimizer, "fit": True}
