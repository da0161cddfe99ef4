"""MNIST from a local file with the arrays x_train, y_train, x_test and y_test, named by ``WATCH_MNIST``."""

import os

import numpy as np
import torch
from torch.utils.data import Dataset


class MNIST(Dataset):
    """The first ``WATCH_MNIST_TRAIN`` and ``WATCH_MNIST_TEST`` examples of MNIST."""

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        with np.load(os.environ["WATCH_MNIST"]) as file:
            part = "train" if train else "test"
            size = int(os.environ["WATCH_MNIST_TRAIN" if train else "WATCH_MNIST_TEST"])
            images, labels = file[f"x_{part}"][:size], file[f"y_{part}"][:size]
        self.data = torch.from_numpy(images.reshape(len(images), 28, 28).astype(np.uint8))
        self.targets = torch.from_numpy(labels.astype(np.int64))
        self.transform = transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image = self.data[index]
        return (image if self.transform is None else self.transform(image)), int(self.targets[index])
