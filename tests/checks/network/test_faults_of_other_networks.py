"""Faults that other networks, data and losses showed: each is found where planted, and a healthy control is not accused."""

import random

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from gnomon.checks.network.applied import implicit_activation_of_loss, is_minimal_at_targets
from gnomon.checks.network.batch_statistics import copy_with_batch_norm_statistics
from gnomon.checks.network.chance import randomness_findings
from gnomon.checks.network.first_layer_input import input_of_first_layer
from gnomon.checks.network.head import columns_before_concatenation, head_findings
from gnomon.checks.network.ignored import ignored_input_findings
from gnomon.checks.network.modes import dropout_noise_findings
from gnomon.checks.network.reach import untrained_parameter_findings
from gnomon.checks.network.registered import unregistered_layer_findings
from gnomon.checks.run.outcome import AccuracyOutcome, outcome_findings
from gnomon.checks.run.outcome_numbers import regression_outcome_findings

G = torch.Generator().manual_seed(0)
X = torch.randn(40, 6, generator=G)
BITS = torch.randint(0, 2, (40, 3), generator=G).float()


def kinds(findings):
    return [finding.kind for finding in findings]


def next_word(f, y):
    return F.cross_entropy(f.reshape(-1, f.shape[-1]), y.reshape(-1))


def dice(p, y):
    return 1 - 2 * (p * y).sum() / (p.sum() + y.sum())


@pytest.mark.parametrize(
    "loss, f, y, wanted",
    [
        (next_word, torch.randn(4, 7, 5, generator=G), torch.zeros(4, 7).long(), "softmax"),
        (F.cross_entropy, torch.randn(4, 5, 7, generator=G), torch.zeros(4, 7).long(), "softmax"),
        (nn.NLLLoss(), torch.randn(4, 5, generator=G), torch.zeros(4).long(), ""),
        (lambda f, y: F.binary_cross_entropy_with_logits(f, y) + dice(f.sigmoid(), y), BITS / 2, BITS, "sigmoid"),
        (lambda f, y: F.binary_cross_entropy_with_logits(f, y), BITS / 2, 0.3 + 0.5 * BITS, "sigmoid"),  # gray pixels
        (lambda f, y: (f - y).square().mean(), BITS / 2, 0.3 + 0.5 * BITS, ""),
        (dice, BITS / 2 + 0.1, BITS, ""),  # of probabilities, as it should be
        (nn.BCELoss(), BITS / 2 + 0.1, BITS, ""),
        (nn.MSELoss(), BITS / 2, BITS, ""),
        (nn.L1Loss(), BITS / 2, BITS, ""),
    ],
)
def test_what_a_loss_applies_is_seen_by_trying(loss, f, y, wanted):
    assert implicit_activation_of_loss(loss, f, y) == wanted


def test_of_outputs_side_by_side_the_first_are_looked_at():
    f = nn.Linear(6, 3)(X)
    assert columns_before_concatenation(torch.cat([f.sigmoid(), f], 1), 3).grad_fn.name().startswith("Sigmoid")
    for other in (f.sigmoid(), torch.cat([f, f.sigmoid()], 1), torch.cat([f.sigmoid(), f], 1)[:, 2:]):
        assert columns_before_concatenation(other, 3) is None  # nothing beside it, no function, or another part


def test_which_losses_ask_for_the_targets():
    y = torch.rand(10, 2, generator=G)
    assert all(
        is_minimal_at_targets(loss, y) for loss in (nn.MSELoss(), nn.L1Loss(), nn.HuberLoss(), nn.SmoothL1Loss())
    )
    others = (nn.BCEWithLogitsLoss(), nn.PoissonNLLLoss(), next_word)
    assert not any(is_minimal_at_targets(loss, y) for loss in others)


def test_softmax_along_the_last_of_three_axes():
    f = torch.randn(4, 7, 5, generator=G).requires_grad_().softmax(-1)
    (found,) = head_findings(f, torch.zeros(4, 7).long(), "cross-entropy")
    assert found.kind == "softmax-before-loss" and found.evidence[0].value == pytest.approx(0.9048, abs=1e-3)


def test_nll_takes_logarithms():
    f, y, loss = torch.randn(8, 3, generator=G), torch.zeros(8).long(), "negative log-likelihood"
    assert head_findings(f.log_softmax(1), y, loss) == ()
    said = [head_findings(outputs, y, loss)[0].message for outputs in (f.softmax(1), f)]
    assert "returns probabilities" in said[0] and "returns other numbers" in said[1]


class Blocks(nn.Module):
    def __init__(self, kind=list, asked=False):
        super().__init__()
        self.first, self.blocks, self.asked = nn.Linear(6, 6), kind([nn.Linear(6, 6), nn.Linear(6, 6)]), asked

    def forward(self, x):
        h = self.first(x)
        for block in self.blocks:
            h = h + (block(h).detach() if self.asked else block(h))
        return h


def test_layers_in_a_plain_list():
    def found(net):
        return unregistered_layer_findings(net, lambda: net(X).square().mean())

    (one,) = found(Blocks())
    assert (one.kind, one.where) == ("layers-not-registered", "blocks") and "84 parameters" in one.message
    assert "self.blocks = nn.ModuleList" in one.fix
    assert found(Blocks(nn.ModuleList)) == () and found(Blocks(asked=True)) == ()  # a teacher that is only asked


def frozen(*layers):
    torch.manual_seed(0)
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(4, 2))
    net[0].requires_grad_(False)
    return net


