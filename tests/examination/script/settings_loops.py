"""Small training loops with mistakes in the loss, the settings, the data sets or the kept weights, and healthy ones
that look alike.
"""

import copy
import warnings

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, SubsetRandomSampler

from tests.examination.script.loops import data, loop, network, step, validate


def with_loss(loss):
    """A loop whose loss is a function of outputs and labels."""

    def body(net, optimizer, x, y):
        optimizer.zero_grad()
        loss(net(x), y).backward()
        optimizer.step()

    return lambda: loop(body)


def broadcast(reduce):
    """A regression on the first output whose targets lack an axis."""

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with_loss(lambda out, y: reduce(out[:, :1], y.float()))()

    return run


def two_steps(net, optimizer, x, y):
    step(net, optimizer, x, y)
    optimizer.step()


def with_optimizer(build, *, schedule=None, epochs=3):
    """A loop with this optimizer, and a schedule of epochs."""
    net = network()
    optimizer = build(net.parameters())
    schedule = None if schedule is None else torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
    for _ in range(epochs):
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        if schedule is not None:
            schedule.step()


def growing_loss(*, backward_of_sum):
    """Losses of all batches are added up; the sum, or each loss, is passed to backward."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(2):
        total = torch.zeros(())
        optimizer.zero_grad()
        for x, y in DataLoader(data(), 16):
            loss = F.cross_entropy(net(x), y)
            total = total + loss
            (total if backward_of_sum else loss).backward(retain_graph=True)
        optimizer.step()


def best_weights(copied):
    """Keeps the weights of the first epoch and restores them at the end."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    best = None
    for _ in range(3):
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        best = best or copied(net.state_dict())
    net.load_state_dict(best)


def with_copy(follow):
    """Validates a copy of the network after each epoch; ``follow(copy, net)`` updates the copy."""
    net = network()
    optimizer, other = torch.optim.Adam(net.parameters()), copy.deepcopy(net)
    for _ in range(3):
        net.train()
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        follow(other, net)
        validate(other)


def distillation():
    """A frozen teacher of the same class gives targets; the student is validated."""
    teacher = network().eval()
    torch.manual_seed(1)
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(3):
        net.train()
        for x, _ in DataLoader(data(), 16):
            with torch.no_grad():
                target = teacher(x).softmax(1)
            optimizer.zero_grad()
            F.cross_entropy(net(x), target).backward()
            optimizer.step()
        validate(net)


def splits(training, validation):
    """Trains and validates on loaders that these functions make of one data set."""
    net, same = network(), data()
    optimizer = torch.optim.Adam(net.parameters())
    one, other = training(same), validation(same)
    for _ in range(2):
        net.train()
        for x, y in one:
            step(net, optimizer, x, y)
        net.eval()
        with torch.no_grad():
            for x, _ in other:
                net(x)


def no_batches():
    loop(step)
    for _ in DataLoader(data(), 4096, drop_last=True):
        raise AssertionError


def pairwise_ranking(outputs, y):
    score = outputs[:, :1]
    return F.softplus(score - score.T).mean()


def average(copy, net):
    for one, other in zip(copy.parameters(), net.parameters(), strict=True):
        one.data.lerp_(other.data, 0.5)


def subset(indices):
    return lambda same: DataLoader(same, 16, sampler=SubsetRandomSampler(indices))


SGD, AdamW = torch.optim.SGD, torch.optim.AdamW
SETTINGS_MISTAKES = {
    "squared error broadcast": (broadcast(F.mse_loss), "loss-broadcast"),
    "difference broadcast": (broadcast(lambda out, y: (y - out).pow(2).mean()), "loss-broadcast"),
    "nll of logits": (with_loss(lambda out, y: F.nll_loss(out + 1, y)), "nll-without-log-softmax"),
    "softmax over examples": (with_loss(lambda out, y: F.nll_loss(out.log_softmax(0), y)), "softmax-over-batch"),
    "softmax over examples, negative axis": (
        with_loss(lambda out, y: F.nll_loss(out.log_softmax(-2), y)), "softmax-over-batch",
    ),
    "two steps": (lambda: loop(two_steps), "step-repeated"),
    "zero after an epoch": (lambda: with_optimizer(lambda p: SGD(p, 0.1), schedule=lambda e: e < 1), "learning-rate-zero"),
    "weight decay of ten": (lambda: with_optimizer(lambda p: SGD(p, 0.01, weight_decay=10)), "weight-decay-too-large"),
    "weight decay with momentum": (
        lambda: with_optimizer(lambda p: SGD(p, 0.01, momentum=0.9, weight_decay=1)), "weight-decay-too-large",
    ),
    "decoupled weight decay": (
        lambda: with_optimizer(lambda p: AdamW(p, 0.01, weight_decay=10)), "weight-decay-too-large",
    ),
    "growing graph": (lambda: growing_loss(backward_of_sum=True), "graph-kept"),
    "weights kept by reference": (lambda: best_weights(lambda state: state), "state-is-a-reference"),
    "copy never trained": (lambda: with_copy(lambda other, net: None), "validated-model-not-trained"),
    "validation on training data": (
        lambda: splits(lambda d: DataLoader(d, 16, shuffle=True), lambda d: DataLoader(d, 32)),
        "validation-on-training-data",
    ),
    "no batches": (no_batches, "no-batches"),
}  # fmt: skip


def warmup_from_zero():
    """The rate is zero in the first epoch of ten only."""
    with_optimizer(lambda p: SGD(p, 0.1), schedule=lambda e: e / 10, epochs=10)


def one_group_at_rate_zero():
    net = network()
    groups = [
        {"params": net.first.parameters(), "lr": 0.0},
        {"params": [*net.norm.parameters(), *net.last.parameters()]},
    ]
    optimizer = torch.optim.Adam(groups, 1e-2)
    for _ in range(2):
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)


def strong_weight_decay():
    with_optimizer(lambda p: SGD(p, 0.1, momentum=0.9, weight_decay=5e-3))


def kept_graphs():
    """retain_graph=True without need, on one graph for each batch."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in DataLoader(data(), 16):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward(retain_graph=True)
        optimizer.step()


def copied_best_weights():
    best_weights(copy.deepcopy)


def averaged_weights():
    with_copy(average)


def folds_of_one_data_set():
    splits(subset(range(96)), subset(range(96, 192)))


def two_losses_of_one_optimizer():
    """Two backward passes for each step, as in the discriminator of a GAN."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in DataLoader(data(), 16):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        F.cross_entropy(net(x + 0.1), y).backward()
        optimizer.step()


def scores_compared_in_pairs():
    with_loss(pairwise_ranking)()


def log_probabilities():
    with_loss(lambda out, y: nn.NLLLoss()(nn.LogSoftmax(1)(out), y))()


SETTINGS_HEALTHY = (
    warmup_from_zero, one_group_at_rate_zero, strong_weight_decay, kept_graphs, copied_best_weights, averaged_weights,
    distillation, folds_of_one_data_set, two_losses_of_one_optimizer, scores_compared_in_pairs, log_probabilities,
)  # fmt: skip
