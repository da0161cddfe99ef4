"""Finds reshapes used by mistake to transpose, such as x.view(n, channels, time) for x of shape (n, time, channels).

A reshape keeps the numbers in their order in memory, so that it mixes the two axes; a transpose swaps them. The new
shape is the old one with two neighboring axes exchanged, both longer than one: no other purpose of a reshape gives
exactly this.

Hypotheses: the axes have different lengths; equal lengths show no change of shape.

>>> class Swap(nn.Module):
...     def forward(self, x):
...         return x.reshape(len(x), 3, 40)
>>> reshaped_axes_findings(Swap(), torch.randn(5, 40, 3))[0].values["function"]
'reshape'
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["reshaped_axes_findings"]

RESHAPES = {Tensor.view: "view", Tensor.reshape: "reshape", torch.reshape: "reshape"}
"""Functions that change the shape and keep the order of the numbers."""
EXAMPLES_IN_PASS = 5
"""Examples in the pass; a prime number, which other axes rarely have."""


def reshaped_axes_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports the first reshape that exchanges the sizes of two neighboring dimensions, which scrambles the data.

    This is read from shapes, so chance raises no false alarm.
    Cost: one forward pass.

    >>> reshaped_axes_findings(nn.Flatten(), torch.randn(5, 40, 3))
    ()
    """
    with preserve(module, grad=False, seed=0), _Reshapes() as seen:
        run_module(module, take_examples(x, slice(0, EXAMPLES_IN_PASS)))
    for name, old, new in seen.calls:
        axis = _first_exchanged_axis(old, new)
        if axis:
            values = {"function": name, "old": tuple(old), "new": tuple(new), "first": axis, "second": axis + 1}
            return (Finding(kinds.AXES_RESHAPED, "forward", values, (), 0.0),)
    return ()


def _first_exchanged_axis(old: Sequence[int], new: Sequence[int]) -> int:
    """Returns the first of two neighboring dimensions whose sizes a reshape exchanges; 0 if there are none."""
    if len(old) != len(new) or old[0] != new[0]:
        return 0
    differ = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    if len(differ) != 2 or differ[1] != differ[0] + 1 or differ[0] == 0:
        return 0
    i, j = differ
    return i if (old[i], old[j]) == (new[j], new[i]) and min(old[i], old[j]) > 1 else 0


class _Reshapes(TorchFunctionMode):
    """Context manager that records the shapes before and after each reshape of a contiguous tensor in its block."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, torch.Size, torch.Size]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func in RESHAPES and args and isinstance(args[0], Tensor) and isinstance(made, Tensor):
            self.calls.append((RESHAPES[func], args[0].shape, made.shape))
        return made
