"""Faults along sequences and on graphs are found by the examination, and their healthy twins are not accused."""

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.examination import examine
from gnomon.examination.steps import STEPS
from gnomon.models import GCNLayer, gcn_matrix
from gnomon.sequences import lag_of_task, predicts_next
from gnomon.training import Adam

KINDS = {"sees-the-future", "dead-head", "tokens-alike", "memory-too-short", "attention-saturated", "oversmoothed"}
BEFORE = [s for s in STEPS if s.key in ("architecture", "sequences", "graphs")]


def kinds(net, data):
    found = examine(net, data, examination_steps=BEFORE, fit=False, budget=20)
    return {f.kind for section in found.sections for f in section.findings} & KINDS


class Encoder(nn.Module):
    def __init__(self, skip=True, depth=6):
        super().__init__()
        self.e, self.skip = nn.Linear(3, 16), skip
        self.layers = nn.ModuleList(nn.MultiheadAttention(16, 4, batch_first=True) for _ in range(depth))
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        h = self.e(x)
        for layer in self.layers:
            h = self.skip * h + layer(h, h, h, need_weights=False)[0]
        return self.head(h.mean(1))


def sequences():
    x = torch.randn(60, 8, 3, generator=torch.Generator().manual_seed(0))
    return x, (x[:, :, 0].mean(1) > 0).long()


def dead_head():
    net = Encoder(depth=2)
    net.layers[1].out_proj.weight.data[:, :4] = 0.0
    return net


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.head = kind(2, 16, batch_first=True), nn.Linear(16, 2)
        if kind is nn.LSTM:
            self.cell.bias_ih_l0.data[16:32] = 4.0

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


def recall(lag):
    x = torch.randn(200, lag + 1, 2, generator=torch.Generator().manual_seed(0))
    return x, (x[:, 0, 0] > 0).long()


class Forecaster(nn.Module):
    def __init__(self, ahead):
        super().__init__()
        self.conv, self.out, self.ahead = nn.Conv1d(1, 8, 4), nn.Linear(8, 1), ahead

    def forward(self, x):
        past = nn.functional.pad(x.transpose(1, 2), (3 - self.ahead, self.ahead))
        return self.out(torch.tanh(self.conv(past)).transpose(1, 2)).flatten(1)


def series():
    x = torch.randn(50, 13, 1, generator=torch.Generator().manual_seed(0))
    return x[:, :-1], x[:, 1:].flatten(1)


class Convolutions(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList(GCNLayer(3 if i == 0 else 16, 16) for i in range(depth))
        self.head = nn.Linear(16, 2)

    def forward(self, nodes, matrix):
        for layer in self.layers:
            nodes = torch.relu(layer(nodes, matrix))
        return self.head(nodes.mean(1))


def graphs():
    ring = gcn_matrix(torch.eye(10).roll(1, 0) + torch.eye(10).roll(-1, 0))
    x = torch.randn(30, 10, 3, generator=torch.Generator().manual_seed(0))
    return (x, ring.expand(30, 10, 10).clone()), (x[:, :, 0].mean(1) > 0).long()


CASES = {
    "tokens-alike": (lambda: Encoder(skip=False), lambda: Encoder(), sequences, sequences),
    "dead-head": (dead_head, lambda: Encoder(depth=2), sequences, sequences),
    "memory-too-short": (lambda: Recurrent(nn.RNN), lambda: Recurrent(nn.LSTM), lambda: recall(60), lambda: recall(60)),
    "sees-the-future": (lambda: Forecaster(1), lambda: Forecaster(0), series, series),
    "oversmoothed": (lambda: Convolutions(30), lambda: Convolutions(2), graphs, graphs),
}


@pytest.mark.parametrize("kind", CASES)
def test_a_planted_fault_is_found_and_its_healthy_twin_is_not_accused(kind):
    torch.manual_seed(0)
    faulty, healthy, data, clean = CASES[kind]
    assert kinds(faulty(), data()) == {kind}
    assert not kinds(healthy(), clean())


def test_nodes_that_are_alike_are_no_fault_where_the_network_learned():
    """Degrees tell these graphs apart, and after two layers nodes are alike: it answers for graphs, not for nodes."""
    g = torch.Generator().manual_seed(0)
    y = torch.arange(120) % 2
    dense = (torch.rand(120, 10, 10, generator=g) < torch.tensor([0.2, 0.8])[y][:, None, None]).float().triu(1)
    matrix = torch.stack([gcn_matrix(a + a.mT) for a in dense])
    x = torch.cat([(dense + dense.mT).sum(2, keepdim=True) / 5 - 1, torch.ones(120, 10, 2)], 2)
    steps = [s for s in STEPS if s.key in ("architecture", "training", "graphs")]
    plan = {"optimizer": Adam(0.01), "epochs": 14, "batch": 40, "budget": 30, "clock": FakeClock(1e-3)}
    levels = []
    for labels in (y, y[torch.randperm(120, generator=g)]):  # and with labels that cannot be learned
        torch.manual_seed(1)
        found = examine(Convolutions(5), ((x, matrix), labels), examination_steps=steps, fit=True, **plan)
        levels.append([f.level.name for f in found.section("graphs").findings if f.kind == "oversmoothed"])
    assert levels == [["WARNING"], ["PROBLEM"]]


def test_other_networks_have_no_such_section():
    x = torch.randn(40, 3)
    found = examine(nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), examination_steps=BEFORE, fit=False, budget=10)
    assert {s.status for s in found.sections if s.key in ("sequences", "graphs")} == {"skipped"}


