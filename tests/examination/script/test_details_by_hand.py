"""Single facts of a training loop: records of tensors and graphs made by hand."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon.examination.script.changed_inputs import ChangedInputs
from gnomon.examination.script.example_keys import ExampleKeys
from gnomon.examination.script.frozen import random_frozen_layers
from gnomon.examination.script.held_graphs import HeldGraphs
from gnomon.examination.script.label_sample import LabelSample
from gnomon.examination.script.seen import OptimizerRecord
from gnomon.examination.script.weight_penalty import subtracts_penalty


def classification():
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    return layer, F.cross_entropy(layer(torch.randn(5, 3)), torch.randint(2, (5,)))


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        (lambda ce, w: ce - 1e-2 * w.pow(2).sum(), True),
        (lambda ce, w: ce - 1e-2 * w.norm(), True),
        (lambda ce, w: ce + -0.1 * w.abs().sum(), True),
        (lambda ce, w: ce - 0.1 * torch.cat([w.view(-1), w.view(-1)]).norm(), True),
        (lambda ce, w: ce - (w * w).mean() / 2, True),
        (lambda ce, w: torch.sub(ce, (w**2).sum(), alpha=0.1), True),
        (lambda ce, w: torch.add(ce, (w**2).sum(), alpha=-0.1), True),
        (lambda ce, w: 1 - (w**2).sum() + ce, True),
        (lambda ce, w: ce + 1e-2 * w.pow(2).sum(), False),
        (lambda ce, w: -(-ce - 0.1 * w.norm()), False),
        (lambda ce, w: torch.sub(ce, (w**2).sum(), alpha=-0.1), False),
        (lambda ce, w: ce - 0.1 * w.pow(3).sum(), False),
        (lambda ce, w: ce - 0.1 * w.sum(), False),
        (lambda ce, w: ce - 0.1 * (2 * w).exp().norm(), False),
        (lambda ce, w: ce - w.norm() + 2 * w.norm(), False),
        (lambda ce, w: ce, False),
    ],
)
def test_the_sign_of_a_penalty_is_read_from_the_graph(loss, found):
    layer, cross_entropy = classification()
    assert subtracts_penalty(loss(cross_entropy, layer.weight)) is found


@pytest.mark.parametrize(
    ("change", "found"),
    # The first weights are uniform on [-1/8, 1/8]. Uniform weights on 0.9 or 1.1 of this interval, and normal weights
    # with the same variance, are no longer the ones that torch drew.
    [(1.0, True), (0.9, False), (1.1, False), ("normal", False), ("sparse", False), ("trained", False)],
)
def test_frozen_weights_have_the_distribution_of_first_weights(change, found):
    torch.manual_seed(0)
    layer = nn.Linear(64, 64).requires_grad_(False)
    if change == "normal":
        layer.weight.normal_(0, 1 / 8 / 3**0.5).clamp_(-1 / 8, 1 / 8)
    elif change == "sparse":
        layer.weight[:5] = 0  # The mean of squares is 0.92 / 3 b^2, and the limit of 4 errors is 0.944 / 3 b^2.
    elif change == "trained":
        layer.weight[3, 5] = 0.2
    else:
        layer.weight.mul_(change)
    assert random_frozen_layers(layer) == ((("weight", 4096),) if found else ())
    assert random_frozen_layers(layer.requires_grad_(True)) == ()


def test_most_layers_with_first_weights_are_recognized():
    torch.manual_seed(0)
    layers = [nn.Linear(16, 32) for _ in range(100)] + [nn.Conv2d(8, 16, 3) for _ in range(100)]
    assert sum(bool(random_frozen_layers(layer.requires_grad_(False))) for layer in layers) >= 199


@pytest.mark.parametrize(
    ("make", "change", "similar"),
    [
        (lambda: torch.randn(600), lambda x: x.add_(0.1 * torch.randn(600)), 4),
        (lambda: torch.randn(600), lambda x: x.mul_(0.5), 4),
        (lambda: torch.randn(600), lambda x: x.neg_(), 0),
        (lambda: torch.randint(0, 50, (600,)), lambda x: x.masked_fill_(torch.rand(600) < 0.15, 0), 4),
        (lambda: torch.randn(600), lambda x: x.copy_(torch.randn(600)), 0),
        (lambda: torch.randint(0, 50, (600,)), lambda x: x.copy_(torch.randint(0, 50, (600,))), 0),
        (lambda: torch.zeros(600), lambda x: x.add_(0), 0),
        (lambda: torch.randn(600), lambda x: x + 0.1, 0),
    ],
)
def test_only_changed_data_are_similar_to_the_data_before(make, change, similar):
    torch.manual_seed(0)
    data, inputs = make(), ChangedInputs()
    for _ in range(5):
        inputs.note_input(data[100:400])
        change(data)
    assert inputs.changed == similar


def test_equal_examples_have_equal_keys_in_any_order_and_batch():
    torch.manual_seed(0)
    x = torch.rand(300, 1, 28, 28)
    keys, others, new = ExampleKeys(), ExampleKeys(), ExampleKeys()
    for part in x.split(64):
        keys.note_batch(part)
    for part in x[torch.randperm(300)].split(100):
        others.note_batch(part)
    new.note_batch(x.flip(3))
    assert len(keys.keys) == 300 and others.share_in(keys) == 1.0 and new.share_in(keys) == 0.0
    short = ExampleKeys()
    short.note_batch(torch.arange(8.0)[:, None])
    assert not short.keys and short.share_in(keys) == 0.0


@pytest.mark.parametrize("kept", [6, 7])
def test_the_graph_of_a_step_and_of_seven_before_are_held(kept):
    weight, graphs, held = torch.ones(3, requires_grad=True), HeldGraphs(), []
    for step in range(30):
        loss = (weight * 2).exp().sum()
        graphs.note_loss(loss, step)
        held = [*held, loss][-kept:]
        del loss
    assert graphs.held == (8 if kept == 7 else 0)


def test_labels_are_related_to_inputs_or_not():
    torch.manual_seed(0)
    x = torch.randn(300, 200)
    y = (x[:, :100].mean(1) > 0).long()
    related, shuffled, few = LabelSample(), LabelSample(), LabelSample()
    for i in range(0, 300, 50):
        related.note_batch(x[i : i + 50], (x[i : i + 50], y[i : i + 50]))
        shuffled.note_batch(x[i : i + 50], (x[i : i + 50], y[torch.randperm(300)[:50]]))
    few.note_batch(x[:150], (x[:150], y[:150]))
    assert related.are_related() is True and shuffled.are_related() is False and few.are_related() is None


def test_the_distance_of_weights_is_relative_to_their_size_at_the_start():
    first, second = nn.Parameter(torch.tensor([3.0, 0.0])), nn.Parameter(torch.tensor([4.0]))
    seen = OptimizerRecord.of(torch.optim.SGD([first, second], 0.1), 0)
    with torch.no_grad():
        first += torch.tensor([0.0, 0.3])
        second += 0.4
    seen.note_movement()
    assert seen.movement == pytest.approx(0.1)
