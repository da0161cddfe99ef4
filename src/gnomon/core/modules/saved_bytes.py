"""Measures how much memory a computation stores for its backward pass, and how many examples fit into free memory.

>>> import torch
>>> from torch import nn
>>> net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh()), torch.zeros(1, 3)
>>> bytes_saved_for_backward(lambda: net(x), net)  # the input and what tanh gave, in float32
28
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, free_bytes

__all__ = ["examples_that_fit", "bytes_saved_for_backward"]


def bytes_saved_for_backward(run: Callable[[], Any], module: nn.Module) -> int:
    """Returns how many bytes autograd stores for the backward pass of a computation, without parameters and buffers.

    Cost: the computation.

    >>> bytes_saved_for_backward(lambda: None, nn.Linear(1, 1))
    0
    """
    own = {t.untyped_storage().data_ptr() for t in (*module.parameters(), *module.buffers())}
    kept: dict[int, int] = {}

    def keep(t: Tensor) -> Tensor:
        storage = t.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return t

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        run()
    return sum(kept.values())


def examples_that_fit(each: int, most: int) -> int:
    """Returns how many examples of ``each`` bytes fit into half of the free memory: at least 1, at most ``most``.

    >>> examples_that_fit(1, 512)
    512
    """
    return max(1, min(most, int(SHARE_OF_FREE_MEMORY * free_bytes() / max(1, each))))
