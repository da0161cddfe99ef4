"""Represents the gradient of one example with respect to a parameter as a product of activations and gradients.

The gradient of one output of example i with respect to a parameter is, with g the gradient of that output with respect
to the result of the operation that uses the parameter,

    matrix:   dW_i = sum_t g_it a_it^T         a weight applied at positions t; groups of channels side by side   (1)
    vector:   dw_i = sum_t g_it * a_it         a gain (a: what it multiplies) or a bias (a = 1)                   (2)
    lookup:   dW_i[v] = sum_{t: v_it = v} g_it   rows of a table                                                  (3)

``saved`` is the activation that autograd saved, on which `gnomon.tangent.probe` tests where the examples are.

>>> import torch
>>> gain = Vector(None, axes=(1,), gain=lambda: torch.full((2, 3), 5.0))       # w * 5, for two examples
>>> gain.per_example(ExampleLayout(0, 1, 1), torch.ones(2, 3))
tensor([[5., 5., 5.],
        [5., 5., 5.]])
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from torch import Tensor

from gnomon.tangent.layout import ExampleLayout


@dataclass(frozen=True, slots=True)
class Matrix:
    """Gradients of single examples with respect to a weight matrix, as products of activations and output gradients."""

    saved: Tensor
    inputs: Callable[[ExampleLayout], Tensor]
    grads: Callable[[ExampleLayout, Tensor], Tensor]
    flip: bool = False  # whether the operation uses the weight as (in, out) instead of torch's (out, in)
    kernel: tuple[int, ...] = ()  # shape of a convolution's kernel, whose inputs have the order (kernel, channel)

    def allows(self, layout: ExampleLayout) -> bool:
        """Whether this gradient formula works if the examples are on the given axis: only if it is the first axis."""
        return layout.axis == 0

    def per_example(self, layout: ExampleLayout, g: Tensor) -> Tensor:
        """Returns per-example gradients (n, p) of the weight matrix, in the order in which the operation used its
        entries.
        """
        a, g = self.inputs(layout), self.grads(layout, g)
        if self.flip:
            return (a.mT @ g).flatten(1)
        product = g.mT @ a
        return (product.unflatten(3, (prod(self.kernel), -1)).mT if self.kernel else product).flatten(1)


@dataclass(frozen=True, slots=True)
class Vector:
    """Gradients of single examples with respect to a vector such as a bias; ``gain`` is what multiplies the vector."""

    saved: Tensor | None
    axes: tuple[int, ...]
    gain: Callable[[], Tensor] | None = None
    factor: float = 1.0

    def allows(self, layout: ExampleLayout) -> bool:
        """Whether this gradient formula works if the examples are on the given axis: not if the vector lies along the
        axis.
        """
        return layout.axis not in self.axes

    def per_example(self, layout: ExampleLayout, g: Tensor) -> Tensor:
        """Returns per-example gradients (n, p) of the vector parameter."""
        product = g if self.gain is None else g * self.gain()
        # Moves the axis of examples to the front, and splits positions along the same axis off into two axes of their
        # own.
        parts = layout.split(product)
        kept = [axis + 1 if axis < layout.axis else axis + 2 for axis in self.axes]
        summed = [d for d in range(1, parts.dim()) if d not in kept]
        total = parts.sum(summed) if summed else parts
        return total.reshape(len(parts), -1) * self.factor if self.factor != 1.0 else total.reshape(len(parts), -1)


@dataclass(frozen=True, slots=True)
class Lookup:
    """Gradients of single examples with respect to an embedding table; padding entries have no gradient."""

    saved: Tensor
    padding: int
    rows: int

    def allows(self, layout: ExampleLayout) -> bool:
        """Whether this gradient formula works if the examples are on the given axis: the index tensor must have the
        axis.
        """
        return layout.axis < self.saved.dim()

    def indices(self, layout: ExampleLayout) -> Tensor:
        """Returns the indices that were looked up in the embedding table, of shape (n, positions)."""
        parts = layout.split(self.saved)
        return parts.reshape(len(parts), -1)

    def grads(self, layout: ExampleLayout, g: Tensor) -> Tensor:
        """Returns the gradients at the looked-up rows of an embedding table, (n, positions, features), with zeros at
        padding.
        """
        parts = layout.split(g)
        flat = parts.reshape(len(parts), -1, g.shape[-1])
        return flat * (self.indices(layout) != self.padding).unsqueeze(-1) if self.padding >= 0 else flat

    def per_example(self, layout: ExampleLayout, g: Tensor) -> Tensor:
        """Returns per-example gradients (n, p) of the embedding table."""
        flat = self.grads(layout, g)
        index = self.indices(layout).unsqueeze(-1).expand_as(flat)
        return flat.new_zeros(len(flat), self.rows, flat.shape[-1]).scatter_add_(1, index, flat).flatten(1)


Factors = Matrix | Vector | Lookup
"""One of the three forms."""
