"""Defines what is tracked while a traced module is converted: data, parameters, and outputs of program steps."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, fx

from gnomon.program.expression import Expression, Variable
from gnomon.program.layout import Layout
from gnomon.program.steps import TrainableActivationParameter


@dataclass(frozen=True, slots=True)
class Fixed:
    """A traced value that is computed from the data without parameters."""

    node: fx.Node
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Random:
    """A traced tensor that depends on parameters: the output of a program step with a pending elementwise function."""

    source: int
    layout: Layout
    expression: Expression = Variable()
    trainable: tuple[TrainableActivationParameter, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the module that is converted, by its path; ``transposed`` if its two dimensions were swapped."""

    path: str
    tensor: Tensor
    transposed: bool = False


Value = Fixed | Random | Parameter


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the traced module, with the values of its arguments and the shape of its result."""

    node: fx.Node
    name: str
    where: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    module: Any
    result: Any

    def get(self, position: int, name: str, default: Any = None) -> Any:
        """Returns an argument of the traced call that was given by position or by name."""
        if len(self.args) > position:
            return self.args[position]
        return self.options.get(name, default)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the (single) tensor that the traced call returns."""
        return tuple(self.result.shape)
