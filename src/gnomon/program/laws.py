"""Defines initialization laws: the variances of initial weights and biases, which determine the infinite-width kernels.

    InitializationLaw(w, b):  weights N(0, w^2 / fan_in), biases N(0, b^2)                                (1)
    PyTorch's Linear and Conv:  U(-1/sqrt(fan_in), 1/sqrt(fan_in)) for weights and biases,
    of variance 1/(3 fan_in), so  w = 1/sqrt(3),  b = 1/sqrt(3 fan_in)                      (2)

>>> InitializationLaw(1.0, 0.0)
InitializationLaw(weight_std=1.0, bias_std=0.0)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Literal

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.program.steps import Program, Weights

__all__ = ["Init", "InitializationLaw", "initialization_laws_by_path", "rms", "torch_initialization_law", "weight_std"]


@dataclass(frozen=True, slots=True)
class InitializationLaw:
    """Standard deviations of an affine layer's initial parameters: weights N(0, weight_std^2 / fan_in), biases N(0,
    bias_std^2).

    In the limit only these two moments matter, whatever the shape of the distribution.
    Reference: [sohl2020infinite]; [he2015delving] is ``InitializationLaw(2**0.5, 0.0)``.

    >>> round(InitializationLaw(2**0.5, 0.0).weight_std ** 2, 12)  # keeps the variance of a ReLU network
    2.0
    """

    weight_std: float
    bias_std: float = 0.0

    @add_call_to_errors
    def __post_init__(self) -> None:
        """Raises an error for values that are not standard deviations: negative, infinite or NaN."""
        for name, value in (("weight_std", self.weight_std), ("bias_std", self.bias_std)):
            if not isfinite(value) or value < 0:
                found = f"{name} is {value}"
                raise InputError(found, accepted="finite standard deviations >= 0", fix="Pass w >= 0 and b >= 0")


Init = Literal["torch", "measured"] | InitializationLaw | Mapping[str, InitializationLaw]
"""PyTorch's default law, the law measured on the current weights, one law for all layers, or one per module path."""


def torch_initialization_law(fan_in: int) -> InitializationLaw:
    """Returns the standard deviations with which PyTorch initializes the weights and biases of Linear and Conv layers.

    See equation (2) of the module docstring.

    >>> round(torch_initialization_law(12).bias_std, 12) == round(1 / 6, 12)
    True
    """
    return InitializationLaw(1 / sqrt(3), 1 / sqrt(3 * fan_in))  # (2)


def weight_std(weight: Tensor, fan_in: int | None = None) -> float:
    """Returns the standard deviation of a weight matrix times sqrt(fan_in), measured on the current weights.

    Cost: one pass over the weights.

    >>> import torch
    >>> weight_std(torch.full((5, 4), 0.5))
    1.0
    """
    return rms(weight) * sqrt(weight[0].numel() if fan_in is None else fan_in)  # (1)


def rms(values: Tensor) -> float:
    """Returns the root mean square of a tensor's entries, for example of biases.

    Cost: one pass.

    >>> import torch
    >>> rms(torch.tensor([3.0, 4.0, 0.0, 0.0]))
    2.5
    """
    return float(values.detach().double().square().mean().sqrt())


def initialization_laws_by_path(program: Program, module: nn.Module, init: Init) -> dict[str, InitializationLaw]:
    """Returns the variances of initial weights and biases for each affine layer of a program, by the path of the layer.

    Cost: none for "torch"; one pass over the weights for "measured".

    >>> import torch
    >>> from gnomon.program import read_program
    >>> net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    >>> laws = initialization_laws_by_path(read_program(net, torch.zeros(1, 4)), net, "torch")
    >>> round(laws["0"].weight_std ** -2, 9)  # (2): 1 / w^2
    3.0
    """
    if isinstance(init, InitializationLaw):
        return {w.path: init for w in program.weights}
    if isinstance(init, Mapping):
        return _from_mapping(program, init)
    if init == "torch":
        return {w.path: _torch(w) for w in program.weights}
    if init == "measured":
        state = dict(module.named_parameters())
        return {w.path: _measure(w, state) for w in program.weights}
    found = f"init is {init!r}"
    raise InputError(
        found,
        accepted="a law for every layer",
        fix='Pass "torch", "measured", an InitializationLaw, or a dict from module path to InitializationLaw',
    )


def _torch(w: Weights) -> InitializationLaw:
    if w.kind == "Parameter":
        raise InputError(
            f"'{w.path}' is a bare parameter or a custom class, so PyTorch's default initialization does not apply",
            accepted="a law for every layer",
            fix=f'Pass init="measured", or init={{"{w.path}": InitializationLaw(w, b), ...}}',
        )
    if w.drawn is not None:
        return InitializationLaw(w.drawn[0] * sqrt(w.fan_in), w.drawn[1])  # (1)
    return torch_initialization_law(w.fan_in)


def _measure(w: Weights, state: Mapping[str, Tensor]) -> InitializationLaw:
    return InitializationLaw(weight_std(state[w.weight], w.fan_in), rms(state[w.bias]) if w.bias else 0.0)


def _from_mapping(program: Program, init: Mapping[str, InitializationLaw]) -> dict[str, InitializationLaw]:
    paths = [w.path for w in program.weights]
    missing, unknown = [p for p in paths if p not in init], [p for p in init if p not in paths]
    if missing or unknown:
        found = "; ".join(
            f"{what} {', '.join(map(repr, which))}"
            for what, which in (("no law for", missing), ("no affine layer at", unknown))
            if which
        )
        raise InputError(
            found, accepted="a law for every affine layer", fix=f"Use the paths {', '.join(map(repr, paths))}"
        )
    return {p: init[p] for p in paths}
