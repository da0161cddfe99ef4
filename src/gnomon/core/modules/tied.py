"""Defines how convolutions with shared weights describe themselves to `gnomon.program`, which converts modules.

>>> import torch
>>> TiedWeightLayout(torch.tensor([[0, 1]]), 1, 2, (1, 1)).index.shape
torch.Size([1, 2])
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import Tensor

__all__ = ["TiedAffineModule", "TiedWeightLayout"]


@dataclass(frozen=True, slots=True)
class TiedWeightLayout:
    """Describes a layer with shared weights as a table: which input each weight multiplies for each output position.

    ``index`` is (taps, outputs), -1 if a tap falls on zero padding. Places count elements of a group (``before`` of
    them in the input, ``after`` in the output, innermost among the channels), then rows, then columns; ``size`` is the
    height and width of the output.
    """

    index: Tensor
    before: int
    after: int
    size: tuple[int, int]


@runtime_checkable
class TiedAffineModule(Protocol):
    """Interface of convolution-like modules with shared weights, such as group convolutions, that describe themselves
    as a table.
    """

    def tied_form(self, height: int, width: int) -> TiedWeightLayout:
        """Returns the table of inputs that each shared weight multiplies, for images of this height and width."""
        ...