def test_lags_are_found_where_they_are_and_not_in_noise():
    """At level 1e-4 noise is given no lag in 200 draws, but with probability 0.02."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(200, 20, 2, generator=generator)
    assert lag_of_task(x, (x[:, 4, 1] > 0).long()) == 15 and lag_of_task(x, x[:, 19, :1] + 0.1 * x[:, 3, 1:]) == 0
    assert lag_of_task(x, x[:, 4, 0, None] + x[:, 12, 1, None]) == 7  # the later of two places that matter equally
    noise = [lag_of_task(torch.randn(60, 10, 1, generator=generator), torch.randint(2, (60,), generator=generator)) for _ in range(200)]  # fmt: skip # noqa: E501
    assert noise.count(None) == 200
    assert lag_of_task(torch.zeros(9, 4, 2), torch.arange(9) % 2) is None and lag_of_task(x.long(), x[:, 0, 0]) is None
    assert not predicts_next(torch.ones(3, 5), torch.ones(3, 5)) and not predicts_next((x, x), x)


class _Words(nn.Module):
    """A recurrent language model, with the classes on axis 1 as cross-entropy wants them."""

    def __init__(self, both):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(7, 8), nn.GRU(8, 8, batch_first=True, bidirectional=both)
        self.head = nn.Linear(16 if both else 8, 7)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0]).transpose(1, 2)


@pytest.mark.parametrize("both", [False, True])
def test_classes_on_the_second_axis_are_checked_for_the_future(both):
    torch.manual_seed(0)
    tokens = torch.randint(7, (40, 12))
    x, y = tokens[:, :-1], tokens[:, 1:]
    found = examine(_Words(both), (x, y), loss=nn.CrossEntropyLoss(), examination_steps=BEFORE, fit=False, budget=20)
    assert found.section("sequences").state != "failed"
    assert ("sees-the-future" in [f.kind for f in found.findings]) is both


class HuggingFaceStyle(nn.Module):
    """A language model with named arguments that shifts the labels itself, and attention written with torch's function."""

    def __init__(self, causal, dead=None):
        super().__init__()
        torch.manual_seed(0)
        self.causal, self.dead = causal, dead
        self.embed, self.places = nn.Embedding(11, 16), nn.Embedding(8, 16)
        self.qkv, self.out, self.head = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(16, 11)
        if dead is not None:
            self.out.weight.data[:, 4 * dead : 4 * dead + 4] = 0.0

    def forward(self, input_ids, attention_mask=None, labels=None):
        h = self.embed(input_ids) + self.places(torch.arange(input_ids.shape[1]))
        q, k, v = (t.unflatten(-1, (4, 4)).transpose(1, 2) for t in self.qkv(h).chunk(3, -1))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        logits = self.head(h + self.out(mixed.transpose(1, 2).flatten(2)))
        if labels is None:
            return {"logits": logits}
        loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return {"logits": logits, "loss": loss}


@pytest.mark.parametrize(
    ("causal", "dead", "found"),
    [(True, None, set()), (False, None, {"sees-the-future"}), (True, 2, {"dead-head"})],
)
def test_attention_of_other_libraries_and_labels_that_the_model_shifts(causal, dead, found):
    tokens = torch.randint(11, (60, 8), generator=torch.Generator().manual_seed(1))
    data = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens.clone()}
    assert kinds(HuggingFaceStyle(causal, dead), data) == found
