"""Observes activation functions that ``forward`` calls directly, such as ``torch.relu(self.linear(x))``.

Each call has the name of the part of the module that makes it and of the function: ``blocks.0.relu``, and
``blocks.0.relu 2`` for the second call within one pass.

>>> class Net(nn.Module):
...     def forward(self, x):
...         return torch.relu(x)
>>> seen = []
>>> with watch_activation_calls(Net(), lambda name, function, h: seen.append((name, h.shape))):
...     _ = Net()(torch.zeros(2, 3))
>>> seen
[('relu', torch.Size([2, 3]))]
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from gnomon.core.modules.layer_classes import ACTIVATIONS

__all__ = ["ActivationWatcher", "watch_activation_calls"]

FUNCTIONS: dict[Any, Callable[..., Tensor]] = {
    **dict.fromkeys((F.relu, torch.relu, torch.relu_, Tensor.relu, Tensor.relu_, F.relu_), torch.relu),
    **dict.fromkeys((torch.tanh, Tensor.tanh, Tensor.tanh_, F.tanh), torch.tanh),
    **dict.fromkeys((torch.sigmoid, Tensor.sigmoid, Tensor.sigmoid_, F.sigmoid), torch.sigmoid),
    **{f: f for f in (F.gelu, F.silu, F.mish, F.leaky_relu, F.elu, F.selu, F.celu, F.softplus, F.softsign, F.hardtanh,
                      F.relu6, F.hardsigmoid, F.hardswish)},
}  # fmt: skip
"""Activation functions, and the version of each that does not work in place."""
ActivationWatcher = Callable[[str, Callable[[Tensor], Tensor], Tensor], None]
"""Called with the name of a call, its function of one tensor, and its argument."""


class _ActivationCalls(TorchFunctionMode):
    """Context manager that reports each call of an activation function such as ``torch.relu`` in its block to a
    callback.
    """

    def __init__(self, watcher: ActivationWatcher) -> None:
        super().__init__()
        self.watcher, self.path = watcher, [""]
        self.counts: Counter[str] = Counter()
        self.within = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = {key: value for key, value in (kwargs or {}).items() if key not in ("inplace", "input")}
        plain = FUNCTIONS.get(func)
        h = args[0] if args else (kwargs or {}).get("input")
        if plain is not None and self.within == 0 and isinstance(h, Tensor) and h.is_floating_point():
            name = f"{self.path[-1]}.{plain.__name__}".strip(".")
            self.counts[name] += 1
            label = name if self.counts[name] == 1 else f"{name} {self.counts[name]}"
            rest = () if func in (F.relu, F.silu, F.mish) else args[1:]
            self.watcher(label, lambda z: plain(z, *rest, **options), h.detach().clone())
        return func(*args, **(kwargs or {}))


@contextmanager
def watch_activation_calls(module: nn.Module, watcher: ActivationWatcher) -> Iterator[None]:
    """Context manager that reports to a callback each activation function that a module's ``forward`` calls directly.

    Cost: a copy of the argument of each call.

    >>> with watch_activation_calls(nn.ReLU(), lambda name, function, h: print(name)):
    ...     _ = torch.tanh(torch.zeros(1))
    tanh
    """
    mode = _ActivationCalls(watcher)

    def before(name: str, layer: bool) -> Any:
        def hook(*_: Any) -> None:
            if name == "":
                mode.counts.clear()
            mode.path.append(name)
            mode.within += layer

        return hook

    def after(layer: bool) -> Any:
        def hook(*_: Any) -> None:
            mode.path.pop()
            mode.within -= layer

        return hook

    handles = []
    for name, part in module.named_modules():
        layer = isinstance(part, ACTIVATIONS)
        handles += [part.register_forward_pre_hook(before(name, layer)), part.register_forward_hook(after(layer))]
    try:
        with mode:
            yield
    finally:
        for handle in handles:
            handle.remove()
