"""What the cases of `faults_unseen.py` are made of: losses as people write them, data and networks that are changed."""

from functools import partial

import torch
from faults_cases import labels
from faults_models import cnn, mnist, perceptron
from torch import nn
from torch.nn import functional as F  # noqa: N812
from unseen_data import beats, uci_table
from unseen_models import Temporal

# Losses as people write them


def next_word(f, y):
    return F.cross_entropy(f.reshape(-1, f.shape[-1]), y.reshape(-1))


def pinball(f, y):
    """Of the quantiles 0.1, 0.5 and 0.9."""
    q, apart = torch.tensor([0.1, 0.5, 0.9]), y.reshape(-1, 1) - f
    return torch.maximum(q * apart, (q - 1) * apart).mean()


def dice(f, y):
    p = f.sigmoid()
    overlap = 1 - (2 * (p * y).sum() + 1) / (p.sum() + y.sum() + 1)
    return F.binary_cross_entropy_with_logits(f, y) + overlap


WEIGHTS = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0, 1.5, 1.0]), label_smoothing=0.05)


def warmup(rule):
    return torch.optim.lr_scheduler.LambdaLR(rule, lambda epoch: min(1.0, (1 + epoch) / 3))


def cosine(rule):
    return torch.optim.lr_scheduler.CosineAnnealingLR(rule, 20)


# Data changed


def pictures_of(data, seed=0):
    (x, _), (xt, _) = data(seed=seed)
    return (x, x.clone()), (xt, xt.clone())


def targets(function):
    return lambda a, b: ((a[0], function(a[1])), (b[0], function(b[1])))


def permuted(train, test):
    """The columns of test in another order, as after a join."""
    order = torch.randperm(test[0].shape[1], generator=torch.Generator().manual_seed(1))
    return train, (test[0][:, order], test[1])


def one_in(k, of):
    """One in k of the examples of a class."""
    return lambda y: (y != of) | (torch.arange(len(y)) % k == 0)


def extra(function):
    return lambda a, b: ((torch.cat([a[0], function(a[0])], 1), a[1]), (torch.cat([b[0], function(b[0])], 1), b[1]))


def confuse(share, a, b):
    """A share of one class is labeled as another one."""

    def change(y):
        hit = (y == a) & (torch.rand(len(y), generator=torch.Generator().manual_seed(2)) < share)
        return torch.where(hit, b, y)

    return labels(change)


def misaligned(train, test):
    return (train[0], train[1].roll(7, 0)), test


def first(n):
    return lambda a, b: ((a[0][:n], a[1][:n]), b)


def double(train, test):
    return (train[0].double(), train[1]), (test[0].double(), test[1])


def spoiled(train, test):
    x = train[0].clone()
    x[::50, 2] = torch.nan
    return (x, train[1]), test


def one_hot(k):
    return targets(lambda y: F.one_hot(y, k).float())


def column(y):
    return y.float()[:, None]


# Networks changed


def table(name, width=96, act=nn.SiLU, **options):
    def make():
        (x, y), (_, yt) = uci_table(name)
        return perceptron((x.shape[1], width, width, int(max(y.max(), yt.max())) + 1), act, **options)

    return make


def uci(name):
    return partial(uci_table, name)


def trained(build, data, steps, seed, change=None, **options):
    """A network after some steps, to be looked at as it is."""
    train, test = data(seed=seed)
    torch.manual_seed(seed)
    net = build()
    rule, loss = torch.optim.Adam(net.parameters(), 2e-3), options.pop("loss", F.cross_entropy)
    for step in range(steps):
        i = torch.randint(0, len(train[1]), (64,), generator=torch.Generator().manual_seed(step))
        x = {k: v[i] for k, v in train[0].items()} if isinstance(train[0], dict) else train[0][i]
        rule.zero_grad()
        loss(net(**x) if isinstance(x, dict) else net(x), train[1][i]).backward()
        rule.step()
    if change is not None:
        change(net)
    return net, train, test, {"fit": False, **options}


def tuned(seed):
    """A backbone trained on digits 0 to 4, frozen, with a new head for the others."""
    net, (x, y), (xt, yt), _ = trained(cnn, partial(mnist, 3000, 1000), 150, seed)
    net.requires_grad_(False)
    net[-1] = nn.Linear(64, 5)
    few, new = y > 4, yt > 4
    return net, (x[few], y[few] - 5), (xt[new], yt[new] - 5), {"fit": True}


def half_held(seed):
    """The optimizer was made before a new head was put on."""
    train, test = beats(seed=seed)
    net = Temporal()
    rule = torch.optim.AdamW(net.parameters(), lr=2e-3)
    net.head = nn.Linear(24, 3)
    return net, train, test, {"optimizer": rule, "fit": True}


def forget_statistics(net):
    for part in net.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.reset_running_stats()
            part.num_batches_tracked.fill_(100)


def dead(net):
    nn.init.constant_(net[7].bias, -30.0)


def times(factor):
    return lambda net: [p.mul_(factor) for p in net.parameters() if p.dim() > 1]
