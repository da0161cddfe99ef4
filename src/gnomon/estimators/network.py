"""Builds the network and the kernel of an estimator from the estimator's options.

The infinite-width limit does not depend on the widths, so the networks built here have one unit in every
hidden layer: they are cheap to build, store and pickle.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, out_of_range_error
from gnomon.kernels import Limit, limit
from gnomon.models import mlp
from gnomon.program import InitializationLaw

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "leaky_relu": nn.LeakyReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "elu": nn.ELU,
    "softplus": nn.Softplus,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
}
POINTS_PER_STRIP = 64
"""Number of points whose kernel is computed at once to get its diagonal."""

Kind = Literal["ntk", "nngp"]


@dataclass(frozen=True, slots=True, eq=False)
class NetworkKernel:
    """The kernel matrix function (NTK or NNGP) of an infinitely wide network; all layers have the same initial scale.

    >>> kernel = NetworkKernel(mlp(2, width=1, depth=1), InitializationLaw(2**0.5), "nngp")
    >>> round(float(kernel(torch.eye(2, dtype=torch.float64))[0, 1]) * torch.pi, 12)      # arc-cosine: 1 / pi
    1.0
    """

    net: nn.Module
    law: InitializationLaw
    kind: Kind
    limit: Limit = field(init=False, repr=False)

    def __post_init__(self) -> None:
        exact = limit(self.net, init=self.law, parametrization="ntk")
        assert isinstance(exact, Limit)  # The limit is exact and not sampled, as no number of samples was passed.
        object.__setattr__(self, "limit", exact)

    def __reduce__(self) -> tuple[type, tuple[nn.Module, InitializationLaw, Kind]]:
        return type(self), (self.net, self.law, self.kind)  # Stores the arguments; unpickling computes the limit again.

    def __call__(self, x: Float[Tensor, "n d"], z: Float[Tensor, "m d"] | None = None) -> Float[Tensor, "n _"]:
        """Returns the kernel matrix between the points x and z, or of x with itself if z is missing."""
        return self.limit.ntk(x, z) if self.kind == "ntk" else self.limit.nngp(x, z)

    def both(self, x: Float[Tensor, "n d"], z: Float[Tensor, "m d"] | None = None) -> tuple[Tensor, Tensor]:
        """Returns the kernel matrices of the infinitely wide Bayesian (NNGP) and trained (NTK) network, computed
        together.
        """
        kernels = self.limit(x, z)
        assert kernels.ntk is not None  # both were requested
        return kernels.nngp, kernels.ntk

    def diagonal(self, x: Float[Tensor, "n d"], kind: Kind | None = None) -> Float[Tensor, " n"]:
        """Returns the kernel of each point with itself, computed in blocks of rows."""
        function = self.limit.ntk if (kind or self.kind) == "ntk" else self.limit.nngp
        return torch.cat([function(x[i : i + POINTS_PER_STRIP]).diagonal() for i in range(0, len(x), POINTS_PER_STRIP)])


@dataclass(frozen=True, slots=True, eq=False)
class NetworkOptions:
    """The options of an estimator that determine its network and kernel.

    >>> options = NetworkOptions(None, "relu", 2**0.5, 0.0, "ntk")
    >>> kernel = options.kernel(3, depth=2, fixed_layers=1)
    >>> [layer.weight.requires_grad for layer in kernel.net if isinstance(layer, nn.Linear)]
    [False, True, True]
    """

    network: Any
    activation: Any
    weight_std: Any
    bias_std: Any
    kind: Kind

    def kernel(self, inputs: int, *, depth: int, fixed_layers: int) -> NetworkKernel:
        """Creates the kernel of the user's network, of a network from the user's function, or of an MLP."""
        law = InitializationLaw(*(_number(name, getattr(self, name)) for name in ("weight_std", "bias_std")))
        if self.network is None:
            return _mlp(inputs, depth, _activation(self.activation), fixed_layers, law, self.kind)
        net = self.network
        if callable(net) and not isinstance(net, nn.Module):
            net = net(inputs)
        if not isinstance(net, nn.Module):
            accepted = "None, an nn.Module, or a function from the number of features to an nn.Module"
            what = f"it {'returns' if callable(self.network) else 'is'} a {type(net).__name__}"
            raise InputError(f"network must be {accepted}, but {what}")
        return NetworkKernel(net, law, self.kind)


def candidates(depth: Any, fixed_layers: Any, *, deepest: int) -> Iterator[tuple[int, int]]:
    """Yields the network sizes to try, (depth, number of fixed layers), shallow ones first; only one if nothing is
    "auto".
    """
    for name, value in (("depth", depth), ("fixed_layers", fixed_layers)):
        if value != "auto" and not (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
            raise out_of_range_error(name, 'a whole number of at least 0 or "auto"', value)
    if depth != "auto" and fixed_layers != "auto" and fixed_layers > depth:
        what = f"fixed_layers is {fixed_layers} and depth is {depth}"
        raise InputError(what, accepted="at least one trained layer", fix=f"Fix at most {depth} layers")
    least = 1 if fixed_layers == "auto" else max(1, fixed_layers)
    depths = range(least, max(deepest, least) + 1) if depth == "auto" else [depth]
    for layers in depths:
        for fixed in range(max(layers, 1)) if fixed_layers == "auto" else [fixed_layers]:
            yield layers, fixed


@lru_cache(maxsize=64)  # Results are cached, because searches analyze the same few networks again and again.
def _mlp(
    inputs: int, depth: int, activation: Any, fixed_layers: int, law: InitializationLaw, kind: Kind
) -> NetworkKernel:
    net = mlp(inputs, width=1, depth=depth, activation=activation)
    for layer in [part for part in net if isinstance(part, nn.Linear)][:fixed_layers]:
        layer.requires_grad_(False)
    return NetworkKernel(net, law, kind)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise out_of_range_error(name, "a finite number of at least 0", value)
    return float(value)


def _activation(activation: Any) -> Any:
    if isinstance(activation, str) and activation in ACTIVATIONS:
        return ACTIVATIONS[activation]
    if isinstance(activation, str) or not callable(activation):
        names = ", ".join(repr(name) for name in ACTIVATIONS)
        raise out_of_range_error("activation", f"one of {names} or a module class", activation)
    return activation
