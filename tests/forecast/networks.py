"""Fully connected networks in the NTK parametrization: standard normal parameters, scales in the forward pass."""

import torch
from torch import nn


class Wide(nn.Module):
    """f = V tanh(U tanh(W x / sqrt(d)) / sqrt(width)) scale, with scale = width^(-1/2) unless told otherwise."""

    def __init__(self, width, *, inputs=3, outputs=1, seed=0, power=-0.5):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        sizes = [(width, inputs), (width, width), (outputs, width)]
        self.W, self.U, self.V = (
            nn.Parameter(torch.randn(size, generator=generator, dtype=torch.float64)) for size in sizes
        )
        self.scale = width**power

    def forward(self, x):
        h = torch.tanh(x @ self.W.T / x.shape[1] ** 0.5)
        h = torch.tanh(h @ self.U.T / h.shape[1] ** 0.5)
        return self.scale * h @ self.V.T
