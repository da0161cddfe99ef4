"""Finds out which entries of an intermediate tensor of a network belong to which example.

Layers see examples folded with positions in many ways: (n, d), (n, t, d), (t, n, d), rows of an (n t, d) matrix.
All are of one form: one axis of size ``before * n * after``, the example in the middle. Two tests on a few examples
identify it, without a rule for any layer:

    gradients:    scale the outputs of example i by c_i; the entries of example i scale by c_i        (1)
    activations:  permute the examples; the entries permute with them                                  (2)

With c_i a power of two, (1) holds to the last bit of floating-point arithmetic.

>>> import torch
>>> g = torch.arange(1.0, 13.0).reshape(6, 2)                 # three examples, two positions, rows (example, position)
>>> scaled = g * torch.tensor([1.0, 1, 2, 2, 4, 4])[:, None]
>>> candidates(g, scaled, 3)
[ExampleLayout(axis=0, before=1, after=2)]
"""

from dataclasses import dataclass
from math import isqrt

import torch
from torch import Tensor

TEST_EXAMPLES = 3
"""Examples in the test batch."""

SCALING_TOLERANCE = 1e-3
"""Relative agreement of each entry in (1); scalings differ by factors of two, rounding by far less."""

SCALES = (1.0, 2.0, 4.0)
PERMUTATION = (1, 2, 0)


@dataclass(frozen=True, slots=True)
class ExampleLayout:
    """The axis of an intermediate tensor that holds the examples, and the number of other entries merged into the
    axis.
    """

    axis: int
    before: int
    after: int

    @property
    def positions(self) -> int:
        """The number of entries along the axis that belong to one example."""
        return self.before * self.after

    def split(self, t: Tensor) -> Tensor:
        """Splits the axis that holds the examples, so that the examples become the first axis of the tensor.

        >>> ExampleLayout(0, 2, 1).split(torch.zeros(6, 5)).shape
        torch.Size([3, 2, 1, 5])
        """
        n = t.shape[self.axis] // self.positions
        return t.unflatten(self.axis, (self.before, n, self.after)).movedim(self.axis + 1, 0)

    def fits(self, t: Tensor, n: int) -> bool:
        """Whether a tensor's axis has the right size to hold n examples."""
        return self.axis < t.dim() and t.shape[self.axis] == n * self.positions


def candidates(g: Tensor, scaled: Tensor, n: int) -> list[ExampleLayout]:
    """Returns the possible layouts of examples in a gradient tensor, found by scaling the outputs of each example.

    See equation (1) of the module docstring.
    Cost: one comparison per divisor of each axis.
    """
    scales = torch.tensor(SCALES[:n]).to(g)
    return [layout for layout in _all_layouts(g.shape, n) if scaled_with(layout, g, scaled, scales)]


def scaled_with(layout: ExampleLayout, g: Tensor, scaled: Tensor, scales: Tensor) -> bool:
    """Whether the gradient entries of each example scale with the example's output, if the tensor has a given layout.

    See equation (1) of the module docstring.

    >>> g = torch.ones(2, 3)
    >>> scaled_with(ExampleLayout(0, 1, 1), g, g * torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 2.0]))
    True
    """
    parts = layout.split(g)
    expected = parts * scales.reshape(-1, *[1] * (parts.dim() - 1))  # (1)
    return bool(((layout.split(scaled) - expected).abs() <= SCALING_TOLERANCE * expected.abs()).all())


def permuted_with(layout: ExampleLayout, a: Tensor, permuted: Tensor, n: int) -> bool:
    """Whether permuting the examples permutes the activations in the same way, if the tensor has a given layout.

    See equation (2) of the module docstring.

    >>> a = torch.tensor([[1.0], [2.0], [3.0]])
    >>> permuted_with(ExampleLayout(0, 1, 1), a, a[[1, 2, 0]], 3)
    True
    """
    if not layout.fits(a, n) or a.shape != permuted.shape:
        return False
    return _close(layout.split(permuted), layout.split(a)[list(PERMUTATION[:n])])  # (2)


def _all_layouts(shape: torch.Size, n: int) -> list[ExampleLayout]:
    layouts: list[ExampleLayout] = []
    for axis, size in enumerate(shape):
        if size % n == 0:
            positions = size // n
            small = [b for b in range(1, isqrt(positions) + 1) if positions % b == 0]
            divisors = sorted({*small, *(positions // b for b in small)})
            layouts.extend(ExampleLayout(axis, b, positions // b) for b in divisors)
    return layouts


def _close(a: Tensor, b: Tensor) -> bool:
    if not a.is_floating_point():  # Integer tensors, such as the indices of max-pooling, must be equal.
        return torch.equal(a, b)
    # Half of the digits may differ, because the summation order within an example may depend on the other examples.
    scale = max(a.abs().max().item(), b.abs().max().item()) if a.numel() else 0.0
    return (a - b).abs().max().item() <= scale * torch.finfo(a.dtype).eps ** 0.5 if scale else True
