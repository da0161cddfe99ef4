"""A fifth set of faults, in networks and data: written from public sources before the checks were read."""

import math
from dataclasses import replace

import torch
from torch import nn

from evaluation.published.case import Recipe, adam, faulty, sgd
from evaluation.published.data.load import digits, flat_digits, split, standardized, uci
from evaluation.published.data.made import generator, imbalanced, order_task, regression, shapes
from evaluation.published.networks import SmallCNN, UNet, mlp


@faulty(
    "fifth-attention-not-scaled",
    "Vaswani et al. 2017, section 3.2.1; ttsugriy/llm-first-principles, stage 5: forgetting to scale",
    fix="Divide the attention scores by the root of the width.",
)
def attention_not_scaled():
    """Attention scores are not divided by the root of the width, so one token gets nearly all the weight."""
    train, test = order_task()

    class Net(nn.Module):
        """Token and position vectors, one attention layer by hand, and a linear layer on the mean."""

        def __init__(self, scale):
            super().__init__()
            width = 128
            self.scale, self.tokens, self.places = scale, nn.Embedding(12, width), nn.Embedding(10, width)
            self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
            for layer in (self.query, self.key):
                nn.init.xavier_uniform_(layer.weight)
            self.head = mlp(width, 32, 2)

        def forward(self, x):
            h = self.tokens(x) + self.places(torch.arange(x.shape[1]))
            scores = self.query(h) @ self.key(h).transpose(1, 2) * self.scale
            return self.head((h + scores.softmax(-1) @ self.value(h)).mean(1))

    given = Recipe(network=lambda: Net(1.0), train=train, test=test, optimizer=adam(1e-3), epochs=8)
    return given, replace(given, network=lambda: Net(1 / math.sqrt(128)))


@faulty(
    "fifth-no-residual",
    "He et al. 2016; ttsugriy/llm-first-principles, stage 6: missing residual connections",
    fix="Add the input of each block to its output.",
)
def no_residual():
    """Twenty blocks follow each other without residual connections, so hardly any gradient arrives."""
    train, test = flat_digits()

    class Net(nn.Module):
        """Blocks of two linear layers and a ReLU."""

        def __init__(self, residual):
            super().__init__()
            self.residual = residual
            self.first, self.head = nn.Linear(64, 32), nn.Linear(32, 10)
            self.blocks = nn.ModuleList(mlp(32, 32, 32) for _ in range(20))

        def forward(self, x):
            h = self.first(x)
            for block in self.blocks:
                h = h + block(h) if self.residual else block(h)
            return self.head(h)

    given = Recipe(network=lambda: Net(False), train=train, test=test, optimizer=adam(), epochs=10)
    return given, replace(given, network=lambda: Net(True))


@faulty(
    "fifth-batch-mean-in-forward",
    "ttsugriy/llm-first-principles, stage 6: layer norm over the wrong axis; PyTorch forum: mean(0) in forward",
    fix="Normalize over the last axis, as nn.LayerNorm does.",
)
def batch_mean_in_forward():
    """A layer norm written by hand takes mean and deviation over the batch, also when a single example is predicted."""
    train, test = flat_digits()

    class Norm(nn.Module):
        """Mean 0 and deviation 1 along one axis."""

        def __init__(self, axis):
            super().__init__()
            self.axis, self.gain, self.shift = axis, nn.Parameter(torch.ones(32)), nn.Parameter(torch.zeros(32))

        def forward(self, x):
            x = x - x.mean(self.axis, keepdim=True)
            return self.gain * x / (x.square().mean(self.axis, keepdim=True) + 1e-5).sqrt() + self.shift

    def network(axis):
        return nn.Sequential(nn.Linear(64, 32), Norm(axis), nn.ReLU(), nn.Linear(32, 10))

    given = Recipe(network=lambda: network(0), train=train, test=test, epochs=15, score_batch=2)
    return given, replace(given, network=lambda: network(1))


@faulty(
    "fifth-bidirectional-last",
    "PyTorch forum 49825: output[:, -1] of a bidirectional LSTM has the first state of the backward direction",
    fix="Take the last state of each direction (h_n).",
)
def bidirectional_last():
    """Only the backward half of output[:, -1] is read, which has seen a single token."""
    g = generator(62)
    y = torch.randint(2, (1200,), generator=g)
    x = torch.randint(3, 20, (1200, 12), generator=g)
    place = torch.randint(0, 12, (1200,), generator=g)
    x[torch.arange(1200), place] = 1 + y
    train, test = split(x, y, 800)

    class Net(nn.Module):
        """A bidirectional LSTM; the head reads the backward direction."""

        def __init__(self, place):
            super().__init__()
            self.place, self.embed, self.head = place, nn.Embedding(20, 16), nn.Linear(24, 2)
            self.rnn = nn.LSTM(16, 24, batch_first=True, bidirectional=True)

        def forward(self, x):
            return self.head(self.rnn(self.embed(x))[0][:, self.place, 24:])

    given = Recipe(network=lambda: Net(-1), train=train, test=test, optimizer=adam(5e-3), epochs=15)
    return given, replace(given, network=lambda: Net(0))


