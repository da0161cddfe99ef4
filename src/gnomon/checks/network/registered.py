"""Finds layers in plain Python lists, which run but are missing from `model.parameters()`.

``self.blocks = [Block(), Block()]`` hides layers from torch in a plain list. They take part in every pass and receive
gradients, but no optimizer holds them, ``state_dict`` does not save them, and neither ``eval()`` nor ``to()`` reaches
them. Layers that are hidden on purpose, such as a teacher that is only asked, receive no gradient of the loss:

    hidden = {p : p is in a list, tuple or dict of a part, p is not a parameter of the module, dL/dp exists}        (1)

Hypotheses: none; no chance is involved.

>>> class Net(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.blocks = [nn.Linear(2, 2), nn.Linear(2, 2)]
>>> [name for name, part in unregistered_layers(Net())]
['blocks', 'blocks']
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.results import Finding, Value
from gnomon.findings import network as kinds

__all__ = ["unregistered_layers", "unregistered_layer_findings"]


def unregistered_layers(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """Returns layers in plain Python lists, tuples or dicts, whose parameters torch does not know about.

    Cost: a walk over the attributes of all parts.

    >>> unregistered_layers(nn.Sequential(nn.Linear(2, 2)))
    []
    """
    own = {id(p) for p in module.parameters()}
    found = []
    for prefix, part in module.named_modules():
        for name, value in vars(part).items():
            if name in ("_modules", "_parameters", "_buffers") or name.startswith("_") and "hooks" in name:
                continue
            for layer in _layers(value):
                if any(id(p) not in own for p in layer.parameters()):
                    found.append((f"{prefix}.{name}" if prefix else name, layer))
    return found


def unregistered_layer_findings(module: nn.Module, loss: Callable[[], Tensor]) -> tuple[Finding, ...]:
    """Reports layers in plain Python lists that get gradients but are missing from ``parameters()``.

    See equation (1) of the module docstring.
    ``loss`` is a pass through this very module, with its graph; it is computed only if such layers exist.
    Cost: none, or a forward and a backward pass.

    >>> unregistered_layer_findings(nn.Linear(2, 2), lambda: torch.zeros(()))
    ()
    """
    hidden = unregistered_layers(module)
    if not hidden:
        return ()
    own = {id(p) for p in module.parameters()}
    leaves = {id(p): p for _, layer in hidden for p in layer.parameters() if p.requires_grad and id(p) not in own}
    with torch.enable_grad():
        value = loss()
        known = value.requires_grad and leaves
        grads = torch.autograd.grad(value, list(leaves.values()), allow_unused=True) if known else ()
    reached = {key for key, g in zip(leaves, grads, strict=False) if g is not None}
    hit = [(name, layer) for name, layer in hidden if any(id(p) in reached for p in layer.parameters())]
    if not hit:
        return ()
    name, size = hit[0][0], sum(leaves[key].numel() for key in reached)
    evidence = (Value("parameters that are not trained", size),)
    values = {"size": size, "attribute": name.rpartition(".")[2]}
    return (Finding(kinds.NOT_REGISTERED, name, values, evidence, 0.0),)


def _layers(value: Any) -> Iterator[nn.Module]:
    """Yields the modules in a list, tuple or dict, including nested ones."""
    if isinstance(value, nn.Module):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _layers(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _layers(one)
