"""Small training loops with mistakes in the setup of schedules, layers, clipping and shapes, and healthy ones that look
alike.
"""

import warnings

import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from tests.examination.script.detail_loops import epochs, wide_data, wide_network
from tests.examination.script.loops import data, network, step, validate


class NewLayer(nn.Module):
    """A network whose last layer is made in forward, or once."""

    def __init__(self, once):
        super().__init__()
        self.first, self.last = nn.Linear(6, 24), nn.Linear(24, 4)
        self.once = once

    def forward(self, x):
        x = torch.relu(self.first(x))
        return nn.Softplus()(self.last(x)) if self.once else nn.Linear(24, 4)(x)


class Tokens(nn.Module):
    """Scores of five classes at each of seven positions."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Embedding(5, 8), nn.Linear(8, 5)

    def forward(self, x):
        return self.last(torch.tanh(self.first(x)))


def tokens(loss):
    """Trains on ``loss(scores, targets)`` of shapes (n, 7, 5) and (n, 7)."""
    torch.manual_seed(0)
    net, x = Tokens(), torch.randint(0, 5, (96, 7))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    for i in range(24):
        part = x[4 * i : 4 * i + 4]
        optimizer.zero_grad()
        loss(net(part), part).backward()
        optimizer.step()


def nodes(axis):
    """One graph of 40 nodes, of which 30 are trained on; the scores are normalized over an axis."""
    torch.manual_seed(0)
    x, y, chosen = torch.randn(40, 6), torch.randint(0, 4, (40,)), torch.arange(30)
    net = nn.Linear(6, 4)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    for _ in range(12):
        optimizer.zero_grad()
        F.nll_loss(net(x).log_softmax(axis)[chosen], y[chosen]).backward()
        optimizer.step()


def clipping(parameters):
    """Clips the gradients of ``parameters(net)``, which is called once."""
    net = network()
    clipped = parameters(net)
    optimizer = torch.optim.Adam(net.parameters() if isinstance(clipped, list) else clipped)
    for x, y in DataLoader(data(), 16):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.nn.utils.clip_grad_norm_(clipped, 1.0)
        optimizer.step()


def replaced_optimizer(*, new_schedule):
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    if new_schedule:
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
    for _ in range(3):
        for x, y in DataLoader(data(), 16):
            step(net, optimizer, x, y)
        schedule.step()


def plateau(mode, metric):
    """Steps a plateau schedule with ``metric(epoch)``."""
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode=mode, patience=1)
    for epoch in range(6):
        net.train()
        for x, y in DataLoader(data(), 48):
            step(net, optimizer, x, y)
        validate(net)
        schedule.step(metric(epoch))


def by_hand(*, clear):
    """Changes the weights without an optimizer."""
    net = nn.Linear(6, 4)
    for x, y in DataLoader(data(), 16):
        if clear:
            net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.1 * p.grad


def at_rate(rate):
    epochs(network(), DataLoader(data(), 16), lr=rate)


def normalized(*, validation):
    """Trains on numbers with mean 0 and deviation 1; the validation data may be as they came."""
    raw = 40 + 12 * torch.randn(160, 16, generator=torch.Generator().manual_seed(3))
    x, y = wide_data().tensors
    held_out = (raw - 40) / 12 if validation else raw
    epochs(wide_network(), DataLoader(TensorDataset(x, y), 16), validation=DataLoader(TensorDataset(held_out, y), 16))


def summed_loss(rate):
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(net.parameters(), rate)
    for _ in range(15):
        for x, _ in DataLoader(wide_data(), 16):
            optimizer.zero_grad()
            F.mse_loss(net(x), x[:, :1], reduction="sum").backward()
            optimizer.step()


SETUP_MISTAKES = {
    "layer made in forward": (
        lambda: epochs(NewLayer(False), DataLoader(data(), 16), count=1), "layer-made-in-forward",
    ),
    "classes viewed as positions": (
        lambda: tokens(lambda out, y: F.cross_entropy(out.view(4, 5, 7), y)), "reshaped-axes",
    ),
    "softmax over nodes": (lambda: nodes(0), "softmax-over-batch"),
    "used generator clipped": (lambda: clipping(lambda net: net.parameters()), "clip-without-effect"),
    "schedule of the old optimizer": (lambda: replaced_optimizer(new_schedule=False), "scheduler-of-another-optimizer"),
    "plateau of a loss in mode max": (lambda: plateau("max", lambda epoch: 2 - 0.2 * epoch), "scheduler-wrong-direction"),
    "not cleared by hand": (lambda: by_hand(clear=False), "gradients-not-cleared"),
    "rate of 1e-9": (lambda: at_rate(1e-9), "learning-rate-too-small"),
    "normalization missing": (lambda: normalized(validation=False), "train-test-shift"),
    "sum with a large rate": (lambda: summed_loss(0.5), "loss-summed"),
}  # fmt: skip


def layer_made_once():
    epochs(NewLayer(True), DataLoader(data(), 16), count=1)


def scores_flattened_or_transposed():
    tokens(lambda out, y: F.cross_entropy(out.view(-1, 5), y.view(-1)))
    tokens(lambda out, y: F.cross_entropy(out.transpose(1, 2), y))


def softmax_over_classes():
    nodes(1)


def list_clipped():
    clipping(lambda net: [*net.parameters()])


def schedule_of_the_new_optimizer():
    replaced_optimizer(new_schedule=True)


def plateau_of_scores_and_losses():
    plateau("max", lambda epoch: 0.5 + 0.05 * epoch)
    plateau("min", lambda epoch: 2 - 0.2 * epoch)
    plateau("max", lambda epoch: (0.5, 0.7, 0.69, 0.68, 0.67, 0.66)[epoch])


def cleared_by_hand():
    by_hand(clear=True)


def fine_tuning_rate():
    at_rate(1e-5)


def both_normalized():
    normalized(validation=True)


def sum_with_a_small_rate():
    summed_loss(1e-3)


def reentrant_checkpoints():
    """A part of the network is computed again in the backward pass, and its weights are not in the graph."""
    torch.manual_seed(0)
    net = nn.ModuleList([nn.Linear(6, 24), nn.Linear(24, 4)])
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    for x, y in DataLoader(data(), 16):
        optimizer.zero_grad()
        hidden = torch.utils.checkpoint.checkpoint(net[0], x.requires_grad_(), use_reentrant=True)
        out = torch.utils.checkpoint.checkpoint(net[1], torch.relu(hidden), use_reentrant=True)
        F.cross_entropy(out, y).backward()
        optimizer.step()


SETUP_HEALTHY = (
    layer_made_once, scores_flattened_or_transposed, softmax_over_classes, list_clipped, schedule_of_the_new_optimizer,
    plateau_of_scores_and_losses, cleared_by_hand, fine_tuning_rate, both_normalized, sum_with_a_small_rate,
    reentrant_checkpoints,
)  # fmt: skip