@faulty(
    "fifth-nan-from-where",
    "pytorch/pytorch 16317, 52248 and 68425: the gradient of torch.where is NaN if the other branch is infinite",
    fix="Clamp the argument before the root.",
)
def nan_from_where():
    """where() picks 0 instead of the root of a negative number, but the gradient of that root is still NaN."""
    train, test = flat_digits()

    class Net(nn.Module):
        """Roots of rectified features."""

        def __init__(self, safe):
            super().__init__()
            self.safe, self.first, self.head = safe, nn.Linear(64, 48), nn.Linear(48, 10)

        def forward(self, x):
            h = self.first(x)
            roots = (h.clamp(min=1e-4) if self.safe else h).sqrt()
            return self.head(torch.where(h > 0, roots, torch.zeros_like(h)))

    given = Recipe(network=lambda: Net(False), train=train, test=test, epochs=15)
    return given, replace(given, network=lambda: Net(True))


@faulty(
    "fifth-relu-on-inputs",
    "Humbatova et al. 2020, leaf: redundant activation; StackOverflow: ReLU before the first layer",
    fix="Remove the ReLU before the first layer.",
)
def relu_on_inputs():
    """Standardized inputs pass through a ReLU before the first layer, so everything below the mean is lost."""
    (x, y), (xt, yt) = regression()

    def network(first):
        return nn.Sequential(first, nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))

    given = Recipe(network=lambda: network(nn.ReLU()), train=(x, y), test=(xt, yt), optimizer=adam(5e-3), epochs=30)
    return given, replace(given, network=lambda: network(nn.Identity()))


@faulty(
    "fifth-targets-truncated",
    "NumPy documentation of astype; StackOverflow: target column read as int",
    fix="Read the training targets as floating-point numbers.",
)
def targets_truncated():
    """The training targets were stored as whole numbers, cut off towards zero; the test targets were not."""
    (x, y), (xt, yt) = regression()
    given = Recipe(network=lambda: mlp(8, 64, 1), train=(x, y.trunc()), test=(xt, yt), optimizer=adam(5e-3), epochs=30)
    return given, replace(given, train=(x, y))


@faulty(
    "fifth-inverted-test-images",
    "StackOverflow: own digits are black on white and MNIST is white on black",
    fix="Invert the test images.",
)
def inverted_test_images():
    """Test images are black on white and training images white on black."""
    train, test = digits()
    given = Recipe(network=SmallCNN, train=train, test=(1 - test[0], test[1]), epochs=8)
    return given, replace(given, test=test)


@faulty(
    "fifth-columns-in-other-order",
    "pandas documentation of get_dummies; StackOverflow: columns of the test table in another order",
    fix="Give both tables the same order of columns.",
)
def columns_in_other_order():
    """The columns of the test table are in another order than those of the training table."""
    train, test = standardized(*uci("statlog-vehicle"))
    order = torch.randperm(train[0].shape[1], generator=generator(63))
    columns = train[0].shape[1]
    given = Recipe(
        network=lambda: mlp(columns, 48, 4), train=train, test=(test[0][:, order], test[1]), optimizer=adam(3e-3)
    )
    return given, replace(given, test=test, epochs=30)


@faulty(
    "fifth-oversampled-before-split",
    "imbalanced-learn, common pitfalls: resampling before the split leaks copies",
    fix="Split first, then repeat rows of the training set only.",
    harm="inflated",
)
def oversampled_before_split():
    """The rare class was repeated before the split, so most of its test rows are also training rows."""
    (x, y), (xt, yt) = imbalanced(n=900, rare=0.15, shift=0.8)
    x, y = torch.cat((x, xt)), torch.cat((y, yt))
    rare = (y == 1).nonzero()[:, 0]
    more = rare[torch.randint(len(rare), (500,), generator=generator(64))]
    leaking = split(torch.cat((x, x[more])), torch.cat((y, y[more])), 900)
    (a, b), fair = split(x, y, 600)
    rare = (b == 1).nonzero()[:, 0]
    again = rare[torch.randint(len(rare), (300,), generator=generator(64))]
    given = Recipe(
        network=lambda: mlp(10, 64, 64, 2), train=leaking[0], test=leaking[1], epochs=40, optimizer=adam(3e-3)
    )
    return given, replace(given, train=(torch.cat((a, a[again])), torch.cat((b, b[again]))), test=fair)


@faulty(
    "fifth-flip-image-not-mask",
    "PyTorch forum: the same random transform for image and mask; torchvision transforms v2 documentation",
    fix="Flip image and mask together, or do not flip.",
)
def flip_image_not_mask():
    """The augmentation flips training images left to right half of the time, and never their masks."""
    train, test = shapes(n=300)

    def flip(x):
        chosen = torch.rand(len(x)) < 0.5
        return torch.where(chosen[:, None, None, None], x.flip(3), x)

    def object_accuracy(outputs, targets):
        return float((outputs.argmax(1) == targets)[targets > 0].double().mean())

    given = Recipe(
        network=UNet, train=train, test=test, augment=flip, optimizer=adam(3e-3), epochs=10, score=object_accuracy
    )
    return given, replace(given, augment=None)


@faulty(
    "fifth-large-temperature",
    "Guo et al. 2017 and forum: scores divided by a temperature of 100 before the loss",
    fix="Remove the division, or use a temperature near 1.",
)
def large_temperature():
    """The scores are divided by a temperature of 100 in forward, so that gradients are 100 times too small."""
    train, test = digits()

    class Net(SmallCNN):
        """A small convolutional network with a temperature."""

        def __init__(self, temperature):
            super().__init__()
            self.temperature = temperature

        def forward(self, x):
            return super().forward(x) / self.temperature

    given = Recipe(network=lambda: Net(100.0), train=train, test=test, optimizer=sgd(0.05, 0.9), epochs=8)
    return given, replace(given, network=lambda: Net(1.0))
