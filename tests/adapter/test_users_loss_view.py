"""Losses of a user that take more than one tensor of outputs and one of targets."""

from collections import namedtuple
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, TensorDataset

from gnomon.adapter.users_loss import call_user_loss, loss_takes_predictions, rewards_labels
from gnomon.adapter.users_loss_view import adapt_users_loss, is_pair_with_several_targets
from gnomon.core.errors import InputError
from gnomon.examination.recipe import build_recipe
from gnomon.examination.subject import Subject, build_subject
from gnomon.training import train
from gnomon.training.evaluate import loss_reads_classes

N = 12
X = torch.randn(N, 3, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(N) % 2


def subject(network: nn.Module, data: Any, loss: Any) -> Subject:
    return build_subject(network, data, None, seed=0, plan=partial(build_recipe, loss=loss))


def value(found: Subject) -> float:
    """The loss of all training examples, as an examination computes it."""
    few = found.examples(found.train.first(N))
    return found.loss_of(found.module(**few.x), few.y).item()


class Policy(nn.Module):
    """Probabilities of two actions, and the value of a state."""

    def __init__(self) -> None:
        super().__init__()
        self.actor, self.critic = nn.Linear(3, 2), nn.Linear(3, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.actor(x).softmax(1), self.critic(x)


def policy_loss(outputs: tuple[Tensor, Tensor], targets: tuple[Tensor, Tensor]) -> Tensor:
    chosen = outputs[0].gather(1, targets[0][:, None]).log().mean()
    return (outputs[1][:, 0] - targets[1]).square().mean() - chosen


def test_a_loss_of_two_targets_is_computed_of_both() -> None:
    net, targets = Policy(), (LABELS, X.sum(1))
    found = subject(net, (X, targets), policy_loss)
    assert abs(value(found) - policy_loss(net(X), targets).item()) < 1e-6
    assert found.module(**found.train.first(4).x)["logits"].shape == (4, 2)  # predictions are the first output


def test_several_targets_without_a_loss_say_that_a_loss_is_missing() -> None:
    with pytest.raises(InputError, match="train has several targets.*Pass loss="):
        build_subject(Policy(), (X, (LABELS, X.sum(1))), None, seed=0)


def test_batches_with_two_targets_are_joined() -> None:
    batches = [(X[:8], (LABELS[:8], X[:8].sum(1))), (X[8:], (LABELS[8:], X[8:].sum(1)))]
    view, (inputs, y) = adapt_users_loss(Policy(), policy_loss, batches)  # type: ignore[misc]
    assert torch.equal(inputs["x"], X) and torch.equal(inputs["targets"][1], X.sum(1)) and len(y) == N


def test_a_list_of_two_batches_is_not_a_pair_with_two_targets() -> None:
    batches = [(X[:6], LABELS[:6]), (X[6:], LABELS[6:])]
    assert not is_pair_with_several_targets(batches)
    assert adapt_users_loss(nn.Linear(3, 2), contrastive, batches) is None
    assert len(subject(nn.Linear(3, 2), batches, contrastive).train) == N


class Flow(nn.Module):
    """A normal distribution of a number for each input."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Normal:
        return Normal(self.mean(x)[:, 0], 2.0)


def likelihood_loss(distribution: Normal, y: Tensor) -> Tensor:
    return -distribution.log_prob(y).mean()


def test_a_distribution_gives_the_log_probability_of_each_target() -> None:
    net, y = Flow(), X.sum(1)
    found = subject(net, (X, y), likelihood_loss)
    assert abs(value(found) - likelihood_loss(net(X), y).item()) < 1e-6
    rows = found.module(**found.train.first(N).x)["logits"]
    assert torch.allclose(rows[:, 0], net(X).log_prob(y))


class StepsFirst(nn.Module):
    """Scores at five steps, the steps first, as spiking networks return them, and the sum of the scores."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        scores = torch.stack([self.fc(x) * step for step in range(5)])
        return scores, scores.cumsum(0)


def steps_loss(outputs: tuple[Tensor, Tensor], labels: Tensor) -> Tensor:
    return sum(F.cross_entropy(step, labels) for step in outputs[0])  # type: ignore[return-value]


def test_tuples_with_steps_first_are_left_to_the_loss() -> None:
    net = StepsFirst()
    found = subject(net, (X, LABELS), steps_loss)
    assert abs(value(found) - steps_loss(net(X), LABELS).item()) < 1e-5


def test_a_view_of_a_users_loss_keeps_names_and_adds_no_parameters() -> None:
    weighted = nn.Linear(1, 1)

    def loss(outputs: Any, targets: Any) -> Tensor:
        return weighted(policy_loss(outputs, targets).reshape(1)).sum()

    view = subject(Policy(), (X, (LABELS, X.sum(1))), loss).module
    assert [name for name, _ in view.named_parameters()] == [name for name, _ in Policy().named_parameters()]


Auxiliary = namedtuple("Auxiliary", ["logits", "aux"])


class TwoHeads(nn.Module):
    """As GoogLeNet: a record with a second output in training, and one tensor in eval mode."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.second = nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Auxiliary | Tensor:
        return Auxiliary(self.head(x), self.second(x)) if self.training else self.head(x)


def auxiliary_loss(outputs: Auxiliary | Tensor, y: Tensor) -> Tensor:
    if isinstance(outputs, Tensor):
        return F.cross_entropy(outputs, y)
    return F.cross_entropy(outputs.logits, y) + 0.3 * F.cross_entropy(outputs.aux, y)


def test_auxiliary_outputs_reach_the_loss_and_are_trained() -> None:
    net = TwoHeads()
    returned = net(X)
    assert not loss_takes_predictions(returned)
    assert torch.equal(call_user_loss(auxiliary_loss, returned, LABELS), auxiliary_loss(returned, LABELS))
    run = train(net, (X, LABELS), loss=auxiliary_loss, steps=2)
    assert not torch.equal(run.model.second.weight, net.second.weight)


def test_logits_alone_are_passed_as_a_tensor() -> None:
    returned = Auxiliary(X, None)
    assert loss_takes_predictions(returned)
    assert torch.equal(call_user_loss(lambda f, y: f.sum(), returned, LABELS), X.sum())


def contrastive(embeddings: Tensor, labels: Tensor) -> Tensor:
    """Examples of one class are pulled together, others pushed apart."""
    apart = (embeddings[:, None] - embeddings[None]).square().sum(2)
    same = labels[:, None] == labels[None]
    return (apart * same + (1 - apart).clamp_min(0) * ~same).mean()


def test_only_losses_that_raise_the_labels_score_read_classes() -> None:
    f = torch.randn(N, 4, generator=torch.Generator().manual_seed(1))
    smooth = nn.CrossEntropyLoss(label_smoothing=0.1)
    for loss in (F.cross_entropy, F.multi_margin_loss, smooth, lambda f, y: F.nll_loss(f.log_softmax(1), y)):
        assert rewards_labels(loss, f, LABELS)
    assert not rewards_labels(contrastive, f, LABELS)
    assert not rewards_labels(lambda f, y: -F.cross_entropy(f, y), f, LABELS)


def test_no_accuracy_is_computed_of_embeddings() -> None:
    net, data = nn.Linear(3, 4), (X, LABELS)
    assert train(net, data, loss=contrastive, steps=1).accuracy is None
    assert train(net, data, loss=nn.CrossEntropyLoss(label_smoothing=0.1), steps=1).accuracy is not None
    loader = DataLoader(TensorDataset(*data), batch_size=4)
    assert subject(net, loader, contrastive).task.classes == 0
    assert subject(net, data, nn.CrossEntropyLoss(label_smoothing=0.1)).task.classes == 4
    assert not loss_reads_classes(contrastive, subject(net, data, contrastive).train, net)
