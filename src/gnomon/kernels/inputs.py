"""Checks the inputs of kernel functions: they must be finite floating-point batches of one shape."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import as_numbers


def points(x: Any, name: str, *, tokens: bool = False) -> Tensor:
    """Converts a batch of inputs to a float64 tensor for a kernel, or raises an error that says what is wrong.

    Arrays and tables become tensors and float32 becomes float64 by themselves; what would change the data's meaning is
    refused. Whole numbers stay unchanged if the network takes ``tokens``.
    Cost: one pass over the data.

    >>> points([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "x1").shape
    torch.Size([2, 3])
    """
    if _is_several(x):
        given = f"the inputs {name} are a {type(x).__name__}"
        fix = "Estimate the kernel with gnomon.sampled_limit(build), which takes whatever the module takes"
        raise _bad(given, "one tensor: formulas are for networks with one input", fix)
    x = as_numbers(x, name)
    if not x.is_floating_point() and not tokens:
        raise _bad(f"{name} has dtype {x.dtype}", "inputs are real numbers", f"Convert: {name}.double()")
    if x.dim() < 2:
        raise _bad(
            f"{name} has shape {tuple(x.shape)}",
            "a batch of inputs, (n, ...)",
            f"Add the batch dimension: {name}[None]",
        )
    if x.numel() == 0:
        raise _bad(f"{name} is empty, shape {tuple(x.shape)}", "at least one input", "Pass at least one row")
    finite = torch.isfinite(x.detach())
    if not bool(finite.all()):
        rows = torch.nonzero(~finite.flatten(1).all(1)).flatten()
        bad, where = int((~finite).sum()), f"first in row {int(rows[0])} ({len(rows)} of {len(x)} rows)"
        found = f"{name} holds {bad} NaN or infinite values, {where}"
        raise _bad(found, "finite inputs", "Drop or impute those rows")
    if not x.is_floating_point():
        return x.long().contiguous()
    x = x.to(torch.float32 if x.device.type == "mps" else torch.float64)  # Apple's device "mps" has no float64.
    return x.contiguous()  # The loops are compiled for contiguous arrays only.


def _is_several(x: Any) -> bool:
    """Returns whether x is a dict, a batch of graphs, or several tensors, and not one tensor or table."""
    parts = isinstance(x, tuple | list) and any(isinstance(part, Tensor) and part.dim() > 1 for part in x)
    return isinstance(x, Mapping) or hasattr(x, "edge_index") or parts


def takes_tokens(net: nn.Module) -> bool:
    """Whether a network may take whole numbers, because it contains an embedding.

    >>> takes_tokens(nn.Embedding(5, 3)), takes_tokens(nn.Linear(5, 3))
    (True, False)
    """
    return any(isinstance(m, nn.Embedding) for m in net.modules())


def second(x1: Tensor, x2: Any) -> Tensor:
    """Checks the second set of points x2 of a kernel: its points must have the shape and device of the first set."""
    y = points(x2, "x2", tokens=not x1.is_floating_point())
    if y.shape[1:] != x1.shape[1:]:
        found = f"x1 has inputs of shape {tuple(x1.shape[1:])} and x2 of shape {tuple(y.shape[1:])}"
        raise _bad(found, "two sets of the same shape", "Give both sets the same shape")
    if y.device != x1.device:
        raise _bad(f"x1 is on {x1.device} and x2 on {y.device}", "one device", "Move them: x2.to(x1.device)")
    return y


def _bad(found: str, hypothesis: str, fix: str) -> InputError:
    return InputError(found, accepted=hypothesis, fix=fix)
