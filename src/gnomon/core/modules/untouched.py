"""The promise to a training loop that goes on: whatever was looked at, nothing of the model and no draw is different.

>>> import torch
>>> net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout())
>>> with untouched(net):
...     net.training, net[1].training
(False, False)
>>> net.training, net[1].training
(True, True)
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.core.modules.pure import evaluating, undisturbed

__all__ = ["untouched"]


@contextmanager
def untouched(module: nn.Module) -> Iterator[None]:
    """The module in eval mode; afterwards each part is in its own mode, and all else is as it was, to the last bit.

    All else: buffers, also those that a forward writes to in eval mode, gradients, parameters as objects, attributes,
    and the random states of torch, numpy and Python. Autocast is off inside.

    Cost: a copy of the buffers.

    >>> net, before = nn.BatchNorm1d(2), torch.get_rng_state()
    >>> with untouched(net):
    ...     net.running_mean += torch.rand(2)
    >>> net.running_mean.tolist(), bool((before == torch.get_rng_state()).all())
    ([0.0, 0.0], True)
    """
    draws, arrays = random.getstate(), np.random.get_state()
    parts = list(module.modules())
    tables = [(table, dict(table)) for part in parts for table in _tables(part)]
    kept = [b for part in parts for b in part._buffers.values() if b is not None and not b.is_inference()]
    buffers = [(b, b._version, b.detach().clone()) for b in kept]
    grads = [(p, p.grad) for part in parts for p in part._parameters.values() if p is not None]
    device = grads[0][0].device.type if grads else "cpu"
    try:
        with undisturbed(module), evaluating(module), torch.autocast(device, enabled=False):
            yield
    finally:
        for table, before in tables:
            if list(table) != list(before) or any(table[name] is not value for name, value in before.items()):
                table.clear()
                table.update(before)
        _rewrite(buffers)
        for p, grad in grads:
            if p.grad is not grad:
                p.grad = grad
        np.random.set_state(arrays)
        random.setstate(draws)


def _tables(part: nn.Module) -> tuple[dict[str, Any], ...]:
    return part._parameters, part._buffers, part._modules


@torch.no_grad()
def _rewrite(buffers: list[tuple[Tensor, int, Tensor]]) -> None:
    for now, version, before in buffers:
        if now._version != version or not torch.equal(now, before):  # batch norm writes without a new version
            now.copy_(before)