def test_frozen_layers_are_fresh_by_more_than_one_law():
    drawn = nn.Conv2d(3, 8, 3)
    nn.init.kaiming_normal_(drawn.weight)
    used = nn.BatchNorm2d(8)
    used(torch.randn(4, 8, 2, 2))
    rnn = nn.GRU(8, 32)
    trained = nn.GRU(8, 32)
    with torch.no_grad():
        for p in trained.parameters():
            p += 0.02 * torch.randn(p.shape, generator=G)
    xavier = nn.Linear(40, 30)
    nn.init.xavier_uniform_(xavier.weight)
    nets = (frozen(drawn, nn.BatchNorm2d(8)), frozen(rnn), frozen(xavier), frozen(drawn, used), frozen(trained))
    assert [kinds(untrained_parameter_findings(net, {"2.weight"}))[:1] == ["frozen-at-random"] for net in nets] == [
        True
    ] * 3 + [False] * 2


class Stateful(nn.Module):
    def __init__(self, wrong):
        super().__init__()
        self.layer, self.wrong, self.calls = nn.Linear(6, 2), wrong, 0

    def forward(self, x):
        self.calls += 1
        factor = {"counter": 1 + 0.1 * self.calls, "random": random.random(), "": 1.0}[self.wrong]
        return self.layer(x) * factor


def test_state_that_goes_on_between_passes():
    assert [kinds(randomness_findings(Stateful(w), X)) for w in ("counter", "random", "")] == [
        ["not-deterministic"]
    ] * 2 + [[]]


class Asked(nn.Module):
    """A constant token that learns of the others by attention alone, with its norm behind."""

    def __init__(self, rate):
        super().__init__()
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, rate, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.encoder(torch.cat([torch.ones_like(x[:, :1]), x], 1))[:, 0])


def test_noise_is_told_behind_a_norm():
    x = torch.randn(48, 6, 16, generator=G)
    assert (
        kinds(dropout_noise_findings(Asked(0.9), x)) == ["modes-disagree"]
        and dropout_noise_findings(Asked(0.1), x) == ()
    )


class Branch(nn.Module):
    """A stride beside a branch whose scale begins at zero; ``cut`` takes the branch away for good."""

    def __init__(self, cut=False):
        super().__init__()
        self.way, self.branch = nn.Conv2d(1, 4, 1, 4), nn.Conv2d(1, 4, 4, 4)
        self.scale, self.cut = nn.Parameter(torch.zeros(4, 1, 1)), cut

    def forward(self, x):
        h = self.way(x)
        return (h if self.cut else h + self.scale * self.branch(x)).mean((2, 3))


def test_branches_that_begin_at_zero_are_no_fault():
    x = torch.randn(20, 1, 8, 8, generator=G)
    assert ignored_input_findings(Branch(), x) == () and kinds(ignored_input_findings(Branch(cut=True), x)) == [
        "inputs-ignored"
    ]


def test_a_signal_that_is_rounded_away_is_not_ignored():
    net = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 2))
    with torch.no_grad():
        net[0].weight.mul_(1e-6), net[1].weight.mul_(1e-6)
    assert kinds(ignored_input_findings(net, X)) == ["vanishing-activations"]


def test_what_the_first_weights_are_given():
    x = 1000 * X + 5
    inside = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 2))
    assert float(input_of_first_layer(inside, x).std()) == pytest.approx(1, abs=0.1)
    assert torch.equal(input_of_first_layer(nn.Sequential(nn.Linear(6, 2), nn.BatchNorm1d(2)), x), x)


def test_nothing_learned_and_nothing_to_learn():
    errors = torch.ones(400) + 0.01 * torch.randn(400, generator=G)
    (found,) = regression_outcome_findings(errors, None, simple=0.004)
    assert found.kind == "not-learning" and "belongs to its input" in found.fix
    assert regression_outcome_findings(errors - 0.5, None, simple=0.004) == ()
    (found,) = regression_outcome_findings(errors - 0.9, errors + 0.4, simple=-0.01)  # learned by heart
    assert (
        found.kind == "labels-unrelated" and regression_outcome_findings(errors - 0.9, errors - 0.8, simple=-0.01) == ()
    )
    (found,) = outcome_findings(AccuracyOutcome(0.1, 0.1, 1000, 500, guess=0.1, simple=0.11))
    assert (
        "belongs to its input" in found.fix and outcome_findings(AccuracyOutcome(0.4, 0.4, 1000, 500, 0.1, 0.11)) == ()
    )


def test_batch_norm_before_its_first_batch_hides_no_input():
    torch.manual_seed(0)
    parts = [part for _ in range(14) for part in (nn.Linear(6, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU())]
    net, x = nn.Sequential(*parts, nn.Linear(6, 2)).eval(), X
    for part in net[:-1:3]:
        nn.init.normal_(part.weight, std=0.05)
    assert kinds(ignored_input_findings(net, x)) == ["vanishing-activations"]  # in eval mode, as it stands
    ready = copy_with_batch_norm_statistics(net, x)
    assert ignored_input_findings(ready, x) == () and not ready.training and int(net[1].num_batches_tracked) == 0
    cut = nn.Sequential(nn.Threshold(1e9, 0.0), *net).eval()  # what is cut off stays so
    assert kinds(ignored_input_findings(copy_with_batch_norm_statistics(cut, x), x)) == ["inputs-ignored"]
