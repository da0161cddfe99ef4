"""Root mean square gradients, by hand."""

import numpy
import torch
from torch import nn

from gnomon.tangent import gradient_exponents


class Product(nn.Module):
    """f = (a . x) b / width."""

    def __init__(self, width, seed):
        super().__init__()
        self.a = nn.Parameter(torch.tensor([1.0, 2.0 + seed]).double())
        self.b, self.width = nn.Parameter(torch.tensor(3.0).double()), width

    def forward(self, x):
        return (x @ self.a * self.b)[:, None] / self.width


def test_sizes_are_root_mean_squares_over_entries_and_seeds():
    x, y = torch.tensor([[1.0, 0.0], [2.0, -1.0], [0.5, 3.0]]).double(), torch.tensor([1.0, 0.0, -2.0]).double()
    found = gradient_exponents(Product, (x, y), widths=(1, 2, 4), draws=3)
    for place, width in enumerate((1, 2, 4)):
        squares = {"a": [], "b": []}
        for seed in range(3):
            a, b = numpy.array([1.0, 2.0 + seed]), 3.0
            error = x.numpy() @ a * b / width - y.numpy()
            squares["a"].append(numpy.mean((error @ x.numpy() * b / width / 3) ** 2))
            squares["b"].append((error @ (x.numpy() @ a) / width / 3) ** 2)
        for name, values in squares.items():
            assert numpy.isclose(found.sizes[name][place], numpy.mean(values) ** 0.5, rtol=1e-10)


def test_batches_add_up_to_the_gradient_of_the_mean():
    """700 examples are read in two batches, of 512 and 188."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(700, 2, generator=generator).double()
    y = x[:, 0] + 5 * (torch.arange(700) > 600)
    found = gradient_exponents(Product, (x, y), widths=(1, 2, 3), draws=1)
    error = x.numpy() @ [1.0, 2.0] * 3 - y.numpy()
    assert numpy.isclose(found.sizes["a"][0], numpy.mean((error @ x.numpy() * 3 / 700) ** 2) ** 0.5, rtol=1e-10)
