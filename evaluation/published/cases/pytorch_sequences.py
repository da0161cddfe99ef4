"""Faults in sequence and segmentation models: forum threads and Karpathy's list of mistakes."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.made import characters, padded_reviews, shapes, waves
from evaluation.published.networks import LastState, MiniGPT, UNet, token_loss
from evaluation.published.scores import mean_iou, token_accuracy


@faulty(
    "forum-last-state-padding",
    "PyTorch forum: output[:, -1] of an RNN on padded sequences",
    fix="Read the state at the last real token (lengths), or use pack_padded_sequence.",
)
def last_state_at_padding():
    """The classifier reads the state at the last position, after up to 55 padding tokens."""
    (x, y), (xt, yt) = padded_reviews()

    class Net(nn.Module):
        """A GRU that reads the state at the end or at the last real token."""

        def __init__(self, at_length):
            super().__init__()
            self.at_length = at_length
            self.embed, self.rnn, self.head = nn.Embedding(60, 16), nn.RNN(16, 32, batch_first=True), nn.Linear(32, 2)

        def forward(self, x):
            states, _ = self.rnn(self.embed(x))
            last = (x > 0).sum(1) - 1 if self.at_length else torch.full((len(x),), x.shape[1] - 1)
            return self.head(states[torch.arange(len(x)), last])

    given = Recipe(network=lambda: Net(False), train=(x[0], y), test=(xt[0], yt), epochs=10, optimizer=adam(3e-3))
    return given, replace(given, network=lambda: Net(True))


@faulty(
    "forum-batch-first",
    "PyTorch forum classic: LSTM without batch_first",
    fix="Pass batch_first=True: the inputs are (batch, time, features).",
)
def missing_batch_first():
    """An LSTM without batch_first reads the batch as time, so examples of a batch leak into each other."""
    train, test = waves()

    class Net(nn.Module):
        """A recurrent layer and a head on the last time step."""

        def __init__(self, batch_first):
            super().__init__()
            self.rnn, self.head = nn.GRU(1, 32, batch_first=batch_first), nn.Linear(32, 3)

        def forward(self, x):
            return self.head(self.rnn(x)[0][:, -1])

    given = Recipe(network=lambda: Net(False), train=train, test=test, epochs=15, optimizer=adam(5e-3))
    return given, replace(given, network=lambda: Net(True))


@faulty(
    "karpathy-future-tokens",
    "Karpathy, makemore and nanoGPT: attention without causal mask",
    fix="Use a causal mask (is_causal=True).",
    harm="inflated",
)
def attention_sees_the_future():
    """A language model without causal mask copies the next token from its input, so its score means nothing."""
    train, test = characters()
    given = Recipe(
        network=lambda: MiniGPT(causal=False, layers=2),
        train=train,
        test=test,
        loss=token_loss,
        score=token_accuracy,
        epochs=12,
        optimizer=adam(3e-3),
        task="language model",
    )
    return given, replace(given, network=lambda: MiniGPT(layers=2))


@faulty(
    "karpathy-targets-not-shifted",
    "Karpathy, nanoGPT: inputs and targets not shifted",
    fix="Shift the targets by one token: predict the next token, not the given one.",
    harm="inflated",
)
def targets_not_shifted():
    """The targets equal the inputs, so the language model only learns to copy."""
    (x, y), (xt, yt) = characters()
    given = Recipe(
        network=MiniGPT,
        train=(x, x),
        test=(xt, xt),
        loss=token_loss,
        score=token_accuracy,
        epochs=6,
        task="language model",
    )
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "forum-ignore-index",
    "PyTorch forum: masks with label 255 without ignore_index",
    fix="Pass ignore_index=255 to the cross-entropy.",
    margin=0.3,
)
def void_label_as_class():
    """The masks mark borders with 255, which the loss turns into class 0 because it is clamped to the valid range."""
    (x, y), (xt, yt) = shapes()
    void = torch.rand(y.shape, generator=torch.Generator().manual_seed(1)) < 0.6
    masked = torch.where(void, 255, y)
    given = Recipe(
        network=UNet,
        train=(x, masked),
        test=(xt, yt),
        loss=lambda o, t: F.cross_entropy(o, t.remainder(3)),
        score=mean_iou,
        epochs=15,
        optimizer=adam(3e-3),
        task="class per pixel",
    )
    return given, replace(given, loss=lambda o, t: F.cross_entropy(o, t, ignore_index=255))


@faulty(
    "forum-crash-label-255",
    "PyTorch forum: target 255 is out of bounds",
    fix="Pass ignore_index=255 to the cross-entropy.",
)
def void_label_crashes():
    """Masks contain the label 255 for unknown pixels, and the default cross-entropy refuses it."""
    (x, y), (xt, yt) = shapes()
    void = torch.rand(y.shape, generator=torch.Generator().manual_seed(1)) < 0.05
    given = Recipe(
        network=UNet,
        train=(x, torch.where(void, 255, y)),
        test=(xt, yt),
        score=mean_iou,
        epochs=15,
        optimizer=adam(3e-3),
    )
    return given, replace(given, loss=lambda o, t: F.cross_entropy(o, t, ignore_index=255))


@faulty(
    "pytorch-relu-lstm-head",
    "PyTorch forum: hidden state of the first time step is read",
    fix="Read the last state: states[:, -1], not states[:, 0].",
)
def first_state_read():
    """The classifier reads the state after the first time step, which has seen one value only."""
    train, test = waves()

    class First(LastState):
        """Reads the first state."""

        def forward(self, x):
            return self.head(self.rnn(self.embed(x))[0][:, 0])

    given = Recipe(network=lambda: First(nn.GRU, 1, 32, 3), train=train, test=test, epochs=12, optimizer=adam(5e-3))
    return given, replace(given, network=lambda: LastState(nn.GRU, 1, 32, 3))
