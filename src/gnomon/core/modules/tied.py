"""Defines how convolutions with shared weights describe themselves to `gnomon.program`.

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
    """Says which input each shared weight w_t multiplies: y[s] = b + sum_t w_t x[index[t, s]].

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
    """The interface of affine modules with shared weights, such as group convolutions, on (batch, channels times group
    elements, height, width).
    """

    def tied_form(self, height: int, width: int) -> TiedWeightLayout:
        """Returns which inputs each shared weight multiplies, for images of this height and width."""
        ...
