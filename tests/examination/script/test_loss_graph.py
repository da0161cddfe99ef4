"""What the autograd graph of a loss says: sign, functions applied twice, parameters that it reaches."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from gnomon.examination.script import loss_graph
from gnomon.examination.script.loss_graph import activation_applied_twice, is_negated, loss_depends_on

Y = torch.tensor([0, 1, 2, 0])


def logits():
    return torch.randn(4, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        (lambda f: -F.cross_entropy(f, Y), "NllLoss"),
        (lambda f: F.cross_entropy(f, Y) * -1, "NllLoss"),
        (lambda f: F.mse_loss(f, f.detach() + 1, reduction="none").mean() / -4, "MseLoss"),
        (lambda f: -1 * -F.cross_entropy(f, Y), ""),
        (lambda f: F.cross_entropy(f, Y) * 2, ""),
        (lambda f: F.cross_entropy(f, Y) - F.mse_loss(f, f.detach()), ""),  # two terms, as in adversarial training
        (lambda f: -f.log_softmax(1).mean(), ""),  # a likelihood that the script negates itself
    ],
)
def test_only_negated_losses_are_named(loss, name):
    assert is_negated(loss(logits())) == name


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        (lambda f: F.cross_entropy(f.softmax(1), Y), "softmax"),
        (lambda f: F.cross_entropy(f.softmax(1).view(4, 3) / 1, Y), ""),
        (lambda f: F.binary_cross_entropy_with_logits(f.sigmoid().squeeze(), torch.ones(4, 3)), "sigmoid"),
        (lambda f: F.cross_entropy(f.log_softmax(1), Y), ""),  # changes nothing
        (lambda f: F.cross_entropy(f.sigmoid(), Y), ""),
        (lambda f: F.nll_loss(f.softmax(1).log(), Y), ""),
        (lambda f: F.cross_entropy(f.softmax(1) @ torch.eye(3), Y), ""),  # attention
    ],
)
def test_a_function_applied_twice_is_named(loss, name):
    assert activation_applied_twice(loss(logits())) == name


def test_parameters_are_reached_through_modules_and_not_through_detached_parts():
    first, second = nn.Linear(2, 2), nn.Linear(2, 1)
    ids = [{id(p) for p in part.parameters()} for part in (first, second)]
    loss = second(first(torch.ones(1, 2)).detach()).sum()
    assert not loss_depends_on(loss, ids[0]) and loss_depends_on(loss, ids[1])


def test_a_graph_that_is_too_large_counts_as_reaching(monkeypatch):
    monkeypatch.setattr(loss_graph, "MAX_NODES", 5)
    f = logits()
    for _ in range(10):
        f = f * 2
    assert loss_depends_on(f.sum(), set())
