"""What the reader knows about a tensor while it follows a traced module."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, fx

from gnomon.program.expression import Expression, Variable
from gnomon.program.layout import Layout
from gnomon.program.steps import TrainableActivationParameter


@dataclass(frozen=True, slots=True)
class Fixed:
    """A function of the data that no parameter has affected yet."""

    node: fx.Node
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Random:
    """A pending elementwise expression of the output of a step; ``where`` it began."""

    source: int
    layout: Layout
    expression: Expression = Variable()
    trainable: tuple[TrainableActivationParameter, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the module, by its path; ``transposed`` if its two dimensions were swapped."""

    path: str
    tensor: Tensor
    transposed: bool = False


Value = Fixed | Random | Parameter


@dataclass(frozen=True, slots=True)
class Call:
    """One node of the traced graph, with the values of its arguments and the shapes of its results."""

    node: fx.Node
    name: str
    where: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    module: Any
    result: Any

    def get(self, position: int, name: str, default: Any = None) -> Any:
        """Returns an argument given by position or by name."""
        if len(self.args) > position:
            return self.args[position]
        return self.options.get(name, default)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the (single) tensor that the call returns."""
        return tuple(self.result.shape)
