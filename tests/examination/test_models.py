"""Real models of other people's kinds run unchanged; what theory cannot read is measured."""

import pytest
import torch
from torch import nn

from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.training import TrainingRun
from tests.examination.patients import examined
from tests.oracles import tangent_jacobian as oracle
from tests.shares import in_full

G = torch.Generator().manual_seed(0)


class Block(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True),
            nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b),
        )  # fmt: skip
        self.skip = (
            nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))
            if stride > 1 or a != b
            else nn.Identity()
        )

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


class ResNet18(nn.Module):
    """The usual one, in plain torch; ``width`` is 64 in the paper."""

    def __init__(self, width=16, classes=10):
        super().__init__()
        sizes = [
            (width, 1),
            (width, 1),
            (2 * width, 2),
            (2 * width, 1),
            (4 * width, 2),
            (4 * width, 1),
            (8 * width, 2),
            (8 * width, 1),
        ]
        blocks, last = [], width
        for size, stride in sizes:
            blocks.append(Block(last, size, stride))
            last = size
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)
        )
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(last, classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(4, 12, batch_first=True), nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Graph(nn.Module):
    """Graph convolutions on dense adjacency matrices, given as a second argument."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = nn.Linear(5, 16), nn.Linear(16, 16), nn.Linear(16, 2)

    def forward(self, nodes, adjacency):
        h = torch.relu(self.first(adjacency @ nodes))
        return self.head(torch.relu(self.second(adjacency @ h)).mean(1))


class Twofold(nn.Module):
    """Returns a tuple, outputs first."""

    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(4, 16), nn.Linear(16, 3)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.head(h), h


def labels(n, classes):
    return torch.randint(classes, (n,), generator=G)


def graphs(n=40):
    a = (torch.rand(n, 6, 6, generator=G) > 0.5).float()
    a = ((a + a.mT) / 2 + torch.eye(6)) / 4
    return (torch.randn(n, 6, 5, generator=G), a)


CASES = {
    "resnet": (lambda: ResNet18(4), (torch.randn(40, 3, 16, 16, generator=G), labels(40, 10)), "which is not Gaussian"),
    "lstm": (Recurrent, (torch.randn(40, 7, 4, generator=G), labels(40, 3)), "a state that is a product over time"),
    "graph": (Graph, (graphs(), labels(40, 2)), "takes 2 input tensors, not one"),
}
"""The network, its data, and why theory cannot read it."""


def ran(result):
    """Nothing failed, and the essential steps were answered."""
    failed = {s.key: s.answer for s in result.sections if s.status == "failed"}
    assert not failed
    answered = {s.key for s in result.sections if s.status != "skipped"}
    assert {"architecture", "signal", "kernel", "stability", "training", "regime", "curvature", "margins"} <= answered
    return result


@pytest.mark.parametrize("name", in_full(CASES, except_for=[name for name in CASES if name != "resnet"]))
@pytest.mark.full
def test_models_of_other_kinds(name):
    make, train, reason = CASES[name]
    torch.manual_seed(0)
    result = ran(examined(make, train, budget=30, epochs=2, batch=8))
    limit = result.section("limit")
    assert limit.status == "skipped" and reason in limit.answer
    torch.manual_seed(0)
    net = make().eval()  # as it was before training
    assert result.section("architecture").value("parameters").value == sum(p.numel() for p in net.parameters())
    product, run = result.products[ProbeKernel], result.products[TrainingRun]
    x = product.examples.x
    few = tuple(t[:3] for t in x) if isinstance(x, tuple) else x[:3]
    wanted = oracle.kernel(net, few).double()
    kernel = product.kernel
    assert (kernel[:3, :3] - wanted).abs().max() < 1e-4 * wanted.max()  # thousands of float32 roundings
    largest = result.section("kernel").value("largest-eigenvalue").value
    assert largest == pytest.approx(float(torch.linalg.eigvalsh(kernel)[-1]), rel=1e-9)
    with torch.no_grad():
        start = nn.functional.cross_entropy(oracle.call(net, train[0]), train[1])
    assert float(run.loss[0]) == pytest.approx(float(start), rel=1e-5)


def transformers():
    return pytest.importorskip("transformers", reason="transformers is not installed")


@pytest.mark.full
def test_a_tiny_bert():
    hf = transformers()
    config = hf.BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                           intermediate_size=64, max_position_embeddings=16, num_labels=3)  # fmt: skip
    x = {"input_ids": torch.randint(50, (32, 8), generator=G), "attention_mask": torch.ones(32, 8, dtype=torch.long)}
    result = ran(examined(lambda: hf.BertForSequenceClassification(config), (x, labels(32, 3)), budget=30))
    assert "is not known" in result.section("architecture").answer


@pytest.mark.full
def test_a_tiny_gpt():
    hf = transformers()
    config = hf.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=2, n_positions=16, num_labels=3, pad_token_id=0)
    x = {"input_ids": torch.randint(1, 50, (32, 8), generator=G)}
    ran(examined(lambda: hf.GPT2ForSequenceClassification(config), (x, labels(32, 3)), budget=30))
