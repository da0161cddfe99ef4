"""Normalizing flows: an invertible map from Gaussian noise to examples, with the determinant of its Jacobian.

    x = f(z),  z ~ N(0, I):    log p(x) = log N(z; 0, I) - log |det df/dz|,    z = f^-1(x)                 (1)

and for a chain of maps the logarithms add up. (1) is exact.

Hypotheses: every map is differentiable and has a differentiable inverse.
Reference: [rezende2015variational]; [papamakarios2021normalizing].
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.generative.model import AbstractGenerative, standard_normal

__all__ = ["AbstractTransform", "Flow", "InverseTransform", "ShiftTransform"]


class AbstractTransform(nn.Module, ABC):
    """Base class of invertible maps; both directions return the mapped points and the log |determinant| of the
    Jacobian.
    """

    @abstractmethod
    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Maps noise to examples and returns them with the log |determinant| of the map's Jacobian."""

    @abstractmethod
    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Maps examples to noise and returns it with the log |determinant| of the inverse map's Jacobian."""


class InverseTransform(AbstractTransform):
    """The inverse of an invertible map; swaps the fast and the slow direction of the map.

    >>> moved = InverseTransform(ShiftTransform(1))
    >>> moved.transform.amount.data += 2.0
    >>> moved(torch.zeros(1, 1))[0].item()
    -2.0
    """

    def __init__(self, transform: AbstractTransform) -> None:
        super().__init__()
        self.transform = transform

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        return self.transform.inverse(z)

    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        return self.transform(x)


class ShiftTransform(AbstractTransform):
    """An invertible map that adds a learned vector to each point; its Jacobian has determinant 1.

    >>> ShiftTransform(2)(torch.ones(1, 2))[0].tolist()
    [[1.0, 1.0]]
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.amount = nn.Parameter(torch.zeros(features))

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        return z + self.amount, z.new_zeros(len(z))

    def inverse(self, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: D102
        return x - self.amount, x.new_zeros(len(x))


class Flow(AbstractGenerative):
    """A normalizing flow: a chain of invertible maps applied to Gaussian noise, with an exact ``log_prob``.

    See equation (1) of the module docstring.

    >>> flow = Flow([ShiftTransform(2)], shape=(2,))
    >>> flow.log_prob(torch.zeros(1, 2)).item() == standard_normal(torch.zeros(1, 2)).item()
    True
    """

    likelihood = "exact"

    def __init__(self, transforms: Sequence[AbstractTransform], *, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.transforms, self.shape = nn.ModuleList(transforms), tuple(shape)

    def forward(self, z: Tensor) -> tuple[Tensor, Float[Tensor, " n"]]:
        """Maps noise z to examples f(z); also returns the log |determinant| of the Jacobian of f."""
        total = z.new_zeros(len(z))
        for transform in self.transforms:
            z, log_det = transform(z)
            total = total + log_det
        return z, total

    def inverse(self, x: Tensor) -> tuple[Tensor, Float[Tensor, " n"]]:
        """Maps examples to noise; also returns the log |determinant| of the inverse map's Jacobian."""
        total = x.new_zeros(len(x))
        for transform in reversed(self.transforms):
            assert isinstance(transform, AbstractTransform)
            x, log_det = transform.inverse(x)
            total = total + log_det
        return x, total

    @add_call_to_errors
    def log_prob(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        z, log_det = self.inverse(self.points(x))
        return standard_normal(z) + log_det  # (1)

    def losses(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        z, log_det = self.inverse(x)
        return -standard_normal(z) - log_det  # (1)

    @add_call_to_errors
    def sample(self, n: int, *, seed: int = 0) -> Tensor:  # noqa: D102
        with self.at_rest():
            return self.forward(self.noise(n, self.shape, self.generator(seed)))[0]
