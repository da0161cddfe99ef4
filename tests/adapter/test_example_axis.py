"""Published forms of outputs and targets: steps first, all positions in one axis, a dict of objects for each image."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import gnomon
from gnomon.adapter.adapt import adapt_model_and_data
from gnomon.adapter.example_axis import ExampleAxis, find_example_axis
from gnomon.core.errors import InputError
from gnomon.examination.run import _lacks_derivative
from gnomon.examination.subject import build_subject

N, T, K = 6, 5, 4


class StepsFirst(nn.Module):
    """As CRNN: outputs (steps, n, letters) for the CTC loss."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, K)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(x).transpose(0, 1)


class OneLongSequence(nn.Module):
    """As attention-is-all-you-need-pytorch: outputs (n * positions, tokens) for a source and a target so far."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(K, 8), nn.Embedding(K, K)
        self.out = nn.Linear(8, K)

    def forward(self, src: Tensor, trg: Tensor) -> Tensor:
        logits = self.target(trg) + self.out(self.source(src).mean(1, keepdim=True))
        return logits.view(-1, logits.size(2))


def spelled(outputs: Tensor, y: Tensor) -> Tensor:
    assert outputs.shape[0] == T and outputs.shape[2] == K
    sizes = torch.full((len(y),), T), torch.full((len(y),), 2)
    return F.ctc_loss(outputs.log_softmax(2), y, *sizes)


def flat(outputs: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(outputs, y.reshape(-1))


def networks() -> list[tuple[nn.Module, tuple, object, int]]:
    torch.manual_seed(0)
    ids = torch.randint(K, (3, N, T))
    return [
        (StepsFirst(), (torch.randn(N, T, 3), torch.randint(1, K, (N, 2))), spelled, 0),
        (OneLongSequence(), ((ids[0], ids[1]), ids[2]), flat, T),
    ]


@pytest.mark.parametrize("which", [0, 1])
def test_the_users_loss_gets_what_the_module_returns(which):
    net, data, loss, positions = networks()[which]
    seen = build_subject(
        net, data, None, seed=0, plan=lambda module, train, **more: _recipe(module, train, loss, **more)
    )
    few = seen.examples(seen.train.first(N))
    x = data[0] if isinstance(data[0], tuple) else (data[0],)
    assert adapt_model_and_data(net, data, own_loss=True).axis == ExampleAxis(positions)
    assert seen.outputs(few.x).shape == (N, T * K)
    assert seen.loss_of(seen.module(*x), few.y).item() == pytest.approx(loss(net(*x), data[1]).item(), rel=1e-6)


def _recipe(module, train, loss, **more):
    from gnomon.examination.recipe import build_recipe

    return build_recipe(module, train, loss=loss, **more)


def test_without_a_loss_all_positions_of_an_example_are_read_together():
    net, data, _, _ = networks()[1]
    assert build_subject(net, data, None, seed=0).task.reading.positions == T


def test_outputs_whose_first_axis_counts_examples_stay_as_they_are():
    x = torch.randn(4, 3)
    for net in (nn.Linear(3, 2), nn.Linear(3, 4), nn.Flatten(), nn.Linear(3, 1)):
        assert find_example_axis(net, x) is None
    assert find_example_axis(nn.GRU(3, 2, batch_first=True), torch.randn(4, 5, 3)) is None  # a tuple


def test_the_kernel_of_steps_first_outputs_is_that_of_rows():
    net, (x, _), _, _ = networks()[0]
    torch.testing.assert_close(gnomon.ntk(net, x), gnomon.ntk(net.head, x))


class Detector(nn.Module):
    """As DETR: pixels and a list of dicts in, a dict with logits for each place and the loss out."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 2 * K)

    def forward(self, pixel_values: Tensor, labels: list | None = None) -> dict[str, Tensor]:
        logits = self.head(pixel_values).unflatten(1, (2, K))
        if labels is None:
            return {"logits": logits}
        return {
            "logits": logits,
            "loss": F.cross_entropy(logits.mean(1), torch.cat([d["class_labels"] for d in labels])),
        }


def batches(sizes=(4, 4)) -> list[dict]:
    generator = torch.Generator().manual_seed(0)
    made = []
    for size in sizes:
        dicts = [
            {"class_labels": torch.randint(K, (1,), generator=generator), "boxes": torch.ones(1, 4)} for _ in range(3)
        ]
        made.append({"pixel_values": torch.randn(3, size, generator=generator), "labels": dicts})
    return made


def test_a_detector_computes_its_loss_from_the_dicts_of_each_image():
    torch.manual_seed(0)
    net, train = Detector(), batches()
    seen = build_subject(net, train, train[:1], seed=0)
    few = seen.examples(seen.train.first(3))
    assert seen.task.reading.task == "model loss" and len(seen.train) == 6
    seen.module.train()
    assert seen.loss_of(seen.module(**few.x), few.y).item() == pytest.approx(net(**train[0])["loss"].item(), rel=1e-6)
    test = seen.examples(seen.test.first(3))
    assert seen.loss_of(seen.module(**test.x), test.y).item() == pytest.approx(net(**train[0])["loss"].item(), rel=1e-6)


def test_images_of_different_sizes_are_refused():
    with pytest.raises(InputError, match="Resize or pad"):
        adapt_model_and_data(Detector(), batches(sizes=(4, 5)))


def test_a_loss_without_second_derivative_is_recognized():
    logits = torch.randn(T, 2, K, requires_grad=True)
    (first,) = torch.autograd.grad(spelled(logits, torch.ones(2, 2).long()), logits, create_graph=True)
    with pytest.raises(RuntimeError) as raised:
        first.sum().backward()
    assert _lacks_derivative(raised.value) and not _lacks_derivative(RuntimeError("shapes do not match"))
