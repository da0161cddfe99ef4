"""Computes a network's Jacobian with respect to its inputs, and the matrix of a network that is affine.

    J(x) = df / dx,    isometry: all singular values near one another                                            (1)
    a network of linear layers is f(x) = f(0) + b^T x:    b-hat = unitary Fourier transform of b                  (2)

If singular values spread over orders of magnitude, signals and gradients of some directions vanish.
Hypotheses: inputs are one tensor of real numbers; (2) for networks that are affine, which is measured.
Reference: [saxe2014exact], [pennington2017resurrecting] for (1); [gunasekar2018implicit] for (2).

>>> import torch
>>> net = nn.Linear(2, 2, bias=False)
>>> net.weight.data = torch.diag(torch.tensor([4.0, 1.0]))
>>> jacobian_spectrum(net, torch.zeros(3, 2)).condition
4.0
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_weights
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Histogram, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.robustness.distances import _real

__all__ = ["JacobianSpectrum", "LinearMap", "jacobian_spectrum", "linear_map"]

AFFINE_TOLERANCE = 1e-4
"""Relative error of f(x + z) - f(x) - f(z) + f(0) = 0 below which a network counts as affine, in float32."""


@dataclass(frozen=True, slots=True, eq=False)
class JacobianSpectrum(Result):
    """Result: the singular values of each example's input Jacobian, largest first; ``gain`` is their mean square."""

    values: Float[Tensor, "n k"] = field(metadata=HIDDEN_IN_JSON)
    gain: float
    condition: float

    @property
    def verdict(self) -> str:
        """States whether the network is close to an isometry, a map that preserves distances."""
        near = "near an isometry" if self.condition < 3 and 0.3 < self.gain < 3 else "far from an isometry"
        return (
            f"The network is {near}: half of the examples have singular values that differ by more than a factor "
            f"{self.condition:.3g}; the mean square is {self.gain:.3g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of the singular values of the input Jacobian."""
        marks = (Histogram.of("singular values", self.values.flatten()),)
        return (Plot("Jacobian in the inputs", marks, Axis("singular value"), Axis("count"), self.verdict),)


@dataclass(frozen=True, slots=True, eq=False)
class LinearMap(Result):
    """Result: the weight matrix of an affine network, one row per output, and the magnitudes of its Fourier transform.

    ``sparsity`` is |b-hat|_1 / |b-hat|_2 over sqrt(d): 1 if all frequencies are equal, 1 / sqrt(d) for a single one.
    """

    weights: Float[Tensor, "k d"] = field(metadata=HIDDEN_IN_JSON)
    frequencies: Float[Tensor, "k d"] = field(metadata=HIDDEN_IN_JSON)
    sparsity: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """States how many Fourier frequencies the linear map of the network uses."""
        d = self.weights.shape[1]
        used = d * min(self.sparsity) ** 2
        return f"The network is a linear map of {d} inputs and uses about {used:.1f} Fourier frequencies."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the magnitude of each Fourier frequency of the network's linear map."""
        places = range(self.frequencies.shape[1])
        lines = tuple(Line(f"output {i}", places, row) for i, row in enumerate(self.frequencies[:8]))
        return (Plot("Frequencies of the linear map", lines, Axis("frequency"), Axis("size"), self.verdict),)


@add_call_to_errors
def jacobian_spectrum(module: nn.Module, data: Any, *, examples: int = 32) -> JacobianSpectrum:
    """Computes the singular values of a network's Jacobian with respect to the inputs, at some inputs.

    See equation (1) of the module docstring.

    Args:
        module: read in eval mode and left as it was; its outputs are flattened.
        data: inputs, or data, of which the first ``examples`` are used.
        examples: number of examples to use.

    Hypotheses: see the module. Reference: [pennington2017resurrecting].
    Cost: a backward pass for each output, and the singular values of each (k x d) matrix.

    >>> round(jacobian_spectrum(nn.Flatten(), torch.zeros(2, 3)).gain, 6)                            # the identity
    1.0
    """
    check_weights(module)
    most = check_integer("examples", examples)
    inputs = _real(as_input_source(data, module).first(most).x)
    with preserve(module):
        jacobian = _jacobian(module, inputs)
    values = torch.linalg.svdvals(jacobian.double())
    ratios = values[:, 0] / values[:, -1].clamp_min(1e-300)
    return JacobianSpectrum(values, float(values.square().mean()), float(ratios.median()))  # (1)


@add_call_to_errors
def linear_map(module: nn.Module, data: Any) -> LinearMap:
    """Computes the weight matrix of a network of linear layers, and its Fourier transform.

    See equation (2) of the module docstring.

    Args:
        module: affine in its inputs, which is measured on x; read in eval mode and left as it was.
        data: inputs, at least two.

    Hypotheses: see the module. Reference: [gunasekar2018implicit].
    Cost: four forward passes and a backward pass for each output.

    >>> net = nn.Sequential(nn.Linear(4, 3, bias=False), nn.Linear(3, 1, bias=False))
    >>> found = linear_map(net, torch.randn(5, 4))
    >>> bool((found.weights - net[1].weight.detach() @ net[0].weight.detach()).abs().max() < 1e-6)
    True
    """
    check_weights(module)
    inputs = _real(as_input_source(data, module).first(32).x)
    with preserve(module):
        with torch.no_grad():
            z = inputs.flip(0)
            zero = torch.zeros_like(inputs)
            f = [output_rows(run_module(module, part), len(inputs)) for part in (inputs + z, inputs, z, zero)]
        bent = float((f[0] - f[1] - f[2] + f[3]).norm() / f[0].norm().clamp_min(1e-30))
        if bent > AFFINE_TOLERANCE:
            fix = "Pass a network of linear layers alone, or use jacobian_spectrum"
            raise InputError(f"f(x + z) differs from f(x) + f(z) - f(0) by {bent:.1%}", accepted="a linear network",
                                    fix=fix)  # fmt: skip
        weights = _jacobian(module, torch.zeros_like(inputs[:1]).requires_grad_())[0]
    sizes = torch.fft.fft(weights.double(), norm="ortho").abs()  # (2)
    d = sizes.shape[1]
    sparsity = sizes.sum(1) / (sizes.norm(dim=1).clamp_min(1e-300) * d**0.5)
    return LinearMap(weights, sizes, tuple(sparsity.tolist()))


def _jacobian(module: nn.Module, x: Tensor) -> Float[Tensor, "n k d"]:
    """Returns the Jacobian of the outputs with respect to the inputs for each example."""
    f = output_rows(run_module(module, x), len(x))
    rows = [torch.autograd.grad(f[:, a].sum(), x, retain_graph=True, materialize_grads=True, allow_unused=True)[0]
            for a in range(f.shape[1])]  # fmt: skip
    return torch.stack([row.flatten(1) for row in rows], 1)
