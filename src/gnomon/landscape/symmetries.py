"""Finds and tests parameter symmetries of a model: changes of weights that change no output.

    orders      units of a group in another order: product of m! over groups of m units                            (1)
    scalings    incoming weights times c > 0, outgoing weights over c: a direction for each unit, along which the
                loss is constant and no measure of sharpness of single weights can mean anything                   (2)

Both are found by reading the model (`gnomon.program.units`) and tested on the data: outputs must agree to rounding.
Weights in front of a normalization have one more, see `scale_invariance`.

Hypotheses: eval mode. Layers that cannot be read are skipped, so there may be more symmetries.
Reference: [hecht1990algebraic] for (1), [dinh2017sharp] for (2).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_seed, check_weights
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.landscape.matching import log_orders
from gnomon.program.units import HiddenUnits, hidden_units, permute_units, scale_units

__all__ = ["ParameterSymmetries", "parameter_symmetries", "rescaled_copy"]

MAX_EXAMPLES = 64
"""Number of inputs on which the symmetries are tested."""


@dataclass(frozen=True, slots=True)
class ParameterSymmetries(Result):
    """The numbers of hidden units that can be permuted or rescaled without changing outputs, and the errors in a test.

    ``order_error`` and ``scaling_error`` are the largest relative changes of the outputs under a random order and under
    random factors between 1/4 and 4.

    >>> ParameterSymmetries({"0": 4}, {"0": 4}, 1.38, 0.0, 1e-7).directions
    4
    """

    permutable: dict[str, int]
    scalable: dict[str, int]
    log10_orders: float
    order_error: float
    scaling_error: float

    @property
    def directions(self) -> int:
        """The number of directions in parameter space along which no output changes.

        See equation (2) of the module docstring.
        """
        return sum(self.scalable.values())

    @property
    def verdict(self) -> str:
        """A sentence with the number of units that can be permuted and rescaled."""
        if not self.permutable:
            return "No hidden units were found that can be permuted or rescaled."
        units = sum(self.permutable.values())
        return (
            f"{units} hidden units can be permuted (10^{self.log10_orders:.4g} equal models), {self.directions} can "
            f"be rescaled; in a test, outputs change by {max(self.order_error, self.scaling_error):.1g} of their size."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the number of hidden units in each group that can be permuted."""
        bars = Bars("units", tuple(self.permutable), tuple(self.permutable.values()))
        return (Plot("Hidden units that can be permuted", (bars,), Axis("units"), caption=self.verdict),)


@add_call_to_errors
def parameter_symmetries(module: nn.Module, data: Any, *, seed: int = 0) -> ParameterSymmetries:
    """Finds hidden units that can be permuted or rescaled without changing the outputs.

    See equations (1), (2) of the module docstring.

    Args:
        module: any module of one input tensor, read in eval mode and left as it was.
        data: inputs, or data; the symmetries are tested on 64 of them.
        seed: random seed for the order and the factors that are tried.

    Hypotheses: see the module. Reference: [hecht1990algebraic].
    Cost: three forward passes of 64 examples.

    >>> net = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
    >>> found = parameter_symmetries(net, torch.randn(3, 2))
    >>> found.permutable, found.scalable                                             # tanh has no scale
    ({'0': 5, '2': 4}, {'0': 5})
    """
    inputs, units = read_units(module, data)
    generator = torch.Generator().manual_seed(check_seed(seed))
    ordered, scaled = copy_module(module), copy_module(module)
    for group in units.permutations:
        permute_units(ordered, group, torch.randperm(group.size, generator=generator))
    for group in units.scalings:
        scale_units(scaled, group, 4 ** (2 * torch.rand(group.size, generator=generator) - 1))
    f, g, h = (_outputs(model, inputs) for model in (module, ordered, scaled))
    size = float(f.abs().max().clamp_min(1e-30))
    return ParameterSymmetries({group.layers[0]: group.size for group in units.permutations},
                               {group.layers[0]: group.size for group in units.scalings},
                               log_orders(units.permutations), float((g - f).abs().max()) / size,
                               float((h - f).abs().max()) / size)  # fmt: skip


def read_units(module: nn.Module, x: Any) -> tuple[Tensor, HiddenUnits]:
    """Returns some inputs and the hidden units of a module; raises an error if the module's input is not one tensor.

    Cost: a symbolic pass.

    >>> len(read_units(nn.Linear(1, 1), torch.zeros(3, 1))[1].permutations)
    0
    """
    check_weights(module)
    inputs = as_input_source(x, module).first(MAX_EXAMPLES).x
    if not isinstance(inputs, Tensor):
        found = f"x is a {type(inputs).__name__}"
        raise InputError(found, accepted="one tensor of inputs", fix="Wrap the model in one that takes one tensor")
    with preserve(module):
        return inputs, hidden_units(module, inputs[:1])


def rescaled_copy(module: nn.Module, units: HiddenUnits, factor: float) -> nn.Module:
    """Returns a copy of a module with rescaled hidden units and the same outputs.

    See equation (2) of the module docstring.
    Cost: a copy.

    >>> net, x = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)), torch.randn(4, 1)
    >>> other = rescaled_copy(net, read_units(net, x)[1], 8.0)
    >>> torch.allclose(net(x), other(x), atol=1e-5)
    True
    """
    copy = copy_module(module)
    for i, group in enumerate(units.scalings):
        steps = torch.linspace(0.5, 1, group.size, dtype=torch.float64)
        scale_units(copy, group, factor ** (steps if i % 2 == 0 else -steps))
    return copy


def _outputs(model: nn.Module, x: Tensor) -> Tensor:
    with preserve(model, grad=False):
        return output_tensor(run_module(model, x)).double()
