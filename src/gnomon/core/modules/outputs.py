"""Converts a module's output to a tensor, or to a matrix with one row per example.

>>> import torch
>>> outputs_in_eval_mode(nn.Linear(2, 3), torch.zeros(600, 2)).shape
torch.Size([600, 3])
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = ["output_fields", "output_rows", "output_tensor", "outputs_in_eval_mode", "run_to_rows"]

PREDICTIONS = ("logits", "sample", "prediction", "predictions", "out", "output", "outputs", "reconstruction")
"""Names of predictions in the dicts and records that modules return; the first one present is used."""

EXAMPLES_PER_PASS = 256
"""Number of examples per forward pass."""


def outputs_in_eval_mode(module: nn.Module, x: Inputs) -> Float[Tensor, "n k"]:
    """Runs a module in eval mode without gradients; returns one row of outputs per example.

    Random numbers that the module draws are the same at every call, and the caller's are not used up.
    Cost: one forward pass.

    >>> outputs_in_eval_mode(nn.Dropout(), torch.ones(2, 3)).tolist()      # eval mode: no dropout
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    with preserve(module, seed=0, grad=False):
        pieces = (
            take_examples(x, slice(start, start + EXAMPLES_PER_PASS))
            for start in range(0, count_examples(x), EXAMPLES_PER_PASS)
        )
        return torch.cat([run_to_rows(module, piece) for piece in pieces])


def run_to_rows(module: Any, x: Inputs) -> Float[Tensor, "n k"]:
    """Runs a module in its current mode; returns one row of outputs per example.

    Cost: one call of the module.

    >>> run_to_rows(nn.Flatten(), torch.zeros(2, 3, 4)).shape
    torch.Size([2, 12])
    """
    return output_rows(run_module(module, x), count_examples(x))


def output_tensor(outputs: Any) -> Tensor:
    """Returns the predictions in a module's output, which may be a tensor, tuple, dict or dataclass.

    A field with a usual name (`PREDICTIONS`) comes first, then the first tensor of real numbers with an example axis. A
    loss that the module computed is a single number and is never taken.

    >>> output_tensor(torch.zeros(2)).shape, output_tensor((torch.zeros(()), torch.zeros(2, 3))).shape
    (torch.Size([2]), torch.Size([2, 3]))
    >>> output_tensor({"hidden": torch.zeros(2, 9), "logits": torch.zeros(2, 3)}).shape
    torch.Size([2, 3])
    """
    if isinstance(outputs, Tensor):
        return outputs
    for name in PREDICTIONS:
        value = outputs.get(name) if isinstance(outputs, Mapping) else getattr(outputs, name, None)
        if isinstance(value, Tensor) and value.dim():
            return value
    for value in output_fields(outputs):
        if isinstance(value, Tensor) and value.dim() and value.is_floating_point():
            return value
    fix = "Return a tensor, or a tuple, dict or record that contains one"
    raise InputError(f"the module returned a {type(outputs).__name__}", accepted="a tensor of outputs", fix=fix)


def output_fields(outputs: Any) -> tuple[Any, ...]:
    """Returns the values of a tuple, a dict or a dataclass, in order; empty for other types.

    >>> output_fields({"logits": 1.0, "loss": None}), output_fields(torch.zeros(1))
    ((1.0, None), ())
    """
    if isinstance(outputs, Mapping):
        return tuple(outputs.values())
    if isinstance(outputs, tuple | list):
        return tuple(outputs)
    return tuple(vars(outputs).values()) if is_dataclass(outputs) and not isinstance(outputs, type) else ()


def output_rows(outputs: Any, n: int) -> Float[Tensor, "n k"]:
    """Reshapes a module's output for n examples to a matrix with n rows.

    >>> output_rows(torch.zeros(2, 3, 4), 2).shape
    torch.Size([2, 12])
    """
    y = output_tensor(outputs)
    if y.dim() == 0 or len(y) != n:
        found = f"{n} examples gave an output of shape {tuple(y.shape)}"
        raise InputError(found, accepted="an output whose first axis counts examples", fix="Return one row per example")
    return y.reshape(n, -1)
