"""Inputs as real models take them, one tensor, a tuple of arguments or a dict of named ones, and their outputs.

The first axis of every tensor counts the examples; whatever is not a tensor is handed over unchanged.

>>> import torch
>>> x = {"ids": torch.zeros(5, 7), "scale": 2.0}
>>> count(x), take(x, torch.tensor([0, 1]))["ids"].shape
(5, torch.Size([2, 7]))
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import GnomonError, InputError, lesson
from gnomon.core.inputs.arrays import Table, as_tensor

__all__ = [
    "Inputs",
    "blamed",
    "count",
    "invoke",
    "spread",
    "suited",
    "table",
    "take",
    "tensor_of",
    "tensors",
    "transform",
    "with_channels_last",
]

Inputs = Tensor | np.ndarray | Table | tuple[Any, ...] | list[Any] | Mapping[str, Any]
"""What a module is called with: module(x), module(*x) for a tuple or list, module(**x) for a dict. A table is one x."""


def count(x: Inputs, *, call: str = "module(x)") -> int:
    """The number of examples in x, which all its tensors must agree on and which may not be zero.

    >>> count((torch.zeros(3, 2), torch.zeros(3)))
    3
    """
    sizes = {len(t) for t in tensors(x)}
    if len(sizes) != 1:
        found = "no tensor with an example axis" if not sizes else f"tensors of {sorted(sizes)} examples"
        raise InputError(lesson(call, f"x holds {found}", "the first axis counts examples", "Give every tensor n rows"))
    n = sizes.pop()
    if n == 0:
        raise InputError(lesson(call, "x holds 0 examples", "at least one example", "Pass a batch that is not empty"))
    return n


def tensors(x: Any) -> Iterator[Tensor]:
    """All tensors of x that have an example axis, in the order of the arguments.

    >>> len(list(tensors({"a": torch.zeros(2), "b": (torch.zeros(2), 1.0)})))
    2
    """
    if isinstance(x, Tensor):
        if x.dim() > 0:
            yield x
    elif isinstance(x, Mapping):
        for value in x.values():
            yield from tensors(value)
    elif isinstance(x, (tuple, list)):
        for value in x:
            yield from tensors(value)


def transform(function: Callable[[Tensor], Tensor], x: Any) -> Any:
    """x with the function applied to each tensor that has an example axis.

    Cost: that of the function, tensor by tensor.

    >>> transform(lambda t: t + 1, (torch.zeros(1), "left"))
    (tensor([1.]), 'left')
    """
    if isinstance(x, Tensor):
        return function(x) if x.dim() > 0 else x
    if isinstance(x, np.ndarray | Table):
        return transform(function, as_tensor(x))
    if isinstance(x, Mapping):
        return {key: transform(function, value) for key, value in x.items()}
    if isinstance(x, (tuple, list)):
        return tuple(transform(function, value) for value in x)
    return x


def take(x: Inputs, index: Tensor | slice) -> Inputs:
    """The examples of x at an index, or in a slice (then without a copy).

    Cost: a copy of the examples at an index; none for a slice.

    >>> take(torch.arange(5), slice(1, 3))
    tensor([1, 2])
    """
    return transform(lambda t: t[index], x)


def invoke(module: Callable[..., Any], x: Inputs, *, call: str = "module(x)") -> Any:
    """module(x), module(*x) or module(**x), as x is a tensor, a tuple or a dict; what it raises is told in a sentence.

    Cost: one call of the module.

    >>> invoke(lambda a, b: a + b, {"a": 1, "b": 2})
    3
    """
    with blamed(module, x, call=call):
        return spread(module, x)


def spread(function: Callable[..., Any], x: Inputs) -> Any:
    """function(x), function(*x) or function(**x), as x is a tensor, a tuple or a dict.

    Cost: one call.

    >>> spread(lambda a, b: a + b, (1, 2))
    3
    """
    if isinstance(x, Mapping):
        return function(**x)
    if isinstance(x, (tuple, list)):
        return function(*x)
    return function(x)


@contextmanager
def blamed(module: Any, x: Inputs, *, call: str, what: str = "forward") -> Iterator[None]:
    """An error of the user's own code becomes the cause of one that says which call met it, on what, and the cure.

    >>> try:
    ...     with blamed(None, torch.zeros(2, 3), call="ntk(module, x)"):
    ...         raise KeyError("mine")
    ... except InputError as error:
    ...     print(repr(error.__cause__))
    KeyError('mine')
    """
    try:
        yield
    except (GnomonError, MemoryError, torch.OutOfMemoryError):
        raise
    except (Exception, SystemExit) as error:
        seen = [f"{t.dtype} of shape {tuple(t.shape)}" for t in tensors(x)][:3]
        said = (str(error).strip().splitlines() or ["without a word"])[0][:200]
        found = f"{what} raised {type(error).__name__} on {' and '.join(seen) or 'no tensors'}: {said}"
        raise InputError(lesson(call, found, "a model that takes its data", _cure(module, x))) from error


def _cure(module: Any, x: Inputs) -> str:
    """What most likely is wrong with a module that raises on these inputs."""
    if any(not t.is_floating_point() for t in tensors(x)):
        return "Pass x.float(), or a module that takes such numbers"
    parameters = module.parameters() if isinstance(module, nn.Module) else ()
    if len({p.dtype for p in parameters if p.is_floating_point()}) > 1:
        return "Bring the module to one type, for instance by module.float()"
    return "Check the shape of x, and run module(x) alone to see where it fails"


def tensor_of(outputs: Any, call: str) -> Tensor:
    """The tensor that a module returned, alone or as the ``logits`` of a record.

    >>> tensor_of(torch.zeros(2), "net(x)").shape
    torch.Size([2])
    """
    found = outputs if isinstance(outputs, Tensor) else getattr(outputs, "logits", None)
    if not isinstance(found, Tensor):
        cure = "Wrap it in a module that returns one tensor"
        raise InputError(lesson(call, f"the module returned a {type(outputs).__name__}", "one tensor of outputs", cure))
    return found


def table(outputs: Any, n: int, call: str) -> Float[Tensor, "n k"]:
    """What a module returned for n examples as a matrix, whatever its shape (n, ...) was.

    >>> table(torch.zeros(2, 3, 4), 2, "net(x)").shape
    torch.Size([2, 12])
    """
    y = tensor_of(outputs, call)
    if y.dim() == 0 or len(y) != n:
        found = f"{n} examples gave an output of shape {tuple(y.shape)}"
        raise InputError(lesson(call, found, "the first axis counts examples", "Return one row per example"))
    return y.reshape(n, -1)


def fitted(x: Inputs, module: nn.Module) -> Inputs:
    """x without gradients on the module's device, its floating tensors in the module's dtype; integers stay integers.

    >>> fitted(torch.zeros(2, 3, dtype=torch.float64), nn.Linear(3, 1)).dtype
    torch.float32
    """
    # autograd saves no tensor made in inference mode
    return suited(transform(lambda t: t.clone() if t.is_inference() else t.detach(), x), module)


def suited(x: Inputs, module: nn.Module) -> Inputs:
    """As `fitted`, with the gradients of x kept.

    Cost: a copy of the tensors that are converted.

    >>> suited(torch.zeros(1, dtype=torch.float64, requires_grad=True), nn.Linear(1, 1)).requires_grad
    True
    """
    parameters = [p for p in module.parameters() if p.is_floating_point()]
    if not parameters:
        return transform(lambda t: t, x)
    device, known = parameters[0].device, {p.dtype for p in parameters}

    def fit(t: Tensor) -> Tensor:
        strange = t.is_floating_point() and t.dtype not in known
        return t.to(device, parameters[0].dtype if strange else t.dtype)

    return transform(fit, x)


def with_channels_last(x: Inputs) -> Inputs:
    """x with the same values, its images (n, c, h, w) laid out in memory with the channels last.

    Cost: a copy of the images that are laid out otherwise.

    >>> with_channels_last(torch.zeros(2, 3, 4, 5)).stride()
    (60, 1, 15, 3)
    """

    def arrange(t: Tensor) -> Tensor:
        image = t.dim() == 4 and t.is_floating_point()
        return t.contiguous(memory_format=torch.channels_last) if image else t

    return transform(arrange, x)
