"""Points, a smooth kernel of them as matrix and as counted tiles, and targets."""

import numpy as np
import torch


class Counted:
    """A kernel of Gaussians as a function of numbers, which remembers the tiles that were asked for."""

    def __init__(self, n=40, d=3, width=1.0, seed=0):
        self.x = np.random.default_rng(seed).normal(size=(n, d))
        self.width, self.asked = width, []

    def __call__(self, rows, columns):
        self.asked.append((len(rows), len(columns)))
        return torch.from_numpy(self.pairs(self.x[rows.numpy()], self.x[columns.numpy()]))

    def pairs(self, a, b):
        squares = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
        return np.exp(-np.maximum(squares, 0) / (2 * self.width**2))

    @property
    def matrix(self):
        return self.pairs(self.x, self.x)

    def targets(self, k=2):
        return np.stack([np.sin((j + 1) * self.x[:, 0]) + self.x[:, 1] for j in range(k)], 1)
