"""Captures the outputs of a module's layers during forward passes.

>>> import torch
>>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
>>> found = outputs_of_layers(net, torch.ones(4, 2), ("0", "1"))
>>> {name: tuple(h.shape) for name, h in found.items()}
{'0': (4, 3), '1': (4, 3)}
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = ["outputs_of_layers", "capture_layer_outputs", "layer_names"]

EXAMPLES_PER_PASS = 256
"""Number of examples per forward pass."""


def layer_names(module: nn.Module) -> tuple[str, ...]:
    """Returns the names of all layers without sublayers, in the order of their registration.

    Cost: a walk over the parts.

    >>> layer_names(nn.Sequential(nn.Linear(1, 1), nn.ReLU()))
    ('0', '1')
    """
    return tuple(name for name, part in module.named_modules() if name and not any(True for _ in part.children()))


@contextmanager
def capture_layer_outputs(module: nn.Module, layers: Sequence[str]) -> Iterator[dict[str, Tensor]]:
    """Context manager that yields a dict, which each forward pass fills with the outputs of the chosen layers.

    Cost: none beyond the pass.

    >>> net = nn.Sequential(nn.Linear(1, 2))
    >>> with capture_layer_outputs(net, ("0",)) as kept:
    ...     _ = net(torch.ones(3, 1))
    >>> kept["0"].shape
    torch.Size([3, 2])
    """
    parts = dict(module.named_modules())
    unknown = [name for name in layers if name not in parts or not name]
    if unknown:
        fix = "Use one of: " + ", ".join([name for name in parts if name][:20])
        raise InputError(f"the module does not have a layer {unknown[0]!r}", accepted="a layer of the module", fix=fix)
    kept: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, __: Any, output: Any) -> None:
            first = output[0] if isinstance(output, tuple) and output else output
            if isinstance(first, Tensor):
                kept[name] = first

        return hook

    handles = [parts[name].register_forward_hook(keep(name)) for name in layers]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


def outputs_of_layers(
    module: nn.Module, x: Inputs, layers: Sequence[str], *, keep: Callable[[Tensor], Tensor] = Tensor.detach
) -> dict[str, Tensor]:
    """Returns the outputs of chosen layers for all inputs, by layer name, in eval mode and without gradients.

    ``keep`` selects the part of each batch's output that is kept; by default all of it.
    Cost: one forward pass, and what is kept in memory.

    >>> sorted(outputs_of_layers(nn.Sequential(nn.Flatten()), torch.ones(2, 1, 2), ("0",))["0"].shape)
    [2, 2]
    """
    found: dict[str, list[Tensor]] = {name: [] for name in layers}
    with preserve(module, grad=False), capture_layer_outputs(module, layers) as kept:
        for start in range(0, count_examples(x), EXAMPLES_PER_PASS):
            kept.clear()
            run_module(module, take_examples(x, slice(start, start + EXAMPLES_PER_PASS)))
            for name in layers:
                if name in kept:
                    found[name].append(keep(kept[name].detach()))
    missing = [name for name, parts in found.items() if not parts]
    if missing:
        raise InputError(
            f"the layer '{missing[0]}' was not used", accepted="a layer that forward uses", fix="Name another layer"
        )
    return {name: torch.cat(parts) for name, parts in found.items()}
