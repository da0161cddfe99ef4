"""A second set of faults, written after the first set was examined: their first run is the unseen figure."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import digits, flat_digits, split
from evaluation.published.data.made import blobs, generator, imbalanced, padded_reviews, regression, reviews, waves
from evaluation.published.networks import MeanEmbedding, SmallCNN, mlp
from evaluation.published.scores import balanced_accuracy

HUMBATOVA = "Humbatova et al. 2020, taxonomy of real faults: "


@faulty(
    "second-sum-loss", "PyTorch forum: loss reduction sum against mean", fix="Use reduction='mean' or a lower rate."
)
def summed_loss():
    """The loss is summed over the batch, so SGD at 0.1 takes steps that are 64 times too large."""
    train, test = flat_digits()

    def summed(outputs, y):
        return F.cross_entropy(outputs, y, reduction="sum")

    given = Recipe(
        network=lambda: mlp(64, 32, 10), train=train, test=test, loss=summed, optimizer=sgd(0.1), batch=64, epochs=20
    )
    return given, replace(given, loss=None)


@faulty(
    "second-row-normalization",
    HUMBATOVA + "wrong preprocessing",
    fix="Do not standardize each row: its level decides the class.",
)
def level_removed():
    """Each row is standardized by its own mean and deviation, although the level of a row decides the class."""
    g = generator(5)
    y = torch.randint(3, (900,), generator=g)
    x = torch.randn(900, 20, generator=g) + y[:, None].float()
    rows = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
    train, test = split(rows, y, 600)
    given = Recipe(network=lambda: mlp(20, 32, 3), train=train, test=test)
    whole = split(x - 1, y, 600)
    return given, replace(given, train=whole[0], test=whole[1])


@faulty(
    "second-frozen-embedding",
    "PyTorch documentation: Embedding.from_pretrained freezes by default",
    fix="Pass freeze=False, or load trained vectors.",
)
def frozen_random_vectors():
    """Random word vectors of size 2 are loaded by from_pretrained, which freezes them."""
    train, test = reviews()

    def network(freeze):
        net = MeanEmbedding(60, 2, 2)
        net.embed = nn.Embedding.from_pretrained(torch.randn(60, 2), freeze=freeze)
        return net

    given = Recipe(network=lambda: network(True), train=train, test=test, optimizer=adam(5e-3))
    return given, replace(given, network=lambda: network(False))


@faulty(
    "second-inverted-weights",
    "PyTorch forum: weights of CrossEntropyLoss",
    fix="Weight classes by the inverse of their frequency.",
)
def weights_by_frequency():
    """The classes are weighted by their frequency instead of its inverse, so the rare class is ignored."""
    train, test = imbalanced()
    shares = torch.bincount(train[1]).float() / len(train[1])

    def loss_with(weight):
        return lambda outputs, y: F.cross_entropy(outputs, y, weight=weight)

    given = Recipe(
        network=lambda: mlp(10, 32, 2), train=train, test=test, loss=loss_with(shares), score=balanced_accuracy
    )
    return given, replace(given, loss=loss_with(1 / shares))


@faulty("second-tiny-logits", "PyTorch forum: temperature in the wrong place", fix="Do not divide the logits by 1000.")
def logits_divided():
    """The logits are divided by 1000 at the end of forward."""
    train, test = flat_digits()

    class Net(nn.Module):
        """A small perceptron with a temperature."""

        def __init__(self, temperature):
            super().__init__()
            self.body, self.temperature = mlp(64, 32, 10), temperature

        def forward(self, x):
            return self.body(x) / self.temperature

    given = Recipe(network=lambda: Net(1000.0), train=train, test=test, optimizer=sgd(0.1, momentum=0.9), epochs=10)
    return given, replace(given, network=lambda: Net(1.0))


@faulty(
    "second-softmax-over-batch",
    HUMBATOVA + "wrong tensor axis (attention weights over the batch)",
    fix="Take the softmax of the scores over time, dim=1.",
)
def attention_over_batch():
    """The attention weights are normalized over the examples of the batch instead of over time."""
    train, test = waves()

    class Net(nn.Module):
        """A recurrent layer with attention over its states."""

        def __init__(self, axis):
            super().__init__()
            self.axis = axis
            self.rnn, self.score, self.head = nn.GRU(1, 24, batch_first=True), nn.Linear(24, 1), nn.Linear(24, 3)

        def forward(self, x):
            states, _ = self.rnn(x)
            weights = torch.softmax(20 * self.score(states), self.axis)
            return self.head((weights * states).sum(1))

    given = Recipe(network=lambda: Net(0), train=train, test=test, optimizer=adam(5e-3), epochs=10)
    return given, replace(given, network=lambda: Net(1))


@faulty(
    "second-test-labels-shuffled",
    HUMBATOVA + "wrong labels for the validation data",
    fix="Keep test inputs and test labels in the same order.",
)
def test_labels_shuffled():
    """The test labels are in another order than the test inputs."""
    train, (x, y) = flat_digits()
    given = Recipe(
        network=lambda: mlp(64, 32, 10), train=train, test=(x, y[torch.randperm(len(y), generator=generator(1))])
    )
    return given, replace(given, test=(x, y))


@faulty(
    "second-inverted-mask",
    "PyTorch forum: src_key_padding_mask is True for padding",
    fix="Invert the mask: True marks padding, which is left out.",
)
def inverted_mask():
    """The padding mask is inverted, so that attention sees the padding only and the first position learns nothing."""
    (train, y), (test, yt) = padded_reviews(longest=24)
    train, test = (torch.cat((torch.full((len(x[0]), 1), 50), x[0]), 1) for x in (train, test))

    class Net(nn.Module):
        """An encoder whose answer is read from a first token."""

        def __init__(self, inverted):
            super().__init__()
            self.inverted, self.embed, self.head = inverted, nn.Embedding(51, 32), nn.Linear(32, 2)
            block = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(block, 1, enable_nested_tensor=False)

        def forward(self, x):
            mask = x != 0 if self.inverted else x == 0
            return self.head(self.encoder(self.embed(x), src_key_padding_mask=mask)[:, 0])

    given = Recipe(network=lambda: Net(True), train=(train, y), test=(test, yt), optimizer=adam(3e-3), epochs=12)
    return given, replace(given, network=lambda: Net(False))


@faulty(
    "second-optimizer-of-the-head",
    "PyTorch forum: optimizer created with model.fc.parameters()",
    fix="Give the optimizer all parameters.",
)
def only_the_head():
    """The optimizer has only the parameters of the last layer; the convolutions keep their random weights."""
    train, test = digits()
    given = Recipe(
        network=lambda: SmallCNN(width=2), train=train, test=test,
        optimizer=lambda p: torch.optim.Adam(list(p)[-2:], 1e-3), epochs=8,
    )  # fmt: skip
    return given, replace(given, optimizer=adam(1e-3))


@faulty("second-clamped-output", HUMBATOVA + "wrong activation of the output", fix="Remove torch.clamp from forward.")
def clamped_output():
    """The output of a regression is clamped to 0..1 in forward, although targets go from -3 to 3."""
    train, test = regression()

    class Net(nn.Module):
        """A perceptron whose output may be clamped."""

        def __init__(self, cut):
            super().__init__()
            self.body, self.cut = mlp(8, 64, 1), cut

        def forward(self, x):
            out = self.body(x)
            return out.clamp(0, 1) if self.cut else out

    given = Recipe(network=lambda: Net(True), train=train, test=test)
    return given, replace(given, network=lambda: Net(False))


@faulty(
    "second-integer-division",
    HUMBATOVA + "wrong type of the input",
    fix="Divide by 16.0 instead of with integer division.",
    margin=0.03,
)
def integer_division():
    """Pixels from 0 to 16 are divided by 16 with integer division, so that only full pixels stay."""
    train, test = flat_digits()
    cut = [((x * 16).int() // 16).float() for x in (train[0], test[0])]
    given = Recipe(network=lambda: mlp(64, 64, 10), train=(cut[0], train[1]), test=(cut[1], test[1]))
    return given, replace(given, train=train, test=test)


@faulty(
    "second-late-restart",
    "TrainCheck: state of the optimizer; PyTorch forum: model built again in the loop",
    fix="Do not reset the weights in forward.",
)
def weights_reset():
    """Forward calls reset_parameters of the last layer in training mode, so that it never keeps what it learned."""
    train, test = blobs(classes=6, d=8, spread=0.8)

    class Net(nn.Module):
        """A perceptron that may reset its head."""

        def __init__(self, reset):
            super().__init__()
            self.body, self.head, self.reset = mlp(8, 16, 16), nn.Linear(16, 6), reset

        def forward(self, x):
            if self.reset and self.training:
                self.head.reset_parameters()
            return self.head(torch.relu(self.body(x)))

    given = Recipe(network=lambda: Net(True), train=train, test=test)
    return given, replace(given, network=lambda: Net(False))
