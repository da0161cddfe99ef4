"""Loaders instead of tensors: small batches, augmentation, balanced sampling, streams. Each changes (train, test)."""

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, WeightedRandomSampler


class Augmented(Dataset):
    """Images that are changed at random each time they are read."""

    def __init__(self, augment, x: Tensor, y: Tensor) -> None:
        self.augment, self.x, self.y = augment, x, y

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        return self.augment(self.x[i]), self.y[i]


class Stream(IterableDataset):
    """Examples one after another, without a length."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x, self.y = x, y

    def __iter__(self):
        return zip(self.x, self.y, strict=True)


def _flip_and_shift(x):
    x = x.flip(-1) if torch.rand(()) < 0.5 else x
    return x.roll(int(torch.randint(-2, 3, ())), 1)


def _shift_and_scale(x):
    a, b = torch.randint(-3, 4, (2,)).tolist()
    return (0.9 + 0.2 * torch.rand(())) * x.roll((a, b), (1, 2))


def in_batches(size):
    """A shuffling loader of the training data with this batch size."""
    return lambda train, test: (DataLoader(TensorDataset(*train), batch_size=size, shuffle=True), test)


def flipped_and_shifted(train, test):
    """Loaders that mirror and shift the images of both sets."""
    train, test = (Augmented(_flip_and_shift, *pair) for pair in (train, test))
    return DataLoader(train, batch_size=64, shuffle=True), DataLoader(test, batch_size=256)


def shifted_and_scaled(train, test):
    """A training loader that shifts and scales images and drops the last batch; a plain test loader."""
    train = DataLoader(Augmented(_shift_and_scale, *train), batch_size=64, shuffle=True, drop_last=True)
    return train, DataLoader(TensorDataset(*test), batch_size=250)


def class_balanced(train, test):
    """A training loader that draws all classes equally often."""
    weights = 1 / torch.bincount(train[1])[train[1]].float()
    sampler = WeightedRandomSampler(weights.tolist(), len(train[1]))
    train = DataLoader(TensorDataset(*train), batch_size=64, sampler=sampler)
    return train, DataLoader(TensorDataset(*test), batch_size=250)


def streamed(train, test):
    """Loaders of streams for both sets."""
    return DataLoader(Stream(*train), batch_size=64), DataLoader(Stream(*test), batch_size=256)
