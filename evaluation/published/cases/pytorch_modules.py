"""Faults in PyTorch modules: forum threads, issues, TrainCheck's silent errors and Karpathy's list of mistakes."""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from evaluation.published.case import Recipe, adam, faulty
from evaluation.published.data.load import digits, flat_digits
from evaluation.published.data.made import regression, rings
from evaluation.published.networks import mlp


@faulty(
    "forum-84911",
    "PyTorch forum 84911; TrainCheck pytorch-forum-84911",
    fix="Pass the parameters that need gradients to the optimizer, and do not freeze the head.",
)
def optimizer_of_frozen_layer():
    """All layers except batch normalization are frozen, and the optimizer holds only the frozen last layer."""
    train, test = digits()

    class Transfer(nn.Module):
        """A small body with batch normalization and a new head."""

        def __init__(self, frozen):
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
            )
            self.fc = nn.Linear(256, 10)
            if frozen:
                for name, p in self.named_parameters():
                    p.requires_grad = name.startswith("body.1")

        def forward(self, x):
            return self.fc(self.body(x))

    given = Recipe(
        network=lambda: Transfer(True),
        train=train,
        test=test,
        epochs=5,
        optimizer=lambda p: torch.optim.Adam(p[-2:], lr=1e-3),
    )
    return given, replace(given, network=lambda: Transfer(False), optimizer=adam())


@faulty(
    "forum-frozen-layers",
    "PyTorch forum classic: requires_grad=False left on (see mmpretrain 702, TrainCheck)",
    fix="Unfreeze the random layers: nothing was pretrained.",
)
def frozen_random_body():
    """The hidden layers are frozen at their random initialization and only a narrow head learns."""
    train, test = rings(d=10)

    def network(frozen):
        net = mlp(10, 8, 8, 2)
        for layer in (net[0], net[2]):
            for p in layer.parameters():
                p.requires_grad = not frozen
        return net

    given = Recipe(network=lambda: network(True), train=train, test=test, epochs=60, optimizer=adam(5e-3))
    return given, replace(given, network=lambda: network(False))


@faulty(
    "forum-detached-branch",
    "PyTorch forum classic: no_grad or detach in forward cuts the graph",
    fix="Remove torch.no_grad from forward so that the body learns.",
)
def detached_branch():
    """The features are computed under torch.no_grad, so the layers before them never learn."""
    g = torch.Generator().manual_seed(3)
    x = torch.randn(1500, 6, generator=g)
    y = (x[:, 0] * x[:, 1] > 0).long() * 2 + (x[:, 2] * x[:, 3] > 0).long()

    class Net(nn.Module):
        """A body of three layers and a linear head."""

        def __init__(self, cut):
            super().__init__()
            self.cut = cut
            self.body, self.head = mlp(6, 32, 32, 16), nn.Linear(16, 4)

        def forward(self, x):
            if self.cut:
                with torch.no_grad():
                    h = torch.relu(self.body(x))
            else:
                h = torch.relu(self.body(x))
            return self.head(h)

    given = Recipe(
        network=lambda: Net(True),
        train=(x[:1000], y[:1000]),
        test=(x[1000:], y[1000:]),
        epochs=20,
        optimizer=adam(3e-3),
    )
    return given, replace(given, network=lambda: Net(False))


@faulty(
    "forum-layer-in-forward",
    "PyTorch forum classic: layer created in forward",
    fix="Create the layer in __init__ so that it is kept and trained.",
)
def layer_created_in_forward():
    """A linear layer is created anew in every call of forward, with new random weights."""
    train, test = flat_digits()

    class Net(nn.Module):
        """Two layers, of which the first may be created in forward."""

        def __init__(self, inside):
            super().__init__()
            self.first = None if inside else nn.Linear(64, 64)
            self.second = nn.Linear(64, 10)

        def forward(self, x):
            first = self.first if self.first is not None else nn.Linear(64, 64)
            return self.second(torch.relu(first(x)))

    given = Recipe(network=lambda: Net(True), train=train, test=test, epochs=10)
    return given, replace(given, network=lambda: Net(False))


