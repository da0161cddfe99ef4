"""Designs of published networks that look like faults, each next to the fault that it resembles."""

import pytest
import torch
from torch import nn

from gnomon.checks.data.suspects import suspect_labels
from gnomon.checks.network.chance import randomness_findings
from gnomon.checks.network.layer import BackwardStatistics, ForwardStatistics, LayerSignal
from gnomon.checks.network.reach import untrained_parameter_findings
from gnomon.checks.network.signal import signal_propagation
from gnomon.checks.network.signal_findings import signal_findings
from gnomon.examination.good_results import results_are_good
from gnomon.training import train


def kinds(findings):
    return [(finding.kind, finding.level.name) for finding in findings]


class TokenQuery(nn.Module):
    """A learned token asks the features of an example, as the last block of FT-Transformer."""

    def __init__(self, faulty=False):
        super().__init__()
        self.token, self.faulty = nn.Parameter(torch.randn(1, 8)), faulty
        self.keys, self.queries, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        q = self.queries(self.token.expand(len(x), 8))
        return self.out(q if self.faulty else q * self.keys(x))


def test_a_layer_fed_by_a_learned_token_is_no_problem_while_other_paths_carry_the_inputs():
    torch.manual_seed(0)
    x = torch.randn(64, 8)
    assert not kinds(signal_propagation(TokenQuery(), x).findings)
    assert ("dead-units", "PROBLEM") in kinds(signal_propagation(TokenQuery(faulty=True), x).findings)


class TwoBranches(nn.Module):
    """A branch that starts at zero next to one that does not, as the symbolic part of a KAN."""

    def __init__(self, faulty=False):
        super().__init__()
        self.symbolic, self.splines, self.out = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 2)
        self.faulty = faulty
        for p in self.symbolic.parameters():
            nn.init.zeros_(p)

    def forward(self, x):
        h = self.symbolic(x)
        return self.out(torch.tanh(h if self.faulty else h + self.splines(x)))


def test_a_branch_that_starts_at_zero_is_no_problem_while_another_branch_carries_the_signal():
    torch.manual_seed(0)
    x = torch.randn(64, 4)
    assert "zero-weights" not in [kind for kind, _ in kinds(signal_propagation(TwoBranches(), x).findings)]
    assert ("zero-weights", "PROBLEM") in kinds(signal_propagation(TwoBranches(faulty=True), x).findings)


@pytest.mark.parametrize("width, level", [(400, "WARNING"), (20, "PROBLEM")])
def test_unused_parameters_below_one_percent_are_a_warning(width, level):
    net = nn.ModuleDict({"used": nn.Linear(10, width), "forgotten": nn.Linear(5, 5)})
    found = untrained_parameter_findings(net, {"used.weight", "used.bias"})
    assert kinds(found) == [("unused-parameters", level)]


class Masked(nn.Module):
    """Hides half of the inputs, drawn anew in each pass, as a masked autoencoder; or drops units in eval mode."""

    def __init__(self, faulty=False):
        super().__init__()
        self.fc, self.faulty, self.dropout = nn.Linear(8, 8), faulty, nn.Dropout()

    def forward(self, x):
        x = self.dropout(x)  # does nothing in eval mode
        noise = torch.rand(x.shape)
        hidden = (noise < 0.5) if self.faulty else noise.argsort(1).argsort(1) < 4
        return self.fc(x.masked_fill(hidden, 0.0))


def test_drawing_which_parts_are_hidden_is_a_design_and_dropping_units_in_eval_mode_is_not():
    x = torch.randn(8, 8)
    assert randomness_findings(Masked(), x) == ()
    assert kinds(randomness_findings(Masked(faulty=True), x)) == [("random-in-eval", "PROBLEM")]


def test_neighbors_of_tokens_prove_nothing_about_labels():
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(1200) % 2
    x = torch.randn(1200, 4, generator=generator) + 6 * y[:, None]
    y[:120] = 1 - y[:120]
    assert [f.kind for f in suspect_labels((x, y)).findings] == ["noisy-labels"]
    assert suspect_labels(((10 * x).round().long(), y)).findings == ()


def test_results_are_good_if_most_errors_of_a_guess_are_avoided_on_test_examples():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 3, generator=generator)
    y, noise = (x[:, 0] > 0).long(), torch.randint(0, 2, (400,), generator=generator)
    net = nn.Linear(3, 2)
    for labels, good in ((y, True), (noise, False)):
        run = train(net, (x[:300], labels[:300]), test=(x[300:], labels[300:]), steps=60,
                    optimizer=lambda p: torch.optim.Adam(p, lr=0.1))  # fmt: skip
        assert results_are_good(run, labels[:300]) == good
    assert not results_are_good(run, torch.zeros(300))


@pytest.mark.parametrize(("kind", "faulty"), [("WhisperPositionalEmbedding", False), ("Linear", True)])
def test_a_positional_embedding_of_an_own_class_is_not_a_layer_of_the_chain(kind, faulty):
    """Its relative gradient is small if its weights are large; those of the layers around it are not."""

    def layer(name, kind, update):
        return LayerSignal(
            name, kind, "nonzero", 8, 8, ForwardStatistics(1.0, 0.0, 0.0), BackwardStatistics(1.0, update)
        )

    chain = [layer(str(i), "Linear", 1.0) for i in range(3)]
    first = [layer("positions", kind, 1e-6), layer("first", "Linear", 1e-6 if faulty else 1.0)]
    found = signal_findings((*first, *chain))
    assert [finding.kind for finding in found] == (["vanishing-gradients"] if faulty else [])


@pytest.mark.parametrize("last_dead", [0.0, 1.0])
def test_learned_queries_before_a_small_head_are_no_problem_while_the_outputs_vary(last_dead):
    """The first layer of DETR's decoder sees learned queries alone; its head for boxes starts with small outputs."""

    def layer(name, square, dead):
        return LayerSignal(
            name, "Linear", "nonzero", 8, 8, ForwardStatistics(square, 0.5, dead), BackwardStatistics(1.0, 1.0)
        )

    layers = (
        layer("image", 1.0, 0.0),
        layer("queries", 0.0, 1.0),
        layer("classes", 0.04, 0.0),
        layer("boxes", 5e-6, last_dead),
    )
    found = [finding.where for finding in signal_findings(layers) if finding.kind == "dead-units"]
    assert found == (["queries"] if last_dead else [])
