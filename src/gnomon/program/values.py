"""What the reader knows of a tensor while it walks through a traced module."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, fx

from gnomon.program.expression import Expression, Variable
from gnomon.program.layout import Layout
from gnomon.program.steps import Trainable


@dataclass(frozen=True, slots=True)
class Fixed:
    """A function of the data alone: no parameter has touched it yet."""

    node: fx.Node
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Random:
    """An elementwise expression, not yet emitted, of the output of a step; ``where`` it began."""

    source: int
    layout: Layout
    expression: Expression = Variable()
    trainable: tuple[Trainable, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the module, by its path; ``transposed`` where its two dimensions were swapped."""

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
        """An argument given by position or by name."""
        if len(self.args) > position:
            return self.args[position]
        return self.options.get(name, default)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the (single) tensor that the call returns."""
        return tuple(self.result.shape)
