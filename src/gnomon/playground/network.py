"""Defines the playground's network: fully connected, in the parametrization of tangent-kernel theory.

    z_l = w / sqrt(fan_in) W_l h_{l-1} + b b_l,   h_l = phi(z_l),   f = scale z_{depth+1}                       (1)

All parameters start as independent standard normal numbers, so the largest stable learning rate does not depend on the
width.

Hypotheses: none. Reference: [jacot2018neural].
"""

from math import sqrt

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.source import data_source
from gnomon.kernels import Limit
from gnomon.playground.random_numbers import normals, permutation
from gnomon.program import InitializationLaw
from gnomon.training.plan import BatchPlan

__all__ = ["DenseNetwork", "fixed_batches"]

ACTIVATIONS = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "gelu": nn.functional.gelu,
    "sin": torch.sin,
    "sigmoid": torch.sigmoid,
    "linear": lambda z: z,
}
WEIGHT_STREAM = 16
"""Layer l draws its parameters from the stream WEIGHT_STREAM + l."""
BATCH_STREAM = 4096
"""Epoch e orders the points by the stream BATCH_STREAM + e."""


class _Elementwise(nn.Module):
    """A module that applies an activation function to each number."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.function = ACTIVATIONS[name]

    def forward(self, z: Tensor) -> Tensor:
        return self.function(z)


class _Layer(nn.Module):
    """One affine layer of the playground's network."""

    def __init__(self, parameters: Tensor, fan_in: int, units: int, weight_std: float, bias_std: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(parameters[: fan_in * units].reshape(units, fan_in).clone())
        self.bias = nn.Parameter(parameters[fan_in * units :].clone())
        self.gain, self.bias_std = weight_std / sqrt(fan_in), bias_std

    def forward(self, h: Tensor) -> Tensor:
        return nn.functional.linear(h, self.gain * self.weight, self.bias_std * self.bias)


class DenseNetwork(nn.Module):
    """The playground's network with one output, in float64, with the same initial parameters as on the web page.

    See equation (1) of the module docstring.

    Args:
        inputs: number of inputs.
        width: units in each hidden layer.
        depth: hidden layers; 0 is a linear model.
        activation: "relu", "tanh", "erf", "gelu", "sin", "sigmoid" or "linear".
        scale: factor of the output; a large one makes training lazy.
        weight_std: w of equation (1).
        bias_std: b of equation (1).
        centered: subtract the output at the initial parameters, so that training starts from zero.
        last_only: train the last layer alone.
        seed: random seed of the parameters.

    >>> net = DenseNetwork(1, width=8, seed=3)
    >>> net(torch.zeros(2, 1, dtype=torch.float64)).shape
    torch.Size([2, 1])
    """

    def __init__(
        self,
        inputs: int,
        *,
        width: int = 256,
        depth: int = 1,
        activation: str = "relu",
        scale: float = 1.0,
        weight_std: float = 1.4,
        bias_std: float = 0.5,
        centered: bool = False,
        last_only: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            accepted = ", ".join(ACTIVATIONS)
            raise InputError(f"DenseNetwork: activation is {activation!r}; it must be one of {accepted}.")
        self.activation, self.scale = _Elementwise(activation), scale
        self.law, self.last_only = InitializationLaw(weight_std, bias_std), last_only
        layers = []
        for i in range(depth + 1):
            fan_in, units = inputs if i == 0 else width, 1 if i == depth else width
            drawn = torch.from_numpy(normals(seed, WEIGHT_STREAM + i, fan_in * units + units))
            layers.append(_Layer(drawn, fan_in, units, weight_std, bias_std))
        self.layers = nn.ModuleList(layers)
        for layer in layers[:-1] if last_only else []:
            layer.requires_grad_(False)
        self.start: nn.Module | None = None
        if centered:
            twin = DenseNetwork(
                inputs, width=width, depth=depth, activation=activation, scale=scale, weight_std=weight_std,
                bias_std=bias_std, seed=seed,
            )  # fmt: skip
            self.start = twin.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        """Returns the network's output, of shape (n, 1)."""
        h = x
        for i, layer in enumerate(self.layers):
            z = layer(h)
            h = z if i == len(self.layers) - 1 else self.activation(z)
        f = self.scale * h
        return f if self.start is None else f - self.start(x)

    def limit_kernels(self, x1: Tensor, x2: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Returns the NNGP kernel and the tangent kernel of the infinitely wide network between two sets of points.

        If only the last layer is trained, the tangent kernel is the NNGP kernel.
        """
        layers: list[nn.Module] = []
        for weight in (p for p in self.layers.parameters() if p.dim() == 2):
            units, fan_in = weight.shape
            layers += [nn.Linear(fan_in, units), self.activation]
        # Compiled loops, because torch's matrix products lose the smallest eigenvalues for points on a line to
        # rounding.
        exact = Limit(nn.Sequential(*layers[:-1]), self.law, "ntk", compiled=True)
        both = exact(x1, x2)
        assert both.nngp is not None and both.ntk is not None
        nngp, ntk = self.scale**2 * both.nngp, self.scale**2 * both.ntk
        return nngp, nngp if self.last_only and len(self.layers) > 1 else ntk


@add_call_to_errors
def fixed_batches(x: Tensor, y: Tensor, size: int, steps: int, *, seed: int = 0) -> BatchPlan:
    """Returns the batches of every training step in the order of the playground page, for use with `gnomon.train`.

    Each point is used once in a pass over the data, and every pass has a random order. A batch of at least as many
    points as there are takes all of them in their order.

    Cost: one sort per pass.

    >>> x = torch.arange(4.0)[:, None]
    >>> fixed_batches(x, x[:, 0], 2, 4).loader is not None
    True
    """
    order = batch_order(len(x), size, steps, seed) if size < len(x) else [list(range(len(x)))]
    # Targets are columns of shape (n, 1) like the outputs, because (n, 1) - (n,) would broadcast to (n, n).
    return BatchPlan(loader=data_source([(x[chosen], y[chosen][:, None]) for chosen in order]))


def batch_order(n: int, size: int, steps: int, seed: int) -> list[list[int]]:
    """Returns the indices of the examples in each training step's batch."""
    queue: list[int] = []
    batches: list[list[int]] = []
    epoch = 0
    for _ in range(steps):
        while len(queue) < size:
            queue += permutation(seed, BATCH_STREAM + epoch, n)
            epoch += 1
        batches.append(queue[:size])
        queue = queue[size:]
    return batches