@faulty(
    "forum-python-list",
    "PyTorch forum classic: layers in a Python list instead of nn.ModuleList",
    fix="Use nn.ModuleList.",
)
def layers_in_a_list():
    """The hidden layers are stored in a Python list, so the optimizer never sees their parameters."""
    train, test = rings(d=6)

    class Net(nn.Module):
        """Hidden layers in a list, then a head."""

        def __init__(self, kind):
            super().__init__()
            self.hidden = kind([nn.Linear(6, 12), nn.Linear(12, 12), nn.Linear(12, 12)])
            self.head = nn.Linear(12, 2)

        def forward(self, x):
            for layer in self.hidden:
                x = torch.relu(layer(x))
            return self.head(x)

    given = Recipe(network=lambda: Net(list), train=train, test=test, epochs=40, optimizer=adam(3e-3))
    return given, replace(given, network=lambda: Net(nn.ModuleList))


@faulty(
    "forum-softmax-dim", "PyTorch forum classic: softmax over the batch (dim=0)", fix="Apply log_softmax over dim=1."
)
def softmax_over_the_batch():
    """The log-softmax runs over the batch instead of the classes, so examples of a batch influence each other.

    A single example gets equal scores for all classes.
    """
    train, test = flat_digits()

    class Net(nn.Module):
        """Dense layers with a log-softmax along one axis."""

        def __init__(self, dim):
            super().__init__()
            self.net, self.dim = mlp(64, 32, 10), dim

        def forward(self, x):
            return F.log_softmax(self.net(x), dim=self.dim)

    given = Recipe(network=lambda: Net(0), train=train, test=test, loss=F.nll_loss, epochs=10, score_batch=1)
    return given, replace(given, network=lambda: Net(1))


@faulty(
    "karpathy-view-permute",
    "Karpathy, A Recipe for Training Neural Networks: view instead of permute mixes the batch",
    fix="Flatten each example: use x.flatten(1).",
)
def batch_mixed_by_reshape():
    """A reshape with the batch on the wrong axis mixes numbers of different examples."""
    train, test = flat_digits()

    class Net(nn.Module):
        """Swaps the axes back and forth, with or without mixing the examples."""

        def __init__(self, mixed):
            super().__init__()
            self.mixed, self.net = mixed, mlp(64, 64, 10)

        def forward(self, x):
            return self.net(x.t().reshape(len(x), 64) if self.mixed else x)

    given = Recipe(network=lambda: Net(True), train=train, test=test, epochs=12)
    return given, replace(given, network=lambda: Net(False))


@faulty(
    "forum-broadcast-loss",
    "PyTorch forum classic: outputs (n, 1) and targets (n,) broadcast in MSELoss",
    fix="Squeeze the outputs or give the targets shape (n, 1).",
)
def broadcast_targets():
    """Outputs of shape (n, 1) meet targets of shape (n,), so every output is compared with every target."""
    (x, y), (xt, yt) = regression()
    given = Recipe(network=lambda: mlp(8, 64, 1), train=(x, y[:, 0]), test=(xt, yt[:, 0]), loss=F.mse_loss, epochs=20)
    return given, replace(given, train=(x, y), test=(xt, yt))


@faulty(
    "transformers-33844",
    "huggingface/transformers 33844; TrainCheck transformers-33844: dropout active in evaluation",
    fix="Pass training=self.training to F.dropout.",
)
def dropout_in_evaluation():
    """F.dropout is called without training=self.training, so it stays active in evaluation mode."""
    train, test = flat_digits()

    class Net(nn.Module):
        """Two dense layers with functional dropout."""

        def __init__(self, always):
            super().__init__()
            self.always, self.first, self.second = always, nn.Linear(64, 64), nn.Linear(64, 10)

        def forward(self, x):
            h = F.dropout(torch.relu(self.first(x)), 0.7, training=self.always or self.training)
            return self.second(h)

    given = Recipe(network=lambda: Net(True), train=train, test=test, epochs=20)
    return given, replace(given, network=lambda: Net(False))
