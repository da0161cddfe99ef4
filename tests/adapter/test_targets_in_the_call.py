"""Models that take their targets in the call: an encoder with a decoder, several labels, answers marked by places."""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gnomon.adapter.model_loss import adapt_model_loss, computes_binary_loss
from gnomon.checks.network.ignored import ignored_input_findings
from gnomon.core.errors import InputError
from gnomon.core.inputs.source import data_source
from gnomon.core.machine.clock import FakeClock
from gnomon.examination import examine
from gnomon.examination.recipe import build_recipe
from gnomon.examination.steps import STEPS
from gnomon.examination.subject import build_subject

N, T, K = 8, 5, 9


class Translator(nn.Module):
    """As BART: the decoder reads the labels one position late, and the inputs if there are no labels."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(K, 8), nn.Linear(16, K)

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        seen = F.pad((input_ids if labels is None else labels)[:, :-1], (1, 0))
        summary = self.embed(input_ids).mean(1, keepdim=True).expand(-1, T, -1)
        logits = self.head(torch.cat((self.embed(seen), summary), 2))
        return {"logits": logits} | ({} if labels is None else {"loss": F.cross_entropy(logits.mT, labels)})


def test_a_decoder_that_reads_the_labels_gets_them():
    torch.manual_seed(0)
    net = Translator().eval()
    data = {"input_ids": torch.randint(K, (N, T)), "labels": torch.randint(K, (N, T))}
    seen = build_subject(net, data, None, seed=0)
    few = seen.examples(seen.train.first(N))
    own = seen.loss_of(seen.module(**few.x), few.y).item()
    assert own == pytest.approx(net(**data)["loss"].item(), rel=1e-6)
    assert own != pytest.approx(F.cross_entropy(net(data["input_ids"])["logits"].mT, data["labels"]).item(), rel=1e-3)


class Marker(nn.Module):
    """Several labels for each text, with the loss that the class chooses: binary cross-entropy, or squared error."""

    def __init__(self, loss=F.binary_cross_entropy_with_logits) -> None:
        super().__init__()
        self.head, self.loss = nn.Linear(3, 4), loss

    def forward(self, features: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits = self.head(features)
        return {"logits": logits} | ({} if labels is None else {"loss": self.loss(logits, labels)})


def marked(loss=F.binary_cross_entropy_with_logits) -> tuple[nn.Module, dict[str, Tensor]]:
    torch.manual_seed(0)
    return Marker(loss), {"features": torch.randn(N, 3), "labels": torch.randint(2, (N, 4)).float()}


def test_zeros_and_ones_with_a_binary_loss_are_several_labels_and_with_a_squared_loss_numbers():
    net, data = marked()
    seen = build_subject(net, data, None, seed=0)
    few = seen.examples(seen.train.first(N))
    assert seen.task.reading.task == "labels" and "4 answers, yes or no" in seen.task.reading.sentence
    assert seen.loss_of(net(few.x["features"]), few.y).item() == pytest.approx(net(**data)["loss"].item(), rel=1e-6)
    squared, data = marked(F.mse_loss)
    assert not computes_binary_loss(squared, data)
    assert build_subject(squared, data, None, seed=0).task.reading is None


def test_a_user_can_name_several_labels():
    net, data = marked()
    pair = (data["features"], data["labels"])
    assert build_subject(net.head, pair, None, seed=0).task.reading is None
    named = build_subject(net.head, pair, None, seed=0, reading="labels")
    few = named.examples(named.train.first(N))
    assert named.task.reading.task == "labels"
    assert named.loss_of(net.head(few.x), few.y).item() == pytest.approx(net(**data)["loss"].item(), rel=1e-6)


class Answers(nn.Module):
    """Marks where an answer begins; the places are used in the loss alone."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(K, 8), nn.Linear(8, 1)

    def forward(self, input_ids: Tensor, start_positions: Tensor, other: Tensor) -> dict[str, Tensor]:
        logits = self.head(self.embed(input_ids))[..., 0]
        return {"logits": logits, "loss": F.cross_entropy(logits, start_positions)}


def test_an_input_that_changes_the_loss_is_used_and_one_that_changes_nothing_is_not():
    torch.manual_seed(0)
    ids, places, other = torch.randint(K, (N, T)), torch.arange(N) % T, torch.arange(N)
    (found,) = ignored_input_findings(Answers(), {"input_ids": ids, "start_positions": places, "other": other})
    assert found.where == "input 2"


