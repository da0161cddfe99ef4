"""One run from data of every kind: the same numbers from a pair, data sets, loaders and streams of batches."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from gnomon.core import InputError
from gnomon.core.inputs.images import AdaptedInputWarning
from gnomon.core.inputs.source import StreamingSource
from gnomon.training import SGD, Adam, train
from gnomon.training.plan import BatchPlan

X = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)).double()
CLASSES = (X[:, 0] > 0).long() + (X[:, 1] > 0.5).long()


def batches(x=X, y=CLASSES, size=5):
    return ({"x": x[i : i + size], "labels": y[i : i + size]} for i in range(0, len(x), size))


KINDS = {
    "data set": lambda: TensorDataset(X, CLASSES),
    "loader": lambda: DataLoader(TensorDataset(X, CLASSES), batch_size=4, shuffle=True),
    "generator of dicts": batches,
    "list of pairs": lambda: [(X[:9].numpy(), CLASSES[:9].numpy()), (X[9:].numpy(), CLASSES[9:].numpy())],
    "function": lambda: batches,
    "pair": lambda: (X, CLASSES),
}


def net():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3)).double()


@pytest.mark.parametrize("batch", [None, 6])
@pytest.mark.parametrize("optimizer", [SGD(0.3, momentum=0.5), Adam(0.02)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_the_same_from_data_of_every_kind(kind, batch, optimizer):
    options = dict(optimizer=optimizer, batch=batch, steps=12, record=4, outputs=True, seed=5)
    wanted = train(net(), (X, CLASSES), test=(X[:4], CLASSES[:4]), **options)
    run = train(net(), KINDS[kind](), test=TensorDataset(X[:4], CLASSES[:4]), **options)
    # Sums over batches differ from one sum by rounding, which twelve steps of these rules do not amplify beyond 1e-9.
    for name in ("loss", "accuracy", "test_loss", "test_accuracy", "train", "test"):
        np.testing.assert_allclose(getattr(run, name), getattr(wanted, name), rtol=1e-9, atol=1e-11)
    assert run.loss_name == "cross-entropy" and float(run.loss[-1]) < float(run.loss[0])


def test_the_gradient_of_uneven_batches_is_that_of_all_examples():
    """The last batch has 3 of 23 examples: means of batches without weights would differ."""
    y = X @ torch.tensor([[1.0], [2.0], [-1.0]]).double()
    wanted = train(nn.Linear(3, 1).double().requires_grad_(), (X, y), optimizer=SGD(0.1), steps=0).model
    run = train(wanted, batches(y=y), optimizer=SGD(0.1), steps=1)
    (gradient,) = torch.autograd.grad(((wanted(X) - y) ** 2).mean() / 2, wanted.weight)
    torch.testing.assert_close(run.model.weight, wanted.weight - 0.1 * gradient, rtol=1e-13, atol=1e-13)


def test_a_data_set_is_read_anew_at_each_step_so_that_augmentation_stays_random():
    reads = []

    class Counting(Dataset):
        def __len__(self):
            return len(X)

        def __getitem__(self, i):
            reads.append(i)
            return X[i], CLASSES[i]

    train(net(), Counting(), steps=3, batch=4, record=[])
    assert len(reads) == 1 + 2 * 23 + 3 * 4  # one to learn the outputs, two records of all examples, three batches


def test_the_batches_of_a_loader_of_a_stream_are_trained_on_as_they_come():
    class Flow(IterableDataset):
        def __iter__(self):
            return iter(zip(X, CLASSES, strict=True))

    loader, module = DataLoader(Flow(), batch_size=8), net()
    own = StreamingSource(lambda: loader, module)
    run = train(module, loader, steps=3, batch=BatchPlan(8, own), optimizer=SGD(0.1))
    by_hand = train(module, [(X[:8], CLASSES[:8])], steps=1, optimizer=SGD(0.1))
    by_hand = train(by_hand.model, [(X[8:16], CLASSES[8:16])], steps=1, optimizer=SGD(0.1))
    by_hand = train(by_hand.model, [(X[16:], CLASSES[16:])], steps=1, optimizer=SGD(0.1))
    for p, q in zip(run.model.parameters(), by_hand.model.parameters(), strict=True):
        assert torch.allclose(p, q, atol=1e-12)


def test_bytes_and_missing_channels_are_adapted():
    images = torch.randint(0, 256, (12, 8, 8), dtype=torch.uint8)
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 2))
    with pytest.warns(AdaptedInputWarning, match=r"^uint8 inputs were scaled to \[0, 1\] and a"):
        run = train(module, (images, torch.tensor([0, 1] * 6)), steps=2, optimizer=SGD(0.1))
    by_hand = train(module, (images[:, None].float() / 255, torch.tensor([0, 1] * 6)), steps=2, optimizer=SGD(0.1))
    assert torch.equal(run.loss, by_hand.loss)


@pytest.mark.parametrize("data", [X, TensorDataset(X), [X[:5], X[5:9], X[9:]]], ids=["tensor", "data set", "batches"])
def test_data_without_targets_are_refused(data):
    with pytest.raises(InputError, match=r"train\(module, data\): the data have no targets"):
        train(net(), data, steps=1)
