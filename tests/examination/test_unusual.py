"""Data and networks at the edges: nothing fails, and what is wrong is said first."""

import pytest
import torch
from torch import nn

from tests.examination.patients import examined

G = torch.Generator().manual_seed(0)
X = torch.randn(80, 5, generator=G)
Y = (X[:, 0] > 0).long()
MANY = torch.randn(300, 5, generator=G)


def perceptron(outputs=2, dtype=torch.float32):
    return lambda: nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, outputs)).to(dtype)


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(20, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.table(x).mean(1))


def ids():
    x = torch.randint(20, (60, 7), generator=G)
    return x, (x[:, 0] > 9).long()


SOUND = {
    "one logit for two classes": (perceptron(1), (X, Y)),
    "two targets": (perceptron(2), (X, X[:, :2] ** 2)),
    "float64": (perceptron(2, torch.float64), (X.double(), Y)),
    "arrays": (perceptron(), (X.numpy(), Y.numpy())),
    "three examples": (perceptron(), (X[:3], Y[:3])),
    "one example": (perceptron(), (X[:1], Y[:1])),
    "signs as truth values": (perceptron(), (X, X[:, 0] > 0)),
    "classes without examples": (perceptron(50), (X, Y)),
}
SLOW = ("float64", "one example", "signs as truth values", "classes without examples")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.full if n in SLOW else ()) for n in SOUND])
def test_nothing_fails_and_nothing_is_wrong(name):
    make, train = SOUND[name]
    torch.manual_seed(0)
    result = examined(make, train, budget=10, epochs=2)
    assert not {s.key: s.answer for s in result.sections if s.status == "failed"}
    assert not result.problems, str(result)


def frozen():
    return perceptron()().requires_grad_(False)


UNSOUND = {
    "one class": (perceptron(), (X, torch.zeros(80, dtype=torch.long)), "all training labels are the same"),
    "equal examples": (perceptron(), (torch.ones(80, 5), Y), "all training inputs are the same"),
    "nothing to train": (frozen, (X, Y), "no parameter requires a gradient"),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_what_is_wrong_is_said_first(name):
    make, train, words = UNSOUND[name]
    torch.manual_seed(0)
    result = examined(make, train, budget=10, epochs=2)
    assert not {s.key: s.answer for s in result.sections if s.status == "failed"}
    assert words in result.findings[0].message.lower()


@pytest.mark.full
def test_words_are_no_trouble():
    result = examined(Tokens, ids(), budget=1)
    assert not {s.key: s.answer for s in result.sections if s.status == "failed"}


def test_few_examples_do_not_tell_whether_labels_are_related():
    result = examined(perceptron(), (X, torch.randint(2, (80,), generator=G)), budget=10, epochs=1)
    assert not result.problems and result.section("kernel").status == "unsure"
    assert "not enough to tell" in result.section("kernel").answer


def test_labels_at_random_are_said_first():
    labels = torch.randint(2, (300,), generator=torch.Generator().manual_seed(1))
    result = examined(perceptron(), (MANY, labels), budget=30, fit=False)
    assert result.findings[0].kind == "labels-unrelated" and result.findings[0].false_alarm == 0.01