class Viewing(nn.Module):
    """As nanoGPT: flattens its targets by view."""

    def forward(self, idx: Tensor, targets: Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=F.one_hot(targets.view(-1), K).float().view(*idx.shape, K))


def test_batches_are_contiguous_as_those_of_a_loader():
    ids = torch.randint(K, (N, T + 1))
    examples = data_source((ids[:, :-1], ids[:, 1:]), module=Viewing()).first(3)
    assert all(t.is_contiguous() for t in examples.x.values())
    assert Viewing()(**examples.x).logits.shape == (3, T, K)
    image = torch.zeros(4, 3, 5, 5).contiguous(memory_format=torch.channels_last)
    assert data_source((image, torch.zeros(4))).first(2).x.is_contiguous(memory_format=torch.channels_last)


class TwoTowers(nn.Module):
    """As CLIP: a table of scores (n, n) of all pairs of a batch, and the loss that tells the true pairs."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.left, self.right = nn.Linear(4, 6), nn.Linear(3, 6)

    def forward(self, images: Tensor, texts: Tensor) -> SimpleNamespace:
        scores = self.left(images) @ self.right(texts).T
        return SimpleNamespace(loss=F.cross_entropy(scores, torch.arange(len(scores))), logits_per_image=scores)


class TwoTowersInATuple(TwoTowers):
    def forward(self, images: Tensor, texts: Tensor) -> tuple[Tensor, Tensor]:
        found = super().forward(images, texts)
        return found.loss, found.logits_per_image


def test_a_table_of_all_pairs_of_a_batch_becomes_the_score_of_each_own_pair():
    """Batches of different sizes have tables of different widths, which training and checks cannot join."""
    draw = torch.Generator().manual_seed(0)
    x = {"images": torch.randn(30, 4, generator=draw), "texts": torch.randn(30, 3, generator=draw)}
    net = TwoTowersInATuple()
    found = examine(
        net, x, x, fit=True, epochs=2, batch=8, budget=60, clock=FakeClock(0.0),
        examination_steps=[s for s in STEPS if s.key in ("architecture", "data", "wiring", "training")],
    )  # fmt: skip
    assert not [section.answer for section in found.sections if section.state == "failed"]
    subject = build_subject(net, x, None, seed=0)
    few = subject.examples(subject.train.first(5))
    rows = subject.module.eval()(**few.x)["logits"]
    first = {name: t[:5] for name, t in x.items()}
    assert torch.equal(rows, net(**first)[1].diagonal()[:, None])
    assert subject.loss_of(subject.module(**few.x), few.y).item() == pytest.approx(net(**first)[0].item())


def test_as_many_classes_as_examples_are_no_table_of_pairs():
    class Square(TwoTowersInATuple):
        def forward(self, images: Tensor, texts: Tensor) -> tuple[Tensor, Tensor]:
            return super().forward(images, texts)[0], self.left(images)[:, :2]

    x = {"images": torch.randn(2, 4), "texts": torch.randn(2, 3)}
    found = adapt_model_loss(Square(), {name: torch.cat((t, t)) for name, t in x.items()})
    assert found is not None and found[0].eval()(**x)["logits"].shape == (2, 2)


def levels_loss(outputs: tuple[Tensor, Tensor], labels: Tensor) -> Tensor:
    """As coral-pytorch: outputs say whether the class is above 0, 1, 2; there is one output less than classes."""
    wanted = (labels[:, None] > torch.arange(outputs[0].shape[1])).double()
    return F.binary_cross_entropy_with_logits(outputs[0].double(), wanted)


class Levels(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.fc(x), torch.sigmoid(self.fc(x))


def test_labels_beyond_the_outputs_are_left_to_the_users_loss():
    torch.manual_seed(0)
    net, x, y = Levels(), torch.randn(24, 4), torch.arange(24) % 4
    subject = build_subject(net, (x, y), None, seed=0, plan=partial(build_recipe, loss=levels_loss))
    few = subject.examples(subject.train.first(24))
    assert subject.task.classes == 0
    assert subject.loss_of(subject.module(few.x), few.y).item() == pytest.approx(levels_loss(net(x), y).item())
    with pytest.raises(InputError, match="labels go up to 3 and the network has 2 outputs"):
        build_subject(nn.Linear(4, 2), (x, y), None, seed=0)
