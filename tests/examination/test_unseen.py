"""Losses, targets and networks of other people: what is asked of them is understood, and what cannot be said is not."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from gnomon.core.errors import InputError
from gnomon.examination import STEPS
from gnomon.training import SGD, train
from tests.examination.patients import examined

G = torch.Generator().manual_seed(0)
X = torch.randn(240, 5, generator=G)
SIGNS = (X[:, :3] > 0).float()
EARLY = tuple(step for step in STEPS if step.key in {"architecture", "data", "wiring", "columns"})
TRAINED = tuple(
    step for step in STEPS if step.key in {*(s.key for s in EARLY), "training", "outcome", "margins", "examples"}
)


def dense(outputs, inputs=5, first=()):
    def build():
        return nn.Sequential(*(part() for part in first), nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs))

    return build


def look(net, train, *, steps=EARLY, budget=20, **options):
    return examined(net, train, budget=budget, examination_steps=steps, **options)


def next_word(f, y):
    return F.cross_entropy(f.reshape(-1, f.shape[-1]), y.reshape(-1))


def test_many_labels_of_each_example_are_trained_with_the_users_loss():
    result = look(dense(3), (X, SIGNS), steps=TRAINED, loss=nn.BCEWithLogitsLoss(), epochs=20)
    assert result.healthy and not [s.title for s in result.sections if s.state == "failed"]
    assert "BCEWithLogitsLoss" in result.section("training").answer
    assert result.section("margins").state == "skipped"  # logits are no predictions of zeros and ones
    outcome = result.section("outcome")  # compares the targets with the sigmoid of the logits, as the loss does
    assert (
        "of the variance of training targets" in outcome.answer
        and 0 < float(outcome.value("explained-on-train").value) < 1
    )


def test_a_sigmoid_before_many_labels():
    net = nn.Sequential(nn.Linear(5, 3), nn.Sigmoid())
    assert look(net, (X, SIGNS), loss=nn.BCEWithLogitsLoss()).findings[0].kind == "sigmoid-before-loss"
    assert look(net, (X, SIGNS), loss=nn.BCELoss()).healthy


def test_labels_of_minus_one_and_one():
    with pytest.raises(InputError, match="targets range from -1 to 1"):
        look(dense(1), (X, 2 * SIGNS[:, :1] - 1), loss=nn.BCEWithLogitsLoss())


def test_one_hot_rows_are_classes():
    y = (X[:, 0] > 0).long() + (X[:, 1] > 0)
    result = look(dense(3), (X, F.one_hot(y, 3).float()), loss=nn.CrossEntropyLoss())
    assert "3 classes" in result.section("architecture").answer and result.healthy


@pytest.mark.parametrize(
    ("targets", "outputs", "end", "goal"),
    [
        (SIGNS[:, :1], 1, nn.Identity(), "2 classes"),
        (SIGNS[:, 0], 1, nn.Flatten(0), "2 classes"),
        (F.one_hot(SIGNS[:, 0].long() + SIGNS[:, 1].long(), 3).float(), 3, nn.Identity(), "3 classes"),
        (SIGNS[:, :1], 1, nn.Sigmoid(), "one number"),  # a squared loss or BCELoss fits these outputs
        (SIGNS[:, :1] / 2, 1, nn.Identity(), "one number"),
        (torch.ones(len(X), 1), 1, nn.Identity(), "one number"),
        (SIGNS, 3, nn.Identity(), "3 numbers"),  # several labels may be one at the same time
        (F.one_hot(SIGNS[:, 0].long() + SIGNS[:, 1].long(), 3).float(), 3, nn.Softmax(1), "3 numbers"),
    ],
)
def test_labels_of_zero_and_one_are_classes_if_the_outputs_can_be_logits(targets, outputs, end, goal):
    net = nn.Sequential(nn.Linear(5, outputs), end)
    assert goal in look(net, (X, targets)).section("architecture").answer


def test_the_user_can_read_zeros_and_ones_as_numbers():
    result = look(nn.Linear(5, 1), (X, SIGNS[:, :1]), task="numbers")
    assert "one number" in result.section("architecture").answer


def test_kinds_of_pixels():
    x = torch.randn(60, 1, 6, 6, generator=G)
    result = look(nn.Conv2d(1, 3, 3, padding=1), (x, (x[:, 0] > 0).long() * 2), loss=nn.CrossEntropyLoss())
    assert result.healthy and "whole numbers from 0 to 2" in result.section("data").answer


class Words(nn.Module):
    def __init__(self, end=None):
        super().__init__()
        self.embed, self.head, self.end = nn.Embedding(500, 8), nn.Linear(8, 500), end or nn.Identity()

    def forward(self, x):
        return self.end(self.head(self.embed(x)))


def test_next_words_are_no_numbers():
    x = torch.randint(0, 500, (80, 12), generator=G)
    result = look(Words(), (x[:, :-1], x[:, 1:]), loss=next_word)
    assert result.healthy and "target-scale" not in [f.kind for f in result.findings]
    ends = look(Words(nn.Softmax(-1)), (x[:, :-1], x[:, 1:]), loss=next_word)
    assert ends.findings[0].kind == "softmax-before-loss"


@pytest.mark.parametrize("first, kinds", [((), {"feature-scale"}), ((lambda: nn.BatchNorm1d(5),), set())])
def test_scale_that_the_network_takes_care_of(first, kinds):
    x = X * torch.tensor([1.0, 1.0, 1.0, 1.0, 5000.0])
    result = look(dense(2, first=first), (x, (X[:, 0] > 0).long()))
    assert {f.kind for f in result.problems} == kinds


def test_nothing_is_said_of_what_a_diverged_run_left():
    steps = tuple(step for step in STEPS if step.key not in {"limit", "attribution"})
    result = look(dense(1), (X, X[:, 0]), steps=steps, optimizer=SGD(1e6), budget=40)
    assert not result.healthy
    said = {key: result.section(key).answer for key in ("regime", "curvature", "margins", "examples")}
    assert all(answer.startswith(("Skipped: training diverged", "Skipped: needs")) for answer in said.values()), said


def test_a_section_that_failed_is_named_in_the_verdict():
    class Broken(nn.Linear):
        def forward(self, x):
            if len(x) > 8:
                raise RuntimeError("no more than eight")
            return super().forward(x)

    result = look(Broken(5, 1), (X, X.sum(1)))
    failed = [s.title for s in result.sections if s.state == "failed"]
    assert failed and all(title in result.verdict for title in failed)


def test_a_negative_loss_that_falls_has_not_diverged():
    """As the likelihoods of densities make: -9 to -10 is a fall."""
    run = train(
        dense(1)(), (X, X[:, :1]), loss=lambda f, y: F.mse_loss(f, y) - 10.0, optimizer=SGD(0.1), steps=120, batch=32
    )
    assert float(run.loss[-1]) < float(run.loss[0]) < 0 and not run.diverges
