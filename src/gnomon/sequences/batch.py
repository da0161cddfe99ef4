"""Selects the inputs to measure: given tensors, or the first examples of batched data, and the sequence among them."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.source import as_input_source

__all__ = ["first_examples", "sequence_argument", "replace_argument"]

MAX_EXAMPLES = 64
"""Maximum number of sequences used."""


def first_examples(x: Any, module: nn.Module) -> Inputs:
    """Returns inputs in memory unchanged, and the first 64 examples of a data set, loader or other source.

    Cost: reading the examples.

    >>> import torch
    >>> first_examples(iter([(torch.zeros(3, 2), torch.zeros(3))]), nn.Linear(2, 1)).shape
    torch.Size([3, 2])
    """
    if isinstance(x, Tensor | Mapping):
        return x
    given = as_input_source(x, module)
    if isinstance(x, tuple) and given.labels() is None:  # several arguments
        return x
    return given.first(MAX_EXAMPLES).x


def sequence_argument(x: Inputs, *, of_length: int | None = None) -> tuple[int | str | None, Tensor]:
    """Returns the place of the sequence among the inputs of a network (None if x is a tensor), and the sequence.

    A sequence is a tensor of tokens (n, times) or of real numbers (n, times, features); masks are none. With
    ``of_length`` it has this number of times, and may be (n, times) real numbers.

    >>> import torch
    >>> place, tokens = sequence_argument({"attention_mask": torch.ones(2, 5), "input_ids": torch.zeros(2, 5).long()})
    >>> place, tokens.shape
    ('input_ids', torch.Size([2, 5]))
    """
    options: list[tuple[int | str | None, Any]]
    options = list(x.items()) if isinstance(x, Mapping) else list(enumerate(x)) if isinstance(x, tuple) else [(None, x)]
    for place, given in options:
        if not isinstance(given, Tensor) or given.dtype == torch.bool or "mask" in str(place):
            continue
        wanted = 3 if given.is_floating_point() else 2
        if given.dim() == wanted if of_length is None else given.dim() > 1 and given.shape[1] == of_length:
            return place, given
    shapes = ", ".join(str(tuple(t.shape)) for _, t in options if isinstance(t, Tensor))
    images = any(isinstance(t, Tensor) and t.dim() > 3 for _, t in options)
    found = f"the inputs have shape {shapes}"
    accepted, fix = "tokens (n, times) or real sequences (n, times, features)", "Pass sequences or their embeddings"
    if of_length is not None:
        found = f"{found}, and the second axis of the output has length {of_length}"
        accepted, fix = "an output (n, times, ...) for every position", "Return the output at all positions"
    if images:
        fix = "Images have no order in time: use gnomon.sequences.attention_maps, or gnomon.attribution"
    raise InputError(found, accepted=accepted, fix=fix)


def replace_argument(x: Inputs, place: int | str | None, value: Tensor) -> Inputs:
    """Returns the inputs with another tensor at one place.

    >>> import torch
    >>> replace_argument({"a": torch.zeros(1), "b": 2}, "a", torch.ones(1))
    {'a': tensor([1.]), 'b': 2}
    """
    if isinstance(x, Mapping):
        return {name: value if name == place else part for name, part in x.items()}
    if isinstance(x, tuple):
        return tuple(value if i == place else part for i, part in enumerate(x))
    return value
