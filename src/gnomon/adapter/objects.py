"""Adapts object detectors, whose targets are one dict of classes and boxes for each image instead of a tensor.

Such targets are not tensors. The examples get the numbers of their dicts as an input, and a view of the module passes
the dicts themselves, so that the module can compute its loss.

>>> class Detector(nn.Module):
...     def forward(self, images, labels):
...         sizes = torch.stack([one["boxes"].sum() for one in labels])
...         return {"logits": images, "loss": (images.sum(1) - sizes).square().mean()}
>>> batches = [{"images": torch.zeros(2, 3), "labels": [{"boxes": torch.ones(1, 4)}, {"boxes": torch.ones(2, 4)}]}]
>>> net, train = adapt_detection_model(Detector(), batches)
>>> sorted(train), float(net(**train)["loss"])                                      # (16 + 64) / 2
(['images', 'objects'], 40.0)
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from gnomon.adapter.view import ModuleView
from gnomon.core.errors import InputError
from gnomon.core.inputs.signature import TARGET_ARGUMENT_NAMES

__all__ = ["adapt_detection_model"]

NUMBERS = "objects"
"""Name of the input that holds the number of each example's dict."""

Objects = Mapping[str, Any]
"""The target of one example."""


class ObjectsView(ModuleView):
    """Wraps a detector that takes a list of target dicts: takes the indices of these dicts instead, so that all inputs
    are tensors.
    """

    def __init__(self, module: nn.Module, name: str, known: list[Objects]) -> None:
        super().__init__(module)
        self.name, self.known = name, known

    def forward(self, **inputs: Any) -> Any:
        """Looks up the target dicts by the indices in the inputs, and calls the wrapped detector with these dicts."""
        numbers = inputs.pop(NUMBERS)
        return self.module_of_view(**inputs, **{self.name: [self.known[i] for i in numbers.tolist()]})


def adapt_detection_model(module: nn.Module, *data: Any) -> tuple[nn.Module, *tuple[Any, ...]] | None:
    """Wraps a detector whose targets are lists of dicts so that all its inputs are tensors; returns None for other
    data.

    Hypotheses: images of all batches have one size.
    Cost: a copy of the data.

    >>> adapt_detection_model(nn.Linear(1, 1), (torch.zeros(3, 1), torch.zeros(3))) is None
    True
    """
    name = _object_argument(data[0]) if data else None
    if name is None:
        return None
    known: list[Objects] = []
    found = [None if part is None else _rows(part, name, known) for part in data]
    return ObjectsView(module, name, known), *found


def _object_argument(data: Any) -> str | None:
    """Returns the name under which batches store their lists of target dicts; None for data without such targets."""
    if not isinstance(data, list | DataLoader):
        return None
    first = next(iter(data), None)
    if not isinstance(first, Mapping):
        return None
    names = [name for name in TARGET_ARGUMENT_NAMES if isinstance(first.get(name), list | tuple)]
    return next((name for name in names if first[name] and isinstance(first[name][0], Mapping)), None)


def _rows(batches: Any, name: str, known: list[Objects]) -> dict[str, Tensor]:
    """Joins batches of a detector to one dict of tensors, and collects their target dicts in the list ``known``."""
    parts: dict[str, list[Tensor]] = {}
    start = len(known)
    for batch in batches:
        known.extend(batch[name])
        for key, value in batch.items():
            if isinstance(value, Tensor):
                parts.setdefault(key, []).append(value)
    sizes = {tuple(t.shape[1:]) for values in parts.values() for t in values[:1]}
    if any(t.shape[1:] != values[0].shape[1:] for values in parts.values() for t in values):
        found = f"images of different batches have different sizes, the first {sorted(sizes)}"
        raise InputError(found, accepted="images of one size", fix="Resize or pad all images to one size")
    return {key: torch.cat(values) for key, values in parts.items()} | {NUMBERS: torch.arange(start, len(known))}
